/** The types of a plan: each selected object's fields, and how each field is resolved and serialized. */
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
  /** The response name: the alias, if there is one. */
  readonly key: string;
  readonly name: string;
  readonly typename: string;
  /**
   * The field's resolver is looked up on each call, because Apollo replaces all resolvers for a plugin with
   * `willResolveField`.
   */
  readonly definition: GraphQLField<unknown, unknown>;
  /** Undefined if the field is always included. */
  readonly isIncluded: Condition | undefined;
  readonly args: (variables: Variables) => Variables;
  readonly complete: Complete;
  /** The type's serializer, if the field is a scalar or an enum and not a list. */
  readonly serialize: ((value: unknown) => unknown) | undefined;
  readonly isRequired: boolean;
  readonly nodes: readonly FieldNode[];
  readonly info: Omit<GraphQLResolveInfo, 'path' | 'variableValues'>;
}

export interface Selection {
  readonly fields: readonly FieldPlan[];
  /**
   * This object is copied for each response object, because V8 would reallocate an object that gets its properties one
   * by one. The object is empty if the variables decide which names a response has.
   */
  readonly shape: Readonly<Record<string, unknown>>;
}

export function selectionOf(fields: readonly FieldPlan[]): Selection {
  const isSettled = fields.every(({ isIncluded }) => isIncluded === undefined);
  return { fields, shape: isSettled ? Object.fromEntries(fields.map(({ key }) => [key, undefined])) : {} };
}
