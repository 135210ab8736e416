/**
 * What a GraphQL request may ask for. Whatever asks for more is refused before anything of it runs: the length of a
 * document while it is read, its shape while it is validated, the cost of its lists once the variables say how long
 * they are.
 */
import type { ApolloServerOptionsWithSchema, ApolloServerPlugin } from '@apollo/server';
import { InMemoryLRUCache } from '@apollo/utils.keyvaluecache';
import {
  GraphQLError,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ValidationRule,
} from 'graphql';
import { ERRORS, GRAPHQL_LIMITS } from '../rules/limits.js';
import type { Context } from './context.js';
import { costOf, type Cost } from './limits/cost.js';
import { exceeded, refusalIn } from './limits/refusals.js';
import { shapeRule } from './limits/shape.js';
import { wrongVariables, type VariableSettings } from './limits/variables.js';

type Options = ApolloServerOptionsWithSchema<Context>;
type FormatError = NonNullable<Options['formatError']>;

export interface Limits {
  readonly options: Pick<Options, 'parseOptions' | 'validationRules' | 'validationOptions' | 'documentStore'>;
  plugin(format: FormatError): ApolloServerPlugin<Context>;
  /** Errors in the words of a limit where they are about one, and without what the schema would have to offer. */
  worded(format: FormatError): FormatError;
}

/** What operations cost. */
interface Costs {
  readonly max: number;
  of(document: DocumentNode, operation: OperationDefinitionNode, variables: Readonly<Record<string, unknown>>): number;
  /** What it cost, and the most that it could have cost. */
  report(requested: number): { requested: number; max: number; remaining: number };
}

export interface LimitSettings {
  /** Whether a misspelt name is answered with those that exist. */
  suggestions: boolean;
}

export function createLimits(schema: GraphQLSchema, { suggestions }: LimitSettings): Limits {
  const costs = createCosts(schema);
  return {
    options: {
      parseOptions: { maxLexicalTokens: GRAPHQL_LIMITS.tokens },
      validationRules: [shapeRule, offeredRule],
      // Behind the last of them GraphQL says that there are more.
      validationOptions: { hideSuggestions: !suggestions, maxErrors: ERRORS.perAnswerMax - 1 },
      documentStore: new InMemoryLRUCache<DocumentNode>({
        maxSize: DOCUMENT_CHARACTERS_KEPT,
        sizeCalculation: ({ loc }) => 1 + (loc?.end ?? 0),
      }),
    },
    plugin: (format) => limitsPlugin(schema, costs, { suggestions }, format),
    worded: (format) => (formatted, thrown) => {
      const error = format(formatted, refusalIn(thrown) ?? thrown);
      return suggestions ? error : withoutSuggestions(error);
    },
  };
}

/**
 * Documents that were validated, by the length of their text: a tree takes up to a hundred times the memory of it. A
 * thousand usual ones.
 */
const DOCUMENT_CHARACTERS_KEPT = 500_000;

/** graphql-js validates a kind of operation that the schema does not have, and only then fails to execute it. */
const offeredRule: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (context.getSchema().getRootType(node.operation)) return;
    context.reportError(
      new GraphQLError(`This server offers queries and mutations, and no ${node.operation}s.`, { nodes: node }),
    );
  },
});

function createCosts(schema: GraphQLSchema): Costs {
  // Apollo keeps the documents that it has validated; the cost of each is kept as long.
  const known = new WeakMap<OperationDefinitionNode, Cost>();
  const { cost: max } = GRAPHQL_LIMITS;
  return {
    max,
    of: (document, operation, variables) => {
      const cost = known.get(operation) ?? costOf(schema, document, operation);
      known.set(operation, cost);
      return typeof cost === 'number' ? cost : cost(variables);
    },
    report: (requested) => ({ requested, max, remaining: Math.max(max - requested, 0) }),
  };
}

/** Refuses what costs too much and variables that are wrong, and says in every other answer what it cost. */
function limitsPlugin(
  schema: GraphQLSchema,
  costs: Costs,
  settings: VariableSettings,
  format: FormatError,
): ApolloServerPlugin<Context> {
  return {
    requestDidStart: async () => {
      let requested: number | undefined;
      let wrong: readonly GraphQLError[] = [];
      return {
        didResolveOperation: async ({ document, operation, request }) => {
          // No operation has the name that was asked for: Apollo refuses it once it executes.
          if (!operation) return;
          const variables = request.variables ?? {};
          requested = costs.of(document, operation, variables);
          if (requested > costs.max) throw exceeded('cost', requested, operation);
          wrong = wrongVariables(schema, operation, variables, settings);
          // Apollo takes one error here; the others are added to the answer that it makes of it.
          if (wrong[0]) throw wrong[0];
        },
        willSendResponse: async ({ response: { body } }) => {
          if (requested === undefined || body.kind !== 'single') return;
          const { singleResult } = body;
          singleResult.extensions = { ...singleResult.extensions, cost: costs.report(requested) };
          if (wrong.length > 0) singleResult.errors = wrong.map((error) => format(error.toJSON(), error));
        },
      };
    },
  };
}

/** Variables are read while executing, where Apollo lets no option through. */
function withoutSuggestions(error: GraphQLFormattedError): GraphQLFormattedError {
  const message = error.message.replace(/ Did you mean .*\?$/s, '');
  return message === error.message ? error : { ...error, message };
}
