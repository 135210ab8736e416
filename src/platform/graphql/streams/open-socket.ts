/**
 * One WebSocket. graphql-ws implements the protocol. This class adds authentication, limits on sent and unread data,
 * and a reason for each close.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context, Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { parseText } from '../../http/body.js';
import { bearerOf } from '../../http/exchange.js';
import { newRequestId } from '../../http/requests.js';
import type { Timeouts } from '../../service-limits.js';
import type { UnreadAnswers } from '../../http/unread.js';
import { Caller } from '../../call/caller.js';
import type { PlatformServices } from '../../call/services.js';
import { levelOf, lineOf, RequestRecord } from '../../telemetry/record.js';
import { Refusal, refuse } from '../../errors.js';
import { STREAM, WEB_SOCKET } from '../../caller-limits.js';
import { STREAM_ENDS, type StreamEnd, endWithSession } from './stream-ends.js';
import type { Release, Client } from '../../quotas/quota.js';
import { RequestUnderWay, waitForSlot } from '../../quotas/quotas.js';
import type { AnswerStream } from './answers.js';
import {
  SentError,
  formatRefusal,
  type Connection,
  type OpeningResult,
  type OpenSubscription,
} from './subscriptions.js';

interface UpgradedConnection {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly client: Client;
  readonly release: Release;
}

interface Options {
  readonly services: PlatformServices;
  readonly timeouts: Timeouts;
  readonly unread: Pick<UnreadAnswers, 'hold'>;
  readonly openSubscription: OpenSubscription;
}

type SocketContext = Context<Record<string, unknown>, OpenSocket>;
type Handle = (text: string) => Promise<void>;

interface Message {
  subscriptionId?: string;
}

/** graphql-ws clients reconnect after `tryAgainLater`, and report the other codes to the app. */
const CLOSE_CODES = {
  badMessage: 4400,
  unauthorized: 4401,
  idInUse: 4409,
  tryAgainLater: 1013,
  internal: 1011,
} as const;
const ID_IN_USE = 'A subscription with this ID is still active.';
/** A close frame has no room for a longer reason, and `ws` throws instead of sending it. */
const REASON_BYTES_MAX = 123;
const utf8 = new TextEncoder();

export class OpenSocket implements Connection {
  readonly channel = 'websocket';
  end: StreamEnd | undefined;
  /**
   * Subscriptions by ID, until graphql-ws has ended them. If a client completes a subscription while it opens,
   * graphql-ws forgets the ID and would open another one with it.
   */
  readonly #subscriptions = new Map<string, AnswerStream | undefined>();
  #message: Message = {};
  #bearer: string | undefined;
  #releaseUser: Release | undefined;
  #stopWaiting: (() => void) | undefined;
  #isAlive = true;
  #messages = 0;
  #windowBeganMs = performance.now();

  constructor(
    private readonly webSocket: WebSocket,
    private readonly upgrade: UpgradedConnection,
    protocol: Server<OpenSocket>,
    private readonly options: Options,
  ) {
    const onClosed = protocol.opened(
      {
        protocol: webSocket.protocol,
        send: (text) => this.#send(text),
        close: (code = 1000, reason = '') => this.#closeWith(code, reason),
        onMessage: (handle) => this.#onMessages(handle),
      },
      this,
    );
    webSocket.on('ping', (data) => {
      if (this.#mayGoOn() && webSocket.bufferedAmount === 0) webSocket.pong(data);
    });
    webSocket.on('pong', () => void this.#mayGoOn());
    // After an error, `ws` closes the connection with the right code.
    webSocket.on('error', () => undefined);
    webSocket.once('close', (code, reason) => {
      this.end ??= 'left';
      this.#stopWaiting?.();
      this.#releaseUser?.();
      for (const stream of this.#subscriptions.values()) stream?.end(this.end);
      onClosed(code, String(reason)).catch((error: unknown) => this.#fail(error));
    });
  }

  /** graphql-ws awaits each send before it asks for the next response. */
  ready(): Promise<void> {
    return waitForSlot(this.options.services.quotas.streamEvents, this.upgrade.client);
  }

  /** Pings the client. A client that hasn't responded by the next ping is gone. */
  ping(): void {
    if (!this.#isAlive) return this.close('left');
    this.#isAlive = false;
    if (this.webSocket.readyState === this.webSocket.OPEN) this.webSocket.ping();
  }

  close(end: StreamEnd): void {
    if (this.end) return;
    this.end = end;
    const how: { readonly description: string; readonly closeCode?: number } = STREAM_ENDS[end];
    if (how.closeCode === undefined) return this.webSocket.terminate();
    this.webSocket.close(how.closeCode, how.description);
    if (end === 'flooding') this.#readNoMore();
  }

  /** Discards further input. Otherwise, `ws` would parse it even after the connection has closed. */
  #readNoMore(): void {
    const { socket } = this.upgrade;
    socket.removeAllListeners('data');
    socket.on('data', () => {});
    socket.resume();
    const cutOff = setTimeout(() => this.webSocket.terminate(), STREAM.floodedCloseTimeoutMs);
    socket.once('close', () => clearTimeout(cutOff));
  }

  /** Returns false to close the connection, unless it's already closing. */
  async identify(context: Pick<SocketContext, 'connectionParams'>): Promise<boolean> {
    const { authorization, Authorization } = context.connectionParams ?? {};
    const header = authorization ?? Authorization ?? this.upgrade.request.headers.authorization;
    this.#bearer = bearerOf(typeof header === 'string' ? header : undefined);
    const caller = this.#caller();
    const began = performance.now();
    try {
      const viewer = await caller.viewer();
      await caller.consume('read', viewer.userId);
      this.#takeFor(viewer.userId);
      const { afterExpiryMs } = this.options.timeouts;
      this.#stopWaiting = endWithSession(caller, viewer, afterExpiryMs, (end) => this.close(end));
      if (this.end) this.#stopWaiting();
      return this.end === undefined;
    } catch (error) {
      this.#refuse(error, caller, began);
      return false;
    }
  }

  async subscribe(id: string, payload: { readonly query: string }): Promise<AnswerStream | SentError[]> {
    if (this.#subscriptions.has(id)) {
      this.webSocket.close(CLOSE_CODES.idInUse, ID_IN_USE);
      return [new SentError({ message: ID_IN_USE })];
    }
    // graphql-ws calls `subscribe` while it handles the Subscribe message.
    this.#message.subscriptionId = id;
    this.#subscriptions.set(id, undefined);
    const caller = this.#caller();
    const began = performance.now();
    try {
      if (id.length > WEB_SOCKET.idCharactersMax) throw idTooLong();
      const { stream, errors } = await this.#open(caller, payload);
      if (!stream) return this.#refuseSubscription(caller, began, errors);
      this.#subscriptions.set(id, stream);
      return stream;
    } catch (error) {
      const refusal = error instanceof Refusal ? error : refuse('INTERNAL');
      caller.request.record.addRefusal(refusal);
      const answer = this.#refuseSubscription(caller, began, [formatRefusal(refusal, caller)]);
      if (refusal !== error) throw error;
      return answer;
    }
  }

  async #open(caller: Caller, payload: { readonly query: string }): Promise<OpeningResult> {
    const underWay = new RequestUnderWay(this.options.services.quotas.requests, caller.client);
    caller.underWay = underWay;
    try {
      // The protocol requires a query, so a client that names its document by hash sends an empty one.
      const body = payload.query === '' ? { ...payload, query: undefined } : payload;
      return await this.options.openSubscription(caller, this, body);
    } finally {
      underWay.end();
    }
  }

  #refuseSubscription(caller: Caller, beganMs: number, errors: OpeningResult['errors']): SentError[] {
    this.#logEnd(caller, beganMs, 'a subscription was refused');
    // Clients don't retry a single subscription. After this close, they reconnect and repeat all of them.
    if (caller.request.record.codes.has('OVERLOADED'))
      this.webSocket.close(CLOSE_CODES.tryAgainLater, 'The service is at capacity. Try again shortly.');
    return errors.map((error) => new SentError(error));
  }

  #logEnd({ request }: Caller, beganMs: number, message: string): void {
    const { log, metrics } = this.options.services;
    metrics.recordAnswer(request.record, (performance.now() - beganMs) / 1_000);
    const { requestId, record, client } = request;
    log[levelOf(record)]({ requestId, ...lineOf(record, client) }, message);
  }

  #caller(): Caller {
    const { client } = this.upgrade;
    const record = new RequestRecord();
    record.api = 'graphql';
    return new Caller(this.options.services, {
      record,
      requestId: newRequestId(undefined),
      client: { address: client.address, isGone: () => this.end !== undefined },
      bearer: this.#bearer,
    });
  }

  #takeFor(user: string): void {
    const { client } = this.upgrade;
    this.upgrade.release();
    client.user = user;
    this.#releaseUser = this.options.services.quotas.webSockets.take(client);
    if (this.end) this.#releaseUser();
  }

  #refuse(error: unknown, caller: Caller, beganMs: number): void {
    if (!(error instanceof Refusal)) return this.#fail(error);
    caller.request.record.addRefusal(error);
    this.#logEnd(caller, beganMs, 'a WebSocket was refused');
    const code = error.code === 'UNAUTHENTICATED' ? CLOSE_CODES.unauthorized : CLOSE_CODES.tryAgainLater;
    this.#closeWith(code, error.message);
  }

  #fail(error: unknown): void {
    if (error instanceof Refusal) return this.#closeWith(CLOSE_CODES.badMessage, error.message);
    // graphql-ws throws this for a message that only servers may send. Only its text identifies it.
    if (error instanceof Error && error.message.startsWith('Unexpected message of type '))
      return this.#closeWith(CLOSE_CODES.badMessage, error.message);
    this.options.services.log.error({ err: error }, 'a WebSocket failed');
    this.webSocket.close(CLOSE_CODES.internal, 'Something went wrong on our end.');
  }

  #closeWith(code: number, reason: string): void {
    // Encodes only whole characters.
    const { read } = utf8.encodeInto(reason, new Uint8Array(REASON_BYTES_MAX));
    this.webSocket.close(code, reason.slice(0, read));
  }

  /** One read can contain many messages. Each is handled in its own turn of the event loop. */
  #onMessages(handle: Handle): void {
    const { webSocket } = this;
    let lastTurn = Promise.resolve();
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!this.#mayGoOn()) return;
      if (isBinary) return webSocket.close(CLOSE_CODES.badMessage, 'Messages must be text.');
      lastTurn = this.#handleAfter(lastTurn, data.toString(), handle);
    });
  }

  async #handleAfter(lastTurn: Promise<void>, text: string, handle: Handle): Promise<void> {
    await lastTurn;
    await nextTurn();
    if (this.webSocket.readyState !== this.webSocket.OPEN) return;
    const message: Message = {};
    this.#message = message;
    this.#handle(text, handle)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => message.subscriptionId !== undefined && this.#subscriptions.delete(message.subscriptionId));
  }

  async #handle(text: string, handle: Handle): Promise<void> {
    parseText(text, 'message');
    await handle(text);
  }

  #mayGoOn(): boolean {
    if (this.end) return false;
    this.#isAlive = true;
    const nowMs = performance.now();
    if (nowMs - this.#windowBeganMs > WEB_SOCKET.windowSeconds * 1_000) {
      this.#windowBeganMs = nowMs;
      this.#messages = 0;
    }
    this.#messages += 1;
    if (this.#messages > WEB_SOCKET.messagesPerWindowMax) this.close('flooding');
    return this.end === undefined;
  }

  /** Resolves once the operating system has taken the text. Until then, it counts as unread. */
  #send(text: string): Promise<void> {
    const { webSocket, upgrade, options } = this;
    if (webSocket.readyState !== webSocket.OPEN) return Promise.resolve();
    const sending = new Promise<void>((resolve) => webSocket.send(text, () => resolve()));
    if (webSocket.bufferedAmount === 0) return sending;
    const release = options.unread.hold(upgrade.client, Buffer.byteLength(text), () => this.close('slow'));
    return sending.finally(release);
  }
}

function idTooLong(): Refusal {
  return refuse('VALIDATION_FAILED', {
    message: `A subscription’s ID can have at most ${WEB_SOCKET.idCharactersMax} characters.`,
  });
}
