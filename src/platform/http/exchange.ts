/** A request and its response, as handlers see them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestRecord } from '../telemetry/record.js';
import { addressIdentity } from '../security/address.js';
import type { RateLimitResults } from '../security/rate-limit.js';
import { HEAVY_READ } from '../caller-limits.js';
import type { Client } from '../quotas/quota.js';
import { waitForSlot, type Quotas } from '../quotas/quotas.js';
import { discardBody, hasMoreToRead, readBody } from './body.js';
import { answersUnderWay } from './answers-under-way.js';
import type { Draining } from './draining.js';
import { newRequestId, traceIdIn } from './requests.js';
import { QUEUED } from './unread.js';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Strings with at least this many characters count as long. */
const LONG_TEXT = 64 * 1024;

export class Exchange {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly client: Client;
  readonly record = new RequestRecord();
  /** The route's pattern, for logs and metrics. Never the path with its IDs. */
  route = 'unmatched';
  rateLimitResults: RateLimitResults = [];
  /** When the response became a stream. A stream's duration doesn't measure the server's speed. */
  streamBeganMs: number | undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    /** The caller's address, from trusted proxies if there are any. */
    address: string,
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

  /** True if the client already has this ETag (If-None-Match). A proxy that compresses makes it a weak tag. */
  clientHas(tag: string): boolean {
    const tags = (this.header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
    return tags.includes(tag) || tags.includes('*');
  }

  /**
   * True if someone opens this path in a browser or sends a page's form to it. Java's client also accepts text/html,
   * but along with images.
   */
  get wantsPage(): boolean {
    const accept = this.header('accept') ?? '';
    const isForm = this.method === 'POST' && this.header('content-type') === 'application/x-www-form-urlencoded';
    return (
      (isForm || ['GET', 'HEAD'].includes(this.method)) &&
      (accept === 'text/html' || accept.includes('application/xhtml+xml'))
    );
  }

  body(maxBytes: number): Buffer | Promise<Buffer> {
    return readBody(this.request, maxBytes);
  }

  /** Waits for the client's turn, because parsing a large body blocks the event loop. */
  async waitToParse({ length }: Buffer): Promise<void> {
    if (length >= HEAVY_READ.bodyBytesMin) await waitForSlot(this.quotas.heavyReads, this.client);
  }

  beganStream(): void {
    this.streamBeganMs = performance.now();
  }

  send(status: number, contentType: string, body: string | Buffer): void {
    const response = this.#answerWith(status);
    response.setHeader('Content-Type', contentType);
    // A buffer, because a waiting string takes up heap space. Node would also encode it twice: for its length, and to
    // send it.
    const bytes = typeof body === 'string' && body.length > LONG_TEXT ? Buffer.from(body) : body;
    response.setHeader('Content-Length', Buffer.byteLength(bytes));
    this.#end(this.method === 'HEAD' ? '' : bytes);
  }

  /**
   * Sends the response immediately, but ends it only once the request body has arrived or been given up on. A client
   * that sends its whole body before it reads would otherwise lose the response.
   */
  #end(content: string | Buffer): void {
    const { request, response } = this;
    if (!hasMoreToRead(request)) {
      response.end(content);
    } else {
      if (content === '') response.flushHeaders();
      else response.write(content);
      void discardBody(request).then(() => response.end(() => request.complete || request.destroy()));
    }
    // It waits in memory until the connection's earlier responses are sent.
    if (response.socket === null && !response.destroyed) response.emit(QUEUED);
  }

  sendNothing(status: 204 | 304): void {
    this.#answerWith(status);
    this.#end('');
  }

  sendJson(status: number, body: unknown): void {
    this.send(status, JSON_TYPE, JSON.stringify(body));
  }

  /** No other response can follow one that closes the connection. */
  #isLast(): boolean {
    return [...answersUnderWay(this.request.socket)].at(-1) === this.response;
  }

  #answerWith(status: number): ServerResponse {
    const { response } = this;
    response.statusCode = status;
    if (this.draining.isDraining && this.#isLast()) response.setHeader('Connection', 'close');
    return response;
  }
}

/** A class, because functions stored in properties here would keep the whole request alive in V8's old space. */
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

/** A proxy may send the whole URL (RFC 9112, 3.2.2). The server ignores the host. */
function withoutAuthority(target: string): string {
  if (!/^https?:\/\//i.test(target)) return target;
  const path = target.replace(/^https?:\/\/[^/?]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Empty if the header has no bearer token. Undefined without the header. */
export function bearerOf(authorization = ''): string | undefined {
  if (authorization.trim() === '') return undefined;
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1] ?? '';
}
