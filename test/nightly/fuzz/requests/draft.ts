/** A request under construction, still in parts, so each part can be broken. */
import { jsonText } from './json-text.js';
import type { Header, Request, Selected } from './requests.js';

export interface Draft {
  kind: string;
  method: string;
  path: string;
  query: [name: string, value: string][];
  headers: Header[];
  /** The JSON body, if any. */
  json: unknown;
  /** Raw bytes to send instead. */
  bytes?: Buffer;
  operation?: string;
  selected?: readonly Selected[];
}

export function finished({ kind, method, path, query, headers, json, bytes, operation, selected }: Draft): Request {
  const body = bytes ?? (json === undefined ? undefined : Buffer.from(jsonText(json)));
  const search = query.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`).join('&');
  return {
    kind,
    method,
    target: `${path}${search && `?${search}`}`,
    headers,
    body,
    ...(operation && { operation }),
    ...(selected && { selected }),
  };
}

export function baseHeaders(token: string | undefined, withJson: boolean): Header[] {
  return [
    ['Host', 'localhost'],
    ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
    ...(withJson ? [['Content-Type', 'application/json'] as const] : []),
  ];
}

export function setHeader(draft: Draft, name: string, value: string | undefined): void {
  draft.headers = draft.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase());
  if (value !== undefined) draft.headers.push([name, value]);
}

/** Also works for strings that encodeURIComponent rejects. */
export function percentEncoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      /[\w.~-]/.test(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`,
    )
    .join('');
}
