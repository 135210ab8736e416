/**
 * What an object will be asked for: each field with how it is found and written, and code of the selection's own for
 * all plain values at once.
 */
import type { FieldNode, GraphQLError, GraphQLFieldResolver, GraphQLLeafType, GraphQLResolveInfo } from 'graphql';
import type { Context } from './context.js';

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

export interface Selection {
  readonly fields: readonly FieldPlan[];
  /** Writes all plain values at once; undefined where one of them is not plain, or not there although it must be. */
  readonly writePlain: ((source: object) => Record<string, unknown> | undefined) | undefined;
  /** What is left to be run then. */
  readonly others: readonly FieldPlan[];
}

/**
 * The plain values of a selection are written by code of its own, into objects that are of one shape from the
 * beginning: an object to which names are added one by one is made over again several times. Where it depends on
 * variables which names there are, there is no such shape.
 */
export function selectionOf(fields: readonly FieldPlan[]): Selection {
  if (fields.some(({ wanted }) => wanted)) return { fields, writePlain: undefined, others: fields };
  const writers = fields.map(({ write }) => write);
  const code = fields.flatMap(({ key, property, write, isRequired }, at) => {
    if (!write) return [];
    const absent = isRequired ? 'return undefined' : `written["${key}"] = null`;
    return [
      `value = source["${property}"];
      if (value === null || value === undefined) ${absent};
      else if (typeof value === 'object' && !(value instanceof Date)) return undefined;
      else written["${key}"] = writers[${at}](value);`,
    ];
  });
  // The names are GraphQL's, of letters, digits and underscores.
  const make = new Function(
    'writers',
    `return (source) => {
    const written = { ${fields.map(({ key }) => `"${key}": undefined`).join(', ')} };
    let value;
    ${code.join('\n')}
    return written;
  }`,
  ) as (given: typeof writers) => NonNullable<Selection['writePlain']>;
  return { fields, writePlain: make(writers), others: fields.filter(({ write }) => !write) };
}

/** A plain value, as its type writes it. */
export function writerOf(type: GraphQLLeafType): (value: unknown) => unknown {
  return (value) => {
    const written: unknown = type.serialize(value);
    if (written == null)
      throw new Error(
        `Expected \`${type}.serialize(${String(value)})\` to return non-nullable value, returned: ${String(written)}`,
      );
    return written;
  };
}
