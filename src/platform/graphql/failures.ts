/**
 * Limits a response to 50 errors, and counts the rest in `extensions.errorsLeftOut`. Errors above the limit aren't even
 * created. Locating an error is slow, because GraphQL counts lines for each of its selections.
 */
import {
  GraphQLError,
  locatedError,
  responsePathAsArray,
  type FieldNode,
  type GraphQLFieldResolver,
  type GraphQLFormattedError,
  type GraphQLResolveInfo,
} from 'graphql';
import { ERRORS } from '../caller-limits.js';

const { perAnswerMax, locationsMax } = ERRORS;

/** Replaces each error above the limit. It has a path, so graphql-js doesn't locate it again. */
export const ERROR_BEYOND_LIMIT = new GraphQLError('There are more errors than a response can contain.', { path: [] });

/** This error's formatted form, which is counted but never sent. */
export const FORMATTED_ERROR_BEYOND_LIMIT: GraphQLFormattedError = Object.freeze({
  message: ERROR_BEYOND_LIMIT.message,
});

export class Failures {
  #count = 0;

  locate(error: unknown, nodes: readonly FieldNode[], path: () => (string | number)[]): GraphQLError {
    if (isLocated(error)) return error;
    this.#count += 1;
    return this.#count > perAnswerMax ? ERROR_BEYOND_LIMIT : locate(error, nodes, path);
  }
}

function isLocated(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && error.path !== undefined;
}

export function locate(error: unknown, nodes: readonly FieldNode[], path: () => (string | number)[]): GraphQLError {
  return isLocated(error) ? error : locatedError(error, nodes.slice(0, locationsMax), path());
}

interface WithFailures {
  readonly failures: Failures;
}

type Resolve<Context> = GraphQLFieldResolver<unknown, Context, Record<string, unknown>>;

/**
 * Locates resolvers' failures. graphql-js would locate every one of them, but skips failures that have a path. Turns a
 * synchronous failure into a rejected promise. Otherwise, graphql-js would drop the promises of earlier list entries,
 * and one unhandled rejection ends the process.
 */
export function locateFailures<Context extends WithFailures>(resolve: Resolve<Context>): Resolve<Context> {
  return (source, args, context, info) => {
    try {
      const value = resolve(source, args, context, info);
      return value instanceof Promise ? locateLater(value, context, info) : value;
    } catch (error) {
      return Promise.reject(locateAt(error, context, info));
    }
  };
}

function locateLater(value: Promise<unknown>, context: WithFailures, info: GraphQLResolveInfo): Promise<unknown> {
  return value.catch((error: unknown) => {
    throw locateAt(error, context, info);
  });
}

function locateAt(error: unknown, { failures }: WithFailures, info: GraphQLResolveInfo): GraphQLError {
  return failures.locate(error, info.fieldNodes, () => responsePathAsArray(info.path));
}

export interface SentErrors {
  readonly errors: GraphQLFormattedError[];
  readonly leftOut: number;
}

export function limitErrors(all: readonly GraphQLFormattedError[]): SentErrors {
  const errors = all.filter((error) => error !== FORMATTED_ERROR_BEYOND_LIMIT).slice(0, perAnswerMax);
  return { errors, leftOut: all.length - errors.length };
}
