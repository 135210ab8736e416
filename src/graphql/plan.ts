/**
 * A document made ready to run: which fields each object will be asked for, under which conditions, and how each is
 * found and written. It runs as graphql-js would; the parity of the two is tested.
 */
import {
  getArgumentValues,
  getVariableValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Context } from './context.js';
import { ownResolverOf } from './direct.js';
import { anyOf, leafOf, listOf, objectOf, requiredOf, runRoot, type Result } from './running.js';
import {
  selectionOf,
  writerOf,
  type Arguments,
  type Complete,
  type Condition,
  type FieldPlan,
  type Resolve,
  type Selection,
} from './selection.js';

/** Undefined if the variables are not what the document asks for. */
export type Run = (context: Context, variables: Record<string, unknown>) => Promise<Result> | undefined;

interface Occurrence {
  readonly node: FieldNode;
  readonly conditions: readonly Condition[];
}

/** What this does not do as graphql-js does it: the document is left to graphql-js. */
class NotPlanned extends Error {}

export function planOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Run | undefined {
  const root = schema.getRootType(operation.operation);
  if (!root) return undefined;
  const fragments = Object.fromEntries(
    document.definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
      .map((one) => [one.name.value, one]),
  );
  const { variableDefinitions = [] } = operation;
  try {
    const selection = selected(root, collected([{ selectionSet: operation.selectionSet, conditions: [] }], root));
    return (context, sent) => {
      const { coerced, errors } =
        variableDefinitions.length === 0
          ? NO_VARIABLES
          : getVariableValues(schema, variableDefinitions, sent, ONE_ERROR);
      return errors ? undefined : runRoot(selection, { context, variables: coerced, errors: [] });
    };
  } catch (error) {
    if (error instanceof NotPlanned) return undefined;
    throw error;
  }

  /** The fields that these sets select of a type, each under its key, fragments opened. */
  function collected(
    sets: readonly { selectionSet: SelectionSetNode; conditions: readonly Condition[] }[],
    type: GraphQLObjectType,
  ): Map<string, Occurrence[]> {
    const found = new Map<string, Occurrence[]>();
    /** The fragments that were spread, and whether under a condition. */
    const visited = new Map<string, boolean>();
    const gather = ({ selections }: SelectionSetNode, inherited: readonly Condition[]): void => {
      for (const selection of selections) {
        const conditions = withConditions(inherited, selection);
        if (conditions === 'never') continue;
        if (selection.kind === Kind.FIELD) {
          const key = (selection.alias ?? selection.name).value;
          found.set(key, [...(found.get(key) ?? []), { node: selection, conditions }]);
          continue;
        }
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
        if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const { value: name } = selection.name;
          const isConditional = conditions.length > 0;
          const before = visited.get(name);
          visited.set(name, isConditional);
          // Spread under two conditions, it would count under either.
          if (before === true || (before === false && isConditional)) throw new NotPlanned();
          if (before === false) continue;
        }
        if (fragment && appliesTo(fragment.typeCondition?.name.value, type)) gather(fragment.selectionSet, conditions);
      }
    };
    for (const { selectionSet, conditions } of sets) gather(selectionSet, conditions);
    for (const occurrences of found.values()) {
      // Which comes first, and which of them count, would be settled by the variables.
      if (occurrences.length > 1 && occurrences.some(({ conditions }) => conditions.length > 0)) throw new NotPlanned();
    }
    return found;
  }

  function withConditions(
    inherited: readonly Condition[],
    { directives = [] }: SelectionNode,
  ): readonly Condition[] | 'never' {
    const conditions = [...inherited];
    for (const { name, arguments: given = [] } of directives) {
      const isSkip = name.value === 'skip';
      const condition = given[0]?.value;
      if ((!isSkip && name.value !== 'include') || !condition) continue;
      if (condition.kind === Kind.VARIABLE) {
        const variable = condition.name.value;
        const definition = variableDefinitions.find((one) => one.variable.name.value === variable);
        // One that may be null is an error there, where it stands.
        if (definition?.type.kind !== Kind.NON_NULL_TYPE) throw new NotPlanned();
        conditions.push((variables) => variables[variable] !== isSkip);
      } else if (valueFromASTUntyped(condition) === isSkip) return 'never';
    }
    return conditions;
  }

  function appliesTo(name: string | undefined, type: GraphQLObjectType): boolean {
    if (name === undefined || name === type.name) return true;
    const condition = schema.getType(name);
    return isAbstractType(condition) && schema.isSubType(condition, type);
  }

  function selected(type: GraphQLObjectType, found: Map<string, Occurrence[]>): Selection {
    return selectionOf([...found].map(([key, occurrences]) => fieldOf(type, key, occurrences)));
  }

  function fieldOf(type: GraphQLObjectType, key: string, occurrences: readonly Occurrence[]): FieldPlan {
    const [first] = occurrences as [Occurrence];
    const name = first.node.name.value;
    if ((name.startsWith('__') && name !== '__typename') || key === '__proto__') throw new NotPlanned();
    const nodes = occurrences.map(({ node }) => node);
    const wanted =
      first.conditions.length === 0
        ? undefined
        : (variables: Record<string, unknown>) => first.conditions.every((condition) => condition(variables));
    const definition = name === '__typename' ? undefined : type.getFields()[name];
    const own = { key, typename: type.name, wanted, property: name, nodes };
    if (!definition) {
      const info = { fieldName: name } as FieldPlan['info'];
      return {
        ...own,
        resolve: () => type.name,
        args: () => NOTHING,
        complete: (value) => value,
        write: undefined,
        isRequired: true,
        info,
      };
    }
    const named = isNonNullType(definition.type) ? definition.type.ofType : definition.type;
    const info = {
      fieldName: name,
      fieldNodes: nodes,
      returnType: definition.type,
      parentType: type,
      schema,
      fragments,
      rootValue: undefined,
      operation,
    };
    return {
      ...own,
      resolve: ownResolverOf(definition.resolve as Resolve | undefined),
      args: argumentsOf(definition, first.node),
      complete: completeOf(definition.type, nodes, `${type.name}.${name}`, info as FieldPlan['info']),
      write: definition.resolve === undefined && isLeafType(named) ? writerOf(named) : undefined,
      isRequired: isNonNullType(definition.type),
      info: info as FieldPlan['info'],
    };
  }

  function completeOf(
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
    place: string,
    info: FieldPlan['info'],
  ): Complete {
    if (isNonNullType(type)) return requiredOf(completeOf(type.ofType, nodes, place, info), place);
    if (isListType(type))
      return listOf(completeOf(type.ofType, nodes, place, info), isNonNullType(type.ofType), nodes, place);
    if (isLeafType(type)) return leafOf(type);
    const sets = nodes.flatMap(({ selectionSet }) => (selectionSet ? [{ selectionSet, conditions: [] }] : []));
    const selectedOf = (one: GraphQLObjectType) => selected(one, collected(sets, one));
    if (isObjectType(type)) return objectOf(selectedOf(type));
    return anyOf(type, new Map(schema.getPossibleTypes(type).map((one) => [one.name, selectedOf(one)])), info);
  }
}

/** Whatever is wrong is put into words elsewhere. */
const ONE_ERROR = { maxErrors: 1 };
const NOTHING: Record<string, unknown> = Object.freeze({});
const NO_VARIABLES = { coerced: NOTHING, errors: undefined };

/** Without variables in them they are the same each time. */
function argumentsOf(definition: GraphQLField<unknown, unknown>, node: FieldNode): Arguments {
  if (definition.args.length === 0) return () => NOTHING;
  const { arguments: given = [] } = node;
  if (JSON.stringify(given, withoutLocation).includes(`"${Kind.VARIABLE}"`))
    return (variables) => getArgumentValues(definition, node, variables);
  let known: Record<string, unknown> | undefined;
  return () => (known ??= getArgumentValues(definition, node, {}));
}

function withoutLocation(key: string, value: unknown): unknown {
  return key === 'loc' ? undefined : value;
}
