/** Requests that attackers write. */
import type { Call } from '../attack.js';

export const graphql = (query: string, variables?: object, headers?: Call['headers']): Call => ({
  method: 'POST',
  path: '/graphql',
  body: JSON.stringify({ query, variables }),
  ...(headers && { headers }),
});

export const post = (path: string, body: object = {}, headers?: Call['headers']): Call => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
  ...(headers && { headers }),
});

export const get = (path: string, headers?: Call['headers']): Call => ({ path, ...(headers && { headers }) });

/** A request's bytes, for connections that send it in their own way. */
export function bytesOf(
  method: string,
  path: string,
  { headers = [], body = '' }: { headers?: readonly string[]; body?: string } = {},
): string {
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, 'Host: attacked.test', ...headers, ...length, '', body].join('\r\n');
}

/** An object with this many unknown names. */
export const unknownNames = (count: number, value: unknown = 1): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, value]));

/** This many aliases of one field. The first has no alias. */
export const aliased = (count: number, field: string): string =>
  Array.from({ length: count }, (_, at) => (at === 0 ? field : `a${at}: ${field}`)).join(' ');

export const DRY_RUN = { 'Dry-Run': 'true' };
export const TINY = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
export const WRONG_LOG_IN = { email: 'guessed.########@example.test', password: 'a guess' };
