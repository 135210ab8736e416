/** One request as it is sent, and the facts known about it in advance. */

export interface Request {
  /** Its kind for the tally: `rest valid`, `graphql broken syntax`. */
  readonly kind: string;
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body?: Buffer | undefined;
  /** The whole message, if it isn't exactly one request. It is sent on a separate connection, which then closes. */
  readonly raw?: Buffer;
  /** The operation of a valid REST request. It must succeed at least once in a run. */
  readonly operation?: string;
  /** The fields in a GraphQL response's data, if the document is meant to be executed. */
  readonly selected?: readonly Selected[];
}

export type Header = readonly [name: string, value: string];

/** A requested field: its name in the response, and its field in the schema. */
export interface Selected {
  readonly key: string;
  readonly field: string;
  /** The type that it applies to. All types by default. */
  readonly on?: string;
  readonly inner: readonly Selected[];
}

/** One byte per character, as headers are sent. */
export function bytesOf({ raw, method, target, headers, body }: Request): Buffer {
  if (raw) return raw;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body ? [`Content-Length: ${body.length}`] : []),
    '',
    '',
  ];
  const head = Buffer.from(lines.join('\r\n'), 'latin1');
  return body ? Buffer.concat([head, body]) : head;
}

/**
 * Prints a request so a developer can send it again. The tokens are only valid for a database that no longer exists.
 */
export function asShell(request: Request, port: number): string {
  const bytes = bytesOf(request);
  const printed = bytes
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]|[\\']/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .replaceAll('%', '%%');
  return `printf '${printed}' | nc -q 2 127.0.0.1 ${port}`;
}
