/** One request as it is put on the wire, and what is known of it beforehand. */

export interface Request {
  /** What kind it is, for the tally: `rest valid`, `graphql broken syntax`. */
  readonly kind: string;
  readonly method: string;
  /** Path and query, as they stand in the first line. */
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body?: Buffer | undefined;
  /** All of it, where it is more or less than a request; sent on a connection of its own that ends with it. */
  readonly raw?: Buffer;
  /** The operation that a valid REST request is about, which must be met with success somewhere in a run. */
  readonly operation?: string;
  /** What a GraphQL answer's data is made of, if the document was written to be executed. */
  readonly selected?: readonly Selected[];
}

export type Header = readonly [name: string, value: string];

/** A field as it was asked for: the name in the answer, and the field of the schema behind it. */
export interface Selected {
  readonly key: string;
  readonly field: string;
  /** The types that it is asked of; of any, if nothing is said. */
  readonly on?: string;
  readonly inner: readonly Selected[];
}

/** One byte a character, as headers are sent. */
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

/** Prints a request so that a developer can send it again. A token is a secret of a database that is gone. */
export function asShell(request: Request, port: number): string {
  const bytes = bytesOf(request);
  const printed = bytes
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]|[\\']/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .replaceAll('%', '%%');
  return `printf '${printed}' | nc -q 2 127.0.0.1 ${port}`;
}
