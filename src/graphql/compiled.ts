/**
 * Documents that come again are compiled: the second time a document is seen, the walk through it is made into a function,
 * which costs a fraction of walking it anew for every request. Whatever the compiler is known to see otherwise than
 * graphql-js does is left to graphql-js, which also puts every refused variable into words.
 */
import { HeaderMap, type ApolloServerPlugin } from '@apollo/server';
import { Kind, visit, type DocumentNode, type GraphQLError, type GraphQLFormattedError, type GraphQLSchema, type OperationDefinitionNode, type ValueNode } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Context } from './context.js';
import { mutationsIn } from './limits/shape.js';

type Run = (root: undefined, context: Context, variables: object) => Promise<Result> | Result;

interface Result {
  data?: Record<string, unknown> | null;
  errors?: readonly GraphQLError[];
}

type FormatError = (formatted: GraphQLFormattedError, thrown: unknown) => GraphQLFormattedError;

export interface CompilingSettings {
  /** At which sight a document is compiled; a document that never comes again is not worth it. */
  readonly atSight: number;
}

export const COMPILING: CompilingSettings = { atSight: 2 };

/** Runs what was compiled in the place of Apollo's own execution. */
export function compiledExecution(schema: GraphQLSchema, formatError: FormatError, { atSight }: CompilingSettings): ApolloServerPlugin<Context> {
  // Apollo keeps the documents that it has validated, within bounds; what was made of each is kept as long.
  const seen = new WeakMap<OperationDefinitionNode, { times: number; run?: Run | undefined }>();

  function runFor(document: DocumentNode, operation: OperationDefinitionNode): Run | undefined {
    const sight = seen.get(operation) ?? { times: 0 };
    seen.set(operation, sight);
    sight.times += 1;
    if (sight.times === atSight && mayBeCompiled(document, operation)) sight.run = compile(document, operation);
    return sight.run;
  }

  function compile(document: DocumentNode, operation: OperationDefinitionNode): Run | undefined {
    const compiled = compileQuery(schema, document, operation.name?.value ?? '', { disablingCapturingStackErrors: true });
    return isCompiledQuery(compiled) ? (compiled.query as Run) : undefined;
  }

  return {
    requestDidStart: async () => ({
      responseForOperation: async ({ document, operation, request, contextValue }) => {
        const run = operation && runFor(document, operation);
        const result = await run?.(undefined, contextValue, request.variables ?? {});
        // Without data nothing has run: the variables were refused.
        if (result?.data === undefined) return null;
        const { data, errors } = result;
        const singleResult = errors ? { errors: oncePerNull(data, errors).map((error) => formatError(error.toJSON(), error)), data } : { data };
        return { http: { status: undefined, headers: new HeaderMap() }, body: { kind: 'single', singleResult } };
      },
    }),
  };
}

/** Where several fields have failed below a thing that then had to go as a whole, the first of them says why. */
function oncePerNull(data: Result['data'], errors: readonly GraphQLError[]): GraphQLError[] {
  const explained = new Set<string>();
  return errors.filter(({ path = [] }) => {
    const place = placeOfNull(data, path);
    if (explained.has(place)) return false;
    explained.add(place);
    return true;
  });
}

function placeOfNull(data: unknown, path: readonly (string | number)[]): string {
  let at = data;
  const depth = path.findIndex((step) => (at = (at as Record<string | number, unknown> | null)?.[step]) == null);
  return path.slice(0, depth + 1).join('.');
}

/**
 * Introspection is seldom and large. What stands behind a mutation that was refused must not run, and would. A variable inside a list or an object would come out as null where it was left out,
 * and one that may be null as a directive's condition would pass for false.
 */
function mayBeCompiled(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  if (operation.operation === 'mutation' && mutationsIn(document, operation) > 1) return false;
  const { variableDefinitions = [] } = operation;
  const required = new Set(variableDefinitions.filter(({ type }) => type.kind === Kind.NON_NULL_TYPE).map(({ variable }) => variable.name.value));
  let may = true;
  const refuse = () => void (may = false);
  const refuseVariables = (node: ValueNode) => visit(node, { Variable: refuse });
  visit(document, {
    Field: ({ name }) => (name.value === '__schema' || name.value === '__type' ? refuse() : undefined),
    ObjectValue: (node) => void refuseVariables(node),
    ListValue: (node) => void refuseVariables(node),
    Directive: (node) => void visit(node, { Variable: ({ name }) => (required.has(name.value) ? undefined : refuse()) }),
  });
  return may;
}
