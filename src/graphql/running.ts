/**
 * A plan at work: each field is found and written, what is promised is waited for, and a failure goes to what it
 * belongs to. Nothing is made for a field but its value.
 */
import type { FieldNode, GraphQLAbstractType, GraphQLError, GraphQLLeafType, GraphQLResolveInfo } from 'graphql';
import { needsInfo } from './direct.js';
import { writerOf, type Complete, type FieldPlan, type Path, type Running, type Selection } from './selection.js';

export interface Result {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly GraphQLError[];
}

/** What may not be null. */
export function requiredOf(complete: Complete, place: string): Complete {
  const required = (value: unknown) => {
    if (value === null) throw new Error(`Cannot return null for non-nullable field ${place}.`);
    return value;
  };
  return (value, running, path) => {
    const completed = complete(value, running, path);
    return isPromise(completed) ? completed.then(required) : required(completed);
  };
}

/** A plain value, as its type writes it. */
export function leafOf(type: GraphQLLeafType): Complete {
  return there(writerOf(type));
}

export function objectOf(selection: Selection): Complete {
  return there((value, running, path) => runFields(selection, value, running, path));
}

/** An object of one of several types, each with fields of its own. */
export function anyOf(
  type: GraphQLAbstractType,
  selections: ReadonlyMap<string, Selection>,
  info: FieldPlan['info'],
): Complete {
  return there((value, running, path) => {
    const name = type.resolveType?.(value, running.context, { ...info, path, variableValues: running.variables }, type);
    const selection = selections.get(String(name));
    if (!selection) throw new Error(`Nobody knows which ${type.name} this is.`);
    return runFields(selection, value, running, path);
  });
}

/** Only what is there has to be completed; an error that was handed over for a value is one. */
function there(complete: Complete): Complete {
  return (value, running, path) => {
    if (value == null) return null;
    if (value instanceof Error) throw value;
    return complete(value, running, path);
  };
}

export function listOf(complete: Complete, isRequired: boolean, nodes: readonly FieldNode[], place: string): Complete {
  return there((value, running, path) => {
    if (!Array.isArray(value)) throw new Error(`Expected Iterable, but did not find one for field "${place}".`);
    const written = Array.from<unknown>({ length: value.length });
    let pending: PromiseLike<void>[] | undefined;
    for (let at = 0; at < value.length; at += 1) {
      const itemPath: Path = { prev: path, key: at, typename: undefined };
      try {
        const item: unknown = value[at];
        const completed = isPromise(item)
          ? completedLater(item, complete, running, itemPath)
          : complete(item, running, itemPath);
        written[at] = completed;
        if (isPromise(completed))
          (pending ??= []).push(settledIn(written, at, completed, isRequired, nodes, running, itemPath));
      } catch (error) {
        if (isRequired && pending) return whenAllAreDone(pending, error, nodes, running, itemPath);
        written[at] = afterFailure(error, isRequired, nodes, running, itemPath);
      }
    }
    return pending ? whole(pending, written) : written;
  });
}

// What is promised is waited for in functions of its own: a loop whose variables a closure holds makes room for them at
// every turn.

function completedLater(
  promised: PromiseLike<unknown>,
  complete: Complete,
  running: Running,
  path: Path,
): PromiseLike<unknown> {
  return promised.then((settled) => complete(settled, running, path));
}

/** Puts what is promised into its place when it is there. */
function settledIn(
  written: Record<string, unknown> | unknown[],
  place: string | number,
  promised: PromiseLike<unknown>,
  isRequired: boolean,
  nodes: readonly FieldNode[],
  running: Running,
  path: Path,
): PromiseLike<void> {
  const settle = (value: unknown) => void ((written as Record<string | number, unknown>)[place] = value);
  return promised.then(settle, (error: unknown) => settle(afterFailure(error, isRequired, nodes, running, path)));
}

export function runFields(
  { fields, writePlain, others }: Selection,
  source: unknown,
  running: Running,
  path: Path | undefined,
): unknown {
  const plain = writePlain && typeof source === 'object' && source !== null ? tryTo(writePlain, source) : undefined;
  return plain ? runEach(others, plain, source, running, path) : runEach(fields, {}, source, running, path);
}

/** What fails is run again, each field by itself, to learn which it was. */
function tryTo(writePlain: NonNullable<Selection['writePlain']>, source: object): Record<string, unknown> | undefined {
  try {
    return writePlain(source);
  } catch {
    return undefined;
  }
}

function runEach(
  fields: readonly FieldPlan[],
  written: Record<string, unknown>,
  source: unknown,
  running: Running,
  path: Path | undefined,
): unknown {
  let pending: PromiseLike<void>[] | undefined;
  for (const field of fields) {
    if (field.wanted && !field.wanted(running.variables)) continue;
    const { key, isRequired, nodes } = field;
    const own: Path = { prev: path, key, typename: field.typename };
    try {
      const completed = runField(field, source, running, own);
      written[key] = completed;
      if (isPromise(completed))
        (pending ??= []).push(settledIn(written, key, completed, isRequired, nodes, running, own));
    } catch (error) {
      // What is under way is seen to its end first: nobody else would hear of its failure.
      if (pending && isRequired) return whenAllAreDone(pending, error, nodes, running, own);
      written[key] = afterFailure(error, isRequired, nodes, running, own);
    }
  }
  return pending ? whole(pending, written) : written;
}

function whenAllAreDone(
  pending: readonly PromiseLike<void>[],
  error: unknown,
  nodes: readonly FieldNode[],
  running: Running,
  path: Path,
): Promise<null> {
  return Promise.allSettled(pending).then(() => afterFailure(error, true, nodes, running, path));
}

function whole<Written>(pending: readonly PromiseLike<void>[], written: Written): Promise<Written> {
  return Promise.all(pending).then(() => written);
}

function runField(
  { resolve, property, args, complete, info }: FieldPlan,
  source: unknown,
  running: Running,
  path: Path,
): unknown {
  const value = resolve
    ? resolve(
        source,
        args(running.variables),
        running.context,
        needsInfo(resolve) ? infoFor(info, running, path) : NO_INFO,
      )
    : (source as Record<string, unknown>)[property];
  return isPromise(value) ? completedLater(value, complete, running, path) : complete(value, running, path);
}

const NO_INFO = {} as GraphQLResolveInfo;

function infoFor(info: FieldPlan['info'], { variables: variableValues }: Running, path: Path): GraphQLResolveInfo {
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

/** Null for what may be null; from what may not, the failure goes on to what it belongs to. */
function afterFailure(
  error: unknown,
  isRequired: boolean,
  nodes: readonly FieldNode[],
  running: Running,
  path: Path,
): null {
  const located = running.context.failures.placed(error, nodes, () => stepsOf(path));
  if (isRequired) throw located;
  running.errors.push(located);
  return null;
}

function stepsOf(path: Path): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.prev) steps.push(at.key);
  return steps.toReversed();
}

export async function runRoot(selection: Selection, running: Running): Promise<Result> {
  const { errors } = running;
  try {
    const data = (await runFields(selection, undefined, running, undefined)) as Record<string, unknown>;
    return { data, errors };
  } catch (error) {
    return { data: null, errors: [...errors, error as GraphQLError] };
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
