/** The timeouts for each part of a call. */
import type { ServerOptions } from 'node:http';

export interface Timeouts {
  /** Until the head of a request has arrived. */
  readonly headMs: number;
  /** Until the whole request has arrived. */
  readonly requestMs: number;
  /** Until the client has read the whole answer. */
  readonly answerMs: number;
  /** While an answer is sent: how long the client may read no byte of it. */
  readonly stalledMs: number;
  /** Between requests. */
  readonly idleMs: number;
  /** Until the client of an open WebSocket has sent its `connection_init`. */
  readonly webSocketInitMs: number;
  /** Between pings of a WebSocket: proxies cut a connection that is silent for a minute. */
  readonly webSocketPingMs: number;
  /** From the expiry of a stream's access token to the stream's end: a client that refreshes in time loses nothing. */
  readonly afterExpiryMs: number;
  /** Once the server stops: until what is still under way is cut. */
  readonly drainMs: number;
}

export const TIMEOUTS: Timeouts = {
  headMs: 10_000,
  requestMs: 30_000,
  answerMs: 120_000,
  stalledMs: 30_000,
  idleMs: 65_000,
  webSocketInitMs: 5_000,
  webSocketPingMs: 25_000,
  afterExpiryMs: 60_000,
  drainMs: 10_000,
};

export function serverOptions({ headMs, requestMs, idleMs }: Timeouts): ServerOptions {
  return {
    headersTimeout: headMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headMs / 2),
  };
}
