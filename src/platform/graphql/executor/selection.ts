/** A plan's types: the selected fields, and how each one is resolved and serialized. */
import type { FieldNode, GraphQLError, GraphQLField, GraphQLResolveInfo } from 'graphql';
import type { Context } from '../context.js';

type Variables = Record<string, unknown>;

export interface Execution {
  readonly context: Context;
  readonly variables: Variables;
  readonly errors: GraphQLError[];
}

export interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
  readonly typename: string | undefined;
}

export type Complete = (value: unknown, execution: Execution, path: Path) => unknown;
export type Condition = (variables: Variables) => boolean;

export interface FieldPlan {
  /** The alias if there is one, or else the field's name. */
  readonly key: string;
  readonly name: string;
  readonly typename: string;
  /** Look up the resolver on every call. For a plugin with `willResolveField`, Apollo replaces all resolvers. */
  readonly definition: GraphQLField<unknown, unknown>;
  /** Undefined if the field is always included. */
  readonly isIncluded: Condition | undefined;
  readonly args: (variables: Variables) => Variables;
  readonly complete: Complete;
  /** The type's serializer, for a scalar or an enum that isn't a list. */
  readonly serialize: ((value: unknown) => unknown) | undefined;
  readonly isRequired: boolean;
  readonly nodes: readonly FieldNode[];
  readonly info: Omit<GraphQLResolveInfo, 'path' | 'variableValues'>;
}

export interface Selection {
  readonly fields: readonly FieldPlan[];
  /**
   * Copied for each response object. V8 would reallocate an object that gets its properties one by one. Empty if the
   * variables decide which names the response has.
   */
  readonly shape: Readonly<Record<string, unknown>>;
}

export function selectionOf(fields: readonly FieldPlan[]): Selection {
  const isSettled = fields.every(({ isIncluded }) => isIncluded === undefined);
  return { fields, shape: isSettled ? Object.fromEntries(fields.map(({ key }) => [key, undefined])) : {} };
}
