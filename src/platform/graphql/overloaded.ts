/**
 * Decides when an executed operation gets a 503 instead of a 200: if all of its root fields were refused with
 * OVERLOADED. Such a response has no data, and proxies and dashboards should count it as an error.
 */
import type { GraphQLFormattedError } from 'graphql';

interface Result {
  readonly data?: Record<string, unknown> | null | undefined;
  readonly errors?: readonly GraphQLFormattedError[] | undefined;
}

/** The number of seconds until a retry. Undefined if a root field succeeded or was refused with another code. */
export function retryAfterIfOverloaded({ data, errors = [] }: Result): number | undefined {
  const overloadErrors = errors.filter(({ extensions }) => extensions?.code === 'OVERLOADED');
  if (overloadErrors.length === 0) return undefined;
  const isWholly = data
    ? Object.entries(data).every(
        ([name, value]) => value === null && overloadErrors.some(({ path }) => path?.[0] === name),
      )
    : overloadErrors.length === errors.length;
  return isWholly
    ? Math.max(1, ...overloadErrors.map(({ extensions }) => Number(extensions?.retryAfter ?? 1)))
    : undefined;
}
