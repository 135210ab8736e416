/** One request and its answer, as every handler of this server sees them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestRecord } from '../telemetry/record.js';
import { addressIdentity } from '../security/address.js';
import type { RateLimitResult } from '../security/rate-limit.js';
import { HEAVY_READ } from '../limits.js';
import type { Client } from '../quotas/quota.js';
import { waitForSlot, type Quotas } from '../quotas/quotas.js';
import { discardBody, hasMoreToRead, readBody } from './body.js';
import type { Draining } from './draining.js';
import { newRequestId, traceIdIn } from './requests.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** In characters. */
const LONG_TEXT = 64 * 1024;

export class Exchange {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  /** The client that the quotas of this request are counted for. */
  readonly client: Client;
  readonly record = new RequestRecord();
  /** What the answer is about, for logs and metrics: the route's pattern, never the address with its ids. */
  route = 'unmatched';
  /** The rate-limit budgets that the request was counted in. */
  taken: Iterable<readonly [name: string, taken: RateLimitResult]> = [];
  /** When the answer became a stream; its duration is then no measure of how fast the server answers. */
  streamBeganMs: number | undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    /** The caller's address, as far as proxies are believed. */
    readonly address: string,
    private readonly draining: Pick<Draining, 'isDraining'>,
    private readonly quotas: Pick<Quotas, 'heavyReads'>,
  ) {
    const target = withoutAuthority(request.url ?? '/');
    const question = target.indexOf('?');
    this.client = new Requester(addressIdentity(address), response);
    this.requestId = newRequestId(request.headers['x-request-id']);
    this.record.traceId = traceIdIn(request.headers['traceparent']);
    this.method = request.method ?? 'GET';
    this.path = question < 0 ? target : target.slice(0, question);
    this.search = question < 0 ? '' : target.slice(question + 1);
    response.setHeader('X-Request-Id', this.requestId);
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** Whether the client has what bears this ETag (If-None-Match); a proxy that compresses weakens the tag. */
  clientHas(tag: string): boolean {
    const tags = (this.header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
    return tags.includes(tag) || tags.includes('*');
  }

  /** Whether somebody opens this address in a browser. Java's own client names text/html too, among images. */
  get wantsPage(): boolean {
    const accept = this.header('accept') ?? '';
    return (
      ['GET', 'HEAD'].includes(this.method) && (accept === 'text/html' || accept.includes('application/xhtml+xml'))
    );
  }

  body(maxBytes: number): Buffer | Promise<Buffer> {
    return readBody(this.request, maxBytes);
  }

  /** What is made of a large body takes the event loop long: each waits for its turn. */
  async turnToParse({ length }: Buffer): Promise<void> {
    if (length >= HEAVY_READ.bodyBytesMin) await waitForSlot(this.quotas.heavyReads, this.client);
  }

  beganStream(): void {
    this.streamBeganMs = performance.now();
  }

  send(status: number, contentType: string, body: string | Buffer): void {
    const response = this.#answerWith(status);
    response.setHeader('Content-Type', contentType);
    // As a buffer: a text that waits to be sent waits in the heap, and Node would encode it once for its length and
    // again to send it.
    const bytes = typeof body === 'string' && body.length > LONG_TEXT ? Buffer.from(body) : body;
    response.setHeader('Content-Length', Buffer.byteLength(bytes));
    this.#end(this.method === 'HEAD' ? '' : bytes);
  }

  /**
   * A client may send its whole body before it reads, and loses an answer whose connection is closed meanwhile: so the
   * answer goes out at once, and ends when the body has come.
   */
  #end(content: string | Buffer): void {
    const { request, response } = this;
    if (!hasMoreToRead(request)) return void response.end(content);
    if (content === '') response.flushHeaders();
    else response.write(content);
    void discardBody(request).then(() => response.end(() => request.complete || request.destroy()));
  }

  sendNothing(status: 204 | 304): void {
    this.#answerWith(status);
    this.#end('');
  }

  sendJson(status: number, body: unknown): void {
    this.send(status, JSON_TYPE, JSON.stringify(body));
  }

  #answerWith(status: number): ServerResponse {
    const { response } = this;
    response.statusCode = status;
    if (this.draining.isDraining) response.setHeader('Connection', 'close');
    return response;
  }
}

/**
 * A class, since a function written into a property here would live in old space, and keep the whole request alive
 * until old space is collected.
 */
class Requester implements Client {
  user: string | undefined;

  constructor(
    readonly address: string,
    private readonly response: ServerResponse,
  ) {}

  isGone(): boolean {
    return this.response.destroyed;
  }
}

/** A proxy may ask with the whole address (RFC 9112, 3.2.2); this server is the same, whatever it is called. */
function withoutAuthority(target: string): string {
  if (!/^https?:\/\//i.test(target)) return target;
  const path = target.replace(/^https?:\/\/[^/?]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * The token of `Authorization: Bearer …`; empty where the header holds no such thing, undefined where there is none.
 */
export function bearerOf(authorization = ''): string | undefined {
  if (authorization.trim() === '') return undefined;
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1] ?? '';
}
