/** A plan at work: each field is found and written, what is promised is waited for, and a failure goes to what it belongs to. Nothing is made for a field but its value. */
import { locatedError, type FieldNode, type GraphQLAbstractType, type GraphQLError, type GraphQLFieldResolver, type GraphQLLeafType, type GraphQLResolveInfo } from 'graphql';
import type { Context } from './context.js';
import { needsInfo } from './direct.js';

export interface Result {
  readonly data: Record<string, unknown> | null;
  readonly errors: readonly GraphQLError[];
}

export interface Running {
  readonly context: Context;
  readonly variables: Record<string, unknown>;
  readonly errors: GraphQLError[];
}

export interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
  readonly typename: string | undefined;
}

/** A value as it goes into the answer, or the promise of it. */
export type Complete = (value: unknown, running: Running, path: Path) => unknown;
export type Condition = (variables: Record<string, unknown>) => boolean;
export type Arguments = (variables: Record<string, unknown>) => Record<string, unknown>;
export type Resolve = GraphQLFieldResolver<unknown, Context, Record<string, unknown>>;

export interface FieldPlan {
  readonly key: string;
  readonly typename: string;
  readonly wanted: Condition | undefined;
  readonly resolve: Resolve | undefined;
  readonly property: string;
  readonly args: Arguments;
  readonly complete: Complete;
  /** How a plain value that the object itself holds is written, which takes nothing else. */
  readonly write: ((value: unknown) => unknown) | undefined;
  readonly isRequired: boolean;
  readonly nodes: readonly FieldNode[];
  readonly info: Omit<GraphQLResolveInfo, 'path' | 'variableValues'>;
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

export function writerOf(type: GraphQLLeafType): (value: unknown) => unknown {
  return (value) => {
    const written: unknown = type.serialize(value);
    if (written == null) throw new Error(`Expected \`${type}.serialize(${String(value)})\` to return non-nullable value, returned: ${String(written)}`);
    return written;
  };
}

export interface Selection {
  readonly fields: readonly FieldPlan[];
  /** Writes all plain values at once; undefined where one of them is not plain, or not there although it must be. */
  readonly writePlain: ((source: object) => Record<string, unknown> | undefined) | undefined;
  /** What is left to be run then. */
  readonly others: readonly FieldPlan[];
}

/**
 * The plain values of a selection are written by code of its own, into objects that are of one shape from the beginning: an object to which names
 * are added one by one is made over again several times. Where it depends on variables which names there are, there is no such shape.
 */
export function selectionOf(fields: readonly FieldPlan[]): Selection {
  if (fields.some(({ wanted }) => wanted)) return { fields, writePlain: undefined, others: fields };
  const writers = fields.map(({ write }) => write);
  const code = fields.flatMap(({ key, property, write, isRequired }, at) => {
    if (!write) return [];
    const absent = isRequired ? 'return undefined' : `written["${key}"] = null`;
    return [`value = source["${property}"];
      if (value === null || value === undefined) ${absent};
      else if (typeof value === 'object' && !(value instanceof Date)) return undefined;
      else written["${key}"] = writers[${at}](value);`];
  });
  // The names are GraphQL's, of letters, digits and underscores.
  const make = new Function('writers', `return (source) => {
    const written = { ${fields.map(({ key }) => `"${key}": undefined`).join(', ')} };
    let value;
    ${code.join('\n')}
    return written;
  }`) as (given: typeof writers) => NonNullable<Selection['writePlain']>;
  return { fields, writePlain: make(writers), others: fields.filter(({ write }) => !write) };
}

export function objectOf(selection: Selection): Complete {
  return there((value, running, path) => runFields(selection, value, running, path));
}

/** An object of one of several types, each with fields of its own. */
export function anyOf(type: GraphQLAbstractType, selections: ReadonlyMap<string, Selection>, info: FieldPlan['info']): Complete {
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
  });
}

export function runFields({ fields, writePlain, others }: Selection, source: unknown, running: Running, path: Path | undefined): unknown {
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

function runEach(fields: readonly FieldPlan[], written: Record<string, unknown>, source: unknown, running: Running, path: Path | undefined): unknown {
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

function infoFor({ info }: FieldPlan, { variables: variableValues }: Running, path: Path): GraphQLResolveInfo {
  const { fieldName, fieldNodes, returnType, parentType, schema, fragments, rootValue, operation } = info;
  return { fieldName, fieldNodes, returnType, parentType, path, schema, fragments, rootValue, operation, variableValues };
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
