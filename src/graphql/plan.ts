/**
 * A document made ready to run: which fields each object will be asked for, how each is found and written, and where a failure goes. It runs
 * as graphql-js would (the parity of the two is tested), and makes nothing for a field but its value.
 */
import {
  getArgumentValues, getVariableValues, isAbstractType, isLeafType, isListType, isNonNullType, isObjectType, Kind, locatedError, valueFromASTUntyped,
  type DocumentNode, type FieldNode, type FragmentDefinitionNode, type GraphQLAbstractType, type GraphQLError, type GraphQLField, type GraphQLFieldResolver,
  type GraphQLObjectType, type GraphQLOutputType, type GraphQLResolveInfo, type GraphQLSchema, type OperationDefinitionNode, type SelectionNode, type SelectionSetNode,
} from 'graphql';
import type { Context } from './context.js';
import { needsInfo } from './direct.js';

export interface Result {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly GraphQLError[];
}

/** Undefined if the variables are not what the document asks for. */
export type Run = (context: Context, variables: Record<string, unknown>) => Promise<Result> | undefined;

interface Running {
  readonly context: Context;
  readonly variables: Record<string, unknown>;
  readonly errors: GraphQLError[];
}

interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
  readonly typename: string | undefined;
}

/** A value as it goes into the answer, or the promise of it. */
type Complete = (value: unknown, running: Running, path: Path) => unknown;
type Condition = (variables: Record<string, unknown>) => boolean;
type Arguments = (variables: Record<string, unknown>) => Record<string, unknown>;
type Resolve = GraphQLFieldResolver<unknown, Context, Record<string, unknown>>;

interface FieldPlan {
  readonly key: string;
  readonly typename: string;
  readonly wanted: Condition | undefined;
  readonly resolve: Resolve | undefined;
  readonly property: string;
  readonly args: Arguments;
  readonly complete: Complete;
  readonly isRequired: boolean;
  readonly nodes: readonly FieldNode[];
  readonly info: Omit<GraphQLResolveInfo, 'path' | 'variableValues'>;
}

interface Occurrence {
  readonly node: FieldNode;
  readonly conditions: readonly Condition[];
}

/** What this does not do as graphql-js does it: the document is left to graphql-js. */
class NotPlanned extends Error {}

export function planOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Run | undefined {
  const root = schema.getRootType(operation.operation);
  if (!root) return undefined;
  const fragments = Object.fromEntries(document.definitions.filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one]));
  const { variableDefinitions = [] } = operation;
  try {
    const fields = fieldsOf(root, collected([{ selectionSet: operation.selectionSet, conditions: [] }], root));
    return (context, sent) => {
      const { coerced, errors } = variableDefinitions.length === 0 ? NO_VARIABLES : getVariableValues(schema, variableDefinitions, sent);
      return errors ? undefined : runRoot(fields, { context, variables: coerced, errors: [] });
    };
  } catch (error) {
    if (error instanceof NotPlanned) return undefined;
    throw error;
  }

  /** The fields that these sets select of a type, each under its key, fragments opened. */
  function collected(sets: readonly { selectionSet: SelectionSetNode; conditions: readonly Condition[] }[], type: GraphQLObjectType): Map<string, Occurrence[]> {
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

  function withConditions(inherited: readonly Condition[], { directives = [] }: SelectionNode): readonly Condition[] | 'never' {
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

  function fieldsOf(type: GraphQLObjectType, found: Map<string, Occurrence[]>): FieldPlan[] {
    return [...found].map(([key, occurrences]) => fieldOf(type, key, occurrences));
  }

  function fieldOf(type: GraphQLObjectType, key: string, occurrences: readonly Occurrence[]): FieldPlan {
    const [first] = occurrences as [Occurrence];
    const name = first.node.name.value;
    if (name.startsWith('__') && name !== '__typename') throw new NotPlanned();
    const nodes = occurrences.map(({ node }) => node);
    const wanted = first.conditions.length === 0 ? undefined : (variables: Record<string, unknown>) => first.conditions.every((condition) => condition(variables));
    const definition = name === '__typename' ? undefined : type.getFields()[name];
    const own = { key, typename: type.name, wanted, property: name, nodes };
    if (!definition) {
      const info = { fieldName: name } as FieldPlan['info'];
      return { ...own, resolve: () => type.name, args: () => NOTHING, complete: (value) => value, isRequired: true, info };
    }
    const info = { fieldName: name, fieldNodes: nodes, returnType: definition.type, parentType: type, schema, fragments, rootValue: undefined, operation };
    return {
      ...own,
      resolve: definition.resolve as Resolve | undefined,
      args: argumentsOf(definition, first.node),
      complete: completeOf(definition.type, nodes, `${type.name}.${name}`, info as FieldPlan['info']),
      isRequired: isNonNullType(definition.type),
      info: info as FieldPlan['info'],
    };
  }

  function completeOf(type: GraphQLOutputType, nodes: readonly FieldNode[], place: string, info: FieldPlan['info']): Complete {
    if (isNonNullType(type)) {
      const complete = completeOf(type.ofType, nodes, place, info);
      const required = (value: unknown) => {
        if (value === null) throw new Error(`Cannot return null for non-nullable field ${place}.`);
        return value;
      };
      return (value, running, path) => {
        const completed = complete(value, running, path);
        return isPromise(completed) ? completed.then(required) : required(completed);
      };
    }
    if (isListType(type)) return listOf(completeOf(type.ofType, nodes, place, info), isNonNullType(type.ofType), nodes, place);
    if (isLeafType(type)) {
      return (value) => {
        if (value == null) return null;
        if (value instanceof Error) throw value;
        const written: unknown = type.serialize(value);
        if (written == null) throw new Error(`Expected \`${type}.serialize(${String(value)})\` to return non-nullable value, returned: ${String(written)}`);
        return written;
      };
    }
    const sets = nodes.flatMap(({ selectionSet }) => (selectionSet ? [{ selectionSet, conditions: [] }] : []));
    if (isObjectType(type)) {
      const fields = fieldsOf(type, collected(sets, type));
      return (value, running, path) => {
        if (value == null) return null;
        if (value instanceof Error) throw value;
        return runFields(fields, value, running, path);
      };
    }
    return anyOf(type, new Map(schema.getPossibleTypes(type).map((one) => [one.name, fieldsOf(one, collected(sets, one))])), info);
  }

  function anyOf(type: GraphQLAbstractType, fieldsByType: Map<string, FieldPlan[]>, info: FieldPlan['info']): Complete {
    return (value, running, path) => {
      if (value == null) return null;
      if (value instanceof Error) throw value;
      const name = type.resolveType?.(value, running.context, { ...info, path, variableValues: running.variables }, type);
      const fields = fieldsByType.get(String(name));
      if (!fields) throw new Error(`Nobody knows which ${type.name} this is.`);
      return runFields(fields, value, running, path);
    };
  }
}

const NOTHING: Record<string, unknown> = Object.freeze({});
const NO_VARIABLES = { coerced: NOTHING, errors: undefined };

/** Without variables in them they are the same each time. */
function argumentsOf(definition: GraphQLField<unknown, unknown>, node: FieldNode): Arguments {
  if (definition.args.length === 0) return () => NOTHING;
  const { arguments: given = [] } = node;
  if (JSON.stringify(given, withoutLocation).includes(`"${Kind.VARIABLE}"`)) return (variables) => getArgumentValues(definition, node, variables);
  let known: Record<string, unknown> | undefined;
  return () => (known ??= getArgumentValues(definition, node, {}));
}

function withoutLocation(key: string, value: unknown): unknown {
  return key === 'loc' ? undefined : value;
}

function listOf(complete: Complete, isRequired: boolean, nodes: readonly FieldNode[], place: string): Complete {
  return (value, running, path) => {
    if (value == null) return null;
    if (value instanceof Error) throw value;
    if (!Array.isArray(value)) throw new Error(`Expected Iterable, but did not find one for field "${place}".`);
    const written = Array.from<unknown>({ length: value.length });
    let pending: PromiseLike<void>[] | undefined;
    for (let at = 0; at < value.length; at += 1) {
      const itemPath: Path = { prev: path, key: at, typename: undefined };
      const failed = (error: unknown) => void (written[at] = afterFailure(error, isRequired, nodes, running, itemPath));
      try {
        const item: unknown = value[at];
        const completed = isPromise(item) ? item.then((settled) => complete(settled, running, itemPath)) : complete(item, running, itemPath);
        if (isPromise(completed)) (pending ??= []).push(completed.then((settled) => void (written[at] = settled), failed));
        else written[at] = completed;
      } catch (error) {
        if (!isRequired || !pending) failed(error);
        else return Promise.allSettled(pending).then(() => failed(error));
      }
    }
    return pending ? Promise.all(pending).then(() => written) : written;
  };
}

function runFields(fields: readonly FieldPlan[], source: unknown, running: Running, path: Path | undefined): unknown {
  const written: Record<string, unknown> = {};
  let pending: PromiseLike<void>[] | undefined;
  for (const field of fields) {
    if (field.wanted && !field.wanted(running.variables)) continue;
    let completed: unknown;
    try {
      completed = runField(field, source, running, path);
    } catch (error) {
      // What is under way is seen to its end first: nobody else would hear of its failure.
      if (pending && field.isRequired) return Promise.allSettled(pending).then(() => failureOf(field, error, running, path));
      completed = failureOf(field, error, running, path);
    }
    written[field.key] = completed;
    if (isPromise(completed)) {
      const settle = (value: unknown) => void (written[field.key] = value);
      (pending ??= []).push(completed.then(settle, (error: unknown) => settle(failureOf(field, error, running, path))));
    }
  }
  return pending ? Promise.all(pending).then(() => written) : written;
}

function runField(field: FieldPlan, source: unknown, running: Running, path: Path | undefined): unknown {
  const { resolve, complete } = field;
  const own: Path = { prev: path, key: field.key, typename: field.typename };
  const args = field.args(running.variables);
  const value = resolve ? resolve(source, args, running.context, needsInfo(resolve) ? infoFor(field, running, own) : NO_INFO) : (source as Record<string, unknown>)[field.property];
  return isPromise(value) ? value.then((settled) => complete(settled, running, own)) : complete(value, running, own);
}

const NO_INFO = {} as GraphQLResolveInfo;

function infoFor(field: FieldPlan, running: Running, path: Path): GraphQLResolveInfo {
  return { ...field.info, path, variableValues: running.variables } as GraphQLResolveInfo;
}

/** Null for a field that may be null; for one that may not, the failure goes on to what it belongs to. */
function failureOf(field: FieldPlan, error: unknown, running: Running, path: Path | undefined): null {
  return afterFailure(error, field.isRequired, field.nodes, running, { prev: path, key: field.key, typename: field.typename });
}

function afterFailure(error: unknown, isRequired: boolean, nodes: readonly FieldNode[], running: Running, path: Path): null {
  const located = locatedError(error, nodes, stepsOf(path));
  if (isRequired) throw located;
  running.errors.push(located);
  return null;
}

function stepsOf(path: Path): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.prev) steps.push(at.key);
  return steps.toReversed();
}

async function runRoot(fields: readonly FieldPlan[], running: Running): Promise<Result> {
  const { errors } = running;
  try {
    const data = (await runFields(fields, undefined, running, undefined)) as Record<string, unknown>;
    return { data, errors };
  } catch (error) {
    return { data: null, errors: [...errors, error as GraphQLError] };
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
