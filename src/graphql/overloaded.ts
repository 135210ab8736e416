/**
 * When an executed operation answers 503 in place of 200: if every one of its root fields was refused with OVERLOADED.
 * Then there is nothing in the answer, and proxies and dashboards may count it as what it is.
 */
import type { GraphQLFormattedError } from 'graphql';

interface Result {
  readonly data?: Record<string, unknown> | null | undefined;
  readonly errors?: readonly GraphQLFormattedError[] | undefined;
}

/** After how many seconds to try again; undefined if something was answered, or something else was refused. */
export function retryAfterIfOverloaded({ data, errors = [] }: Result): number | undefined {
  const overloaded = errors.filter(({ extensions }) => extensions?.code === 'OVERLOADED');
  if (overloaded.length === 0) return undefined;
  const isWholly = data
    ? Object.entries(data).every(([name, value]) => value === null && overloaded.some(({ path }) => path?.[0] === name))
    : overloaded.length === errors.length;
  return isWholly ? Math.max(1, ...overloaded.map(({ extensions }) => Number(extensions?.retryAfter ?? 1))) : undefined;
}
