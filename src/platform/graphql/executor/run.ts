/**
 * Runs a plan, and places each error where the GraphQL specification requires it. Promises are awaited in separate
 * functions. If a closure captured a loop's variables, V8 would allocate a context for each iteration.
 */
import {
  defaultFieldResolver,
  responsePathAsArray,
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  type GraphQLResolveInfo,
  type GraphQLAbstractType,
  type GraphQLLeafType,
} from 'graphql';
import { locate } from '../failures.js';
import type { Complete, Execution, FieldPlan, Path, Selection } from './selection.js';

export async function runPlan(
  selection: Selection,
  execution: Execution,
): Promise<ExecutionResult<Record<string, unknown>>> {
  const { errors } = execution;
  try {
    const data = (await runFields(selection, undefined, execution, undefined)) as Record<string, unknown>;
    return errors.length > 0 ? { errors, data } : { data };
  } catch (error) {
    return { errors: [...errors, error as GraphQLError], data: null };
  }
}

/** Creates a selection's response object, or a promise of it. */
export function runFields(
  { fields, shape }: Selection,
  source: unknown,
  execution: Execution,
  path: Path | undefined,
): unknown {
  const output: Record<string, unknown> = { ...shape };
  let pending: PromiseLike<void>[] | undefined;
  for (const field of fields) {
    if (field.isIncluded && !field.isIncluded(execution.variables)) continue;
    const { key, isRequired, nodes } = field;
    try {
      const result = runField(field, source, execution, path);
      output[key] = result;
      if (isPromise(result))
        (pending ??= []).push(settle(output, key, result, isRequired, nodes, execution, pathOf(field, path)));
    } catch (error) {
      // Awaits the pending fields first. Otherwise, their failures would be unhandled rejections.
      if (pending && isRequired) return whenAllHaveEnded(pending, error, nodes, execution, pathOf(field, path));
      output[key] = afterFailure(error, isRequired, nodes, execution, pathOf(field, path));
    }
  }
  return pending ? whenAllAreThere(pending, output) : output;
}

function runField(field: FieldPlan, source: unknown, execution: Execution, above: Path | undefined): unknown {
  const { name, complete, serialize } = field;
  if (name === '__typename') return field.typename;
  const isProperty = field.definition.resolve === undefined && isObject(source);
  const property = isProperty ? source[name] : undefined;
  // Most fields are plain properties, without arguments or a path.
  if (serialize && isPlain(property)) return serialize(property);
  const path = pathOf(field, above);
  const value = isProperty && typeof property !== 'function' ? property : callResolver(field, source, execution, path);
  return isPromise(value) ? completeLater(value, complete, execution, path) : complete(value, execution, path);
}

function callResolver(
  { definition, args, info }: FieldPlan,
  source: unknown,
  execution: Execution,
  path: Path,
): unknown {
  const resolve = definition.resolve ?? defaultFieldResolver;
  return resolve(source, args(execution.variables), execution.context, infoFor(info, execution, path));
}

function pathOf({ key, typename }: FieldPlan, prev: Path | undefined): Path {
  return { prev, key, typename };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'object') return value instanceof Date;
  return value !== undefined && typeof value !== 'function';
}

/** Lists the properties, because V8 would give each extended copy its own hidden class. */
function infoFor(info: FieldPlan['info'], { variables: variableValues }: Execution, path: Path): GraphQLResolveInfo {
  const { fieldName, fieldNodes, returnType, parentType, schema, fragments, rootValue, operation } = info;
  return {
    fieldName,
    fieldNodes,
    returnType,
    parentType,
    path,
    schema,
    fragments,
    rootValue,
    operation,
    variableValues,
  };
}

export function completeLater(
  promise: PromiseLike<unknown>,
  complete: Complete,
  execution: Execution,
  path: Path,
): PromiseLike<unknown> {
  return promise.then((value) => complete(value, execution, path));
}

export function settle(
  output: Record<string, unknown> | unknown[],
  place: string | number,
  promise: PromiseLike<unknown>,
  isRequired: boolean,
  nodes: readonly FieldNode[],
  execution: Execution,
  path: Path,
): PromiseLike<void> {
  const put = (value: unknown) => void ((output as Record<string | number, unknown>)[place] = value);
  return promise.then(put, (error: unknown) => put(afterFailure(error, isRequired, nodes, execution, path)));
}

export function whenAllAreThere<Output>(pending: readonly PromiseLike<void>[], output: Output): Promise<Output> {
  return Promise.all(pending).then(() => output);
}

export function whenAllHaveEnded(
  pending: readonly PromiseLike<void>[],
  error: unknown,
  nodes: readonly FieldNode[],
  execution: Execution,
  path: Path,
): Promise<null> {
  return Promise.allSettled(pending).then(() => afterFailure(error, true, nodes, execution, path));
}

/** Returns null for a nullable field. For a non-null field, throws, which makes its parent null. */
export function afterFailure(
  error: unknown,
  isRequired: boolean,
  nodes: readonly FieldNode[],
  execution: Execution,
  path: Path,
): null {
  // A resolver's failure already has its location and was counted. An error about a null in a non-null field has no
  // location yet and wasn't counted. graphql-js does the same.
  const fieldError = locate(error, nodes, () => responsePathAsArray(path));
  if (isRequired) throw fieldError;
  execution.errors.push(fieldError);
  return null;
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

export function requiredOf(complete: Complete, place: string): Complete {
  const assertNotNull = (value: unknown) => {
    if (value === null) throw new Error(`Cannot return null for non-nullable field ${place}.`);
    return value;
  };
  return (value, execution, path) => {
    const result = complete(value, execution, path);
    return isPromise(result) ? result.then(assertNotNull) : assertNotNull(result);
  };
}

/** Completes a value unless it's null. A value that is an Error is a failure. */
function ifPresent(complete: Complete): Complete {
  return (value, execution, path) => {
    if (value == null) return null;
    if (value instanceof Error) throw value;
    return complete(value, execution, path);
  };
}

export function leafOf(type: GraphQLLeafType): Complete {
  return ifPresent(serializerOf(type));
}

export function serializerOf(type: GraphQLLeafType): (value: unknown) => unknown {
  return (value) => {
    const output: unknown = type.serialize(value);
    if (output == null)
      throw new Error(
        `Expected \`${type}.serialize(${String(value)})\` to return non-nullable value, returned: ${String(output)}`,
      );
    return output;
  };
}

export function objectOf(selection: Selection): Complete {
  return ifPresent((value, execution, path) => runFields(selection, value, execution, path));
}

/** Completes an object of an interface or union with its actual type's fields. */
export function anyOf(
  type: GraphQLAbstractType,
  selections: ReadonlyMap<string, Selection>,
  info: FieldPlan['info'],
): Complete {
  return ifPresent((value, execution, path) => {
    const { context, variables } = execution;
    const name = type.resolveType?.(value, context, { ...info, path, variableValues: variables }, type);
    const selection = selections.get(String(name));
    if (!selection) throw new Error(`The resolver of ${type.name} must return the type of an object synchronously.`);
    return runFields(selection, value, execution, path);
  });
}

export function listOf(complete: Complete, isRequired: boolean, nodes: readonly FieldNode[], place: string): Complete {
  return ifPresent((value, execution, path) => {
    if (!Array.isArray(value)) throw new Error(`Expected Iterable, but did not find one for field "${place}".`);
    const output = Array.from<unknown>({ length: value.length });
    let pending: PromiseLike<void>[] | undefined;
    for (let at = 0; at < value.length; at += 1) {
      const entryPath: Path = { prev: path, key: at, typename: undefined };
      try {
        const entry: unknown = value[at];
        const result = isPromise(entry)
          ? completeLater(entry, complete, execution, entryPath)
          : complete(entry, execution, entryPath);
        output[at] = result;
        if (isPromise(result))
          (pending ??= []).push(settle(output, at, result, isRequired, nodes, execution, entryPath));
      } catch (error) {
        if (isRequired && pending) return whenAllHaveEnded(pending, error, nodes, execution, entryPath);
        output[at] = afterFailure(error, isRequired, nodes, execution, entryPath);
      }
    }
    return pending ? whenAllAreThere(pending, output) : output;
  });
}
