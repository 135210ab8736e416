/** Creates an operation's plan. Its result is the same as graphql-js's, and a caller's text is never more than data. */
import {
  getArgumentValues,
  getVariableValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  TypeNameMetaFieldDef,
  visit,
  BREAK,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Context } from '../context.js';
import { anyOf, leafOf, listOf, objectOf, requiredOf, serializerOf, runPlan } from './run.js';
import { FieldCollector, type SelectedFields, type Occurrences, NotPlanned } from './fields.js';
import { selectionOf, type Complete, type FieldPlan, type Selection } from './selection.js';

/** Returns undefined, before anything runs, if the variables don't match the document's types. */
export type Plan = (
  context: Context,
  variables: Record<string, unknown>,
) => Promise<ExecutionResult<Record<string, unknown>>> | undefined;

/** Undefined if graphql-js must execute the operation. */
export function planOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Plan | undefined {
  const root = schema.getRootType(operation.operation);
  if (!root) return undefined;
  try {
    const selection = new Planner(schema, document, operation).rootSelection(root);
    const { variableDefinitions = [] } = operation;
    return (context, values) => {
      const { coerced: variables, errors } = getVariableValues(schema, variableDefinitions, values, ONE_ERROR);
      return errors ? undefined : runPlan(selection, { context, variables, errors: [] });
    };
  } catch (error) {
    if (error instanceof NotPlanned) return undefined;
    throw error;
  }
}

/** One error is enough. graphql-js then executes the operation and reports all of them. */
const ONE_ERROR = { maxErrors: 1 };

class Planner {
  private readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  private readonly collector: FieldCollector;

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
  ) {
    const definitions = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
    this.fragments = Object.fromEntries(definitions.map((one) => [one.name.value, one]));
    this.collector = new FieldCollector(schema, this.fragments, operation);
  }

  rootSelection(root: GraphQLObjectType): Selection {
    const fields = this.collector.collect([this.operation.selectionSet], root);
    const selection = this.#selection(root, fields);
    const calls = selection.fields.filter(({ name }) => name !== '__typename');
    // Mutations must run one after another, but a plan runs fields in parallel.
    if (this.operation.operation === 'mutation' && calls.length > 1) throw new NotPlanned();
    return selection;
  }

  #selection(type: GraphQLObjectType, fields: SelectedFields): Selection {
    // graphql-js would call `isTypeOf` for each object.
    if (type.isTypeOf) throw new NotPlanned();
    return selectionOf([...fields].map(([key, occurrences]) => this.#field(type, key, occurrences)));
  }

  #field(type: GraphQLObjectType, key: string, occurrences: Readonly<Occurrences>): FieldPlan {
    const [{ node, conditions }] = occurrences;
    const name = node.name.value;
    const definition = name === '__typename' ? TypeNameMetaFieldDef : type.getFields()[name];
    // An introspection field, or a name that would set the response object's prototype.
    if (!definition || key === '__proto__') throw new NotPlanned();
    const nodes = occurrences.map((one) => one.node);
    const fieldType = isNonNullType(definition.type) ? definition.type.ofType : definition.type;
    const info: FieldPlan['info'] = {
      fieldName: name,
      fieldNodes: nodes,
      returnType: definition.type,
      parentType: type,
      schema: this.schema,
      fragments: this.fragments,
      rootValue: undefined,
      operation: this.operation,
    };
    return {
      key,
      name,
      typename: type.name,
      definition,
      isIncluded:
        conditions.length === 0 ? undefined : (variables) => conditions.every((condition) => condition(variables)),
      args: argumentsOf(definition, node),
      complete: this.#complete(definition.type, `${type.name}.${name}`, info),
      serialize: isLeafType(fieldType) ? serializerOf(fieldType) : undefined,
      isRequired: isNonNullType(definition.type),
      nodes,
      info,
    };
  }

  #complete(type: GraphQLOutputType, place: string, info: FieldPlan['info']): Complete {
    if (isNonNullType(type)) return requiredOf(this.#complete(type.ofType, place, info), place);
    if (isListType(type)) {
      const entry = this.#complete(type.ofType, place, info);
      return listOf(entry, isNonNullType(type.ofType), info.fieldNodes, place);
    }
    if (isLeafType(type)) return leafOf(type);
    const sets = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (isObjectType(type)) return objectOf(this.#selectionIn(sets, type));
    const types = this.schema.getPossibleTypes(type);
    return anyOf(type, new Map(types.map((one) => [one.name, this.#selectionIn(sets, one)])), info);
  }

  #selectionIn(sets: readonly SelectionSetNode[], type: GraphQLObjectType): Selection {
    return this.#selection(type, this.collector.collect(sets, type));
  }
}

const NO_ARGUMENTS: Record<string, unknown> = Object.freeze({});

/** Computes arguments only once if they don't contain variables. */
function argumentsOf(definition: GraphQLField<unknown, unknown>, node: FieldNode): FieldPlan['args'] {
  if (definition.args.length === 0) return () => NO_ARGUMENTS;
  if (hasVariable(node)) return (variables) => getArgumentValues(definition, node, variables);
  let args: Record<string, unknown> | undefined;
  return () => (args ??= getArgumentValues(definition, node, {}));
}

function hasVariable({ arguments: args = [] }: FieldNode): boolean {
  let isVariableUsed = false;
  for (const argument of args) {
    visit(argument, {
      Variable: () => {
        isVariableUsed = true;
        return BREAK;
      },
    });
  }
  return isVariableUsed;
}
