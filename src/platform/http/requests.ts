/** Rejects request heads that violate RFC 9112 but that Node accepts. A proxy may have read them differently. */
import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../errors.js';
import { HEAD } from '../caller-limits.js';
import { randomUUID } from 'node:crypto';

/** Headers that a request may have only once. Node silently keeps the first value of a repeated one. */
const SENT_ONCE = new Set(['host', 'authorization', 'content-type']);

/** A name, an IPv4 address, or an IPv6 address in brackets, with an optional port (RFC 3986, 3.2.2). */
const HOST = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

export function problemWithHead({
  httpVersionMajor,
  httpVersion,
  headers,
  rawHeaders,
}: IncomingMessage): Refusal | undefined {
  if (httpVersionMajor !== 1) return malformed('This server supports only HTTP/1.1 and HTTP/1.0.');
  if (rawHeaders.length > 2 * HEAD.headersMax)
    return refuse('PAYLOAD_TOO_LARGE', { message: `A request can have at most ${HEAD.headersMax} headers.` });
  if (headers.host === undefined && httpVersion === '1.1') return malformed('The Host header is missing.');
  if (!HOST.test(headers.host ?? '')) return malformed('The Host header must be a host name, optionally with a port.');
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect))
    return malformed('The Expect header can only be 100-continue.');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && !/^chunked$/i.test(coding))
    return malformed('The only Transfer-Encoding that this server supports is chunked.');
  const repeated = repeatedIn(rawHeaders);
  return repeated === undefined ? undefined : malformed(`The ${repeated} header was sent twice.`);
}

function repeatedIn(rawHeaders: readonly string[]): string | undefined {
  const names = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!SENT_ONCE.has(name)) continue;
    if (names.has(name)) return name;
    names.add(name);
  }
  return undefined;
}

function malformed(message: string): Refusal {
  return refuse('MALFORMED_REQUEST', { message });
}

const HEADERS_OF_PROXIES = ['x-forwarded-for', 'forwarded'] as const;

/** Warns only once about a proxy's header, because any caller can send these headers. */
export function warnOfProxy(trustedHops: number, warn: (header: string) => void): (request: IncomingMessage) => void {
  let isSilent = trustedHops > 0;
  return ({ headers }) => {
    if (isSilent) return;
    const header = HEADERS_OF_PROXIES.find((name) => headers[name] !== undefined);
    if (header === undefined) return;
    isSilent = true;
    warn(header);
  };
}

export function newRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{8,128}$/.test(header) ? header : randomUUID();
}

/**
 * The trace ID in a `traceparent` header (W3C Trace Context). Undefined if the header is malformed or the ID is all
 * zeros.
 */
export function traceIdIn(header: string | string[] | undefined): string | undefined {
  const [, version, traceId, spanId] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(String(header)) ?? [];
  const isNamed = [traceId, spanId].every((id) => id !== undefined && /[^0]/.test(id));
  return version !== 'ff' && isNamed ? traceId : undefined;
}
