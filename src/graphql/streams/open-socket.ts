/**
 * One WebSocket. graphql-ws speaks the protocol on it; here is what a server on the open internet sees to besides: who
 * is there, how much they may send, what they do not read, and why it closes.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Context, Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { bearerOf } from '../../http/exchange.js';
import { newRequestId } from '../../http/request-id.js';
import type { Timeouts } from '../../http/timeouts.js';
import type { UnreadAnswers } from '../../http/unread.js';
import { Caller } from '../../operations/caller.js';
import type { Services } from '../../operations/services.js';
import { levelOf, lineOf, RequestRecord } from '../../record.js';
import { cut, Refusal, refuse } from '../../rules/errors.js';
import { WEB_SOCKET } from '../../rules/limits.js';
import { STREAM_ENDS, type StreamEnd } from '../../rules/streams.js';
import type { GiveBack, Holder } from '../../shares/share.js';
import { RequestUnderWay } from '../../shares/shares.js';
import { turnOf } from '../../shares/turns.js';
import type { AnswerStream } from './answers.js';
import { endWithSession } from './end-with-session.js';
import { SentError } from './sent-error.js';
import { refusedAs, type Connection, type Opened, type OpenSubscription } from './subscriptions.js';

interface Upgraded {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly address: string;
  readonly holder: Holder;
  readonly giveBack: GiveBack;
}

interface Parts {
  readonly services: Services;
  readonly timeouts: Timeouts;
  readonly unread: Pick<UnreadAnswers, 'hold'>;
  readonly openSubscription: OpenSubscription;
}

type SocketContext = Context<Record<string, unknown>, OpenSocket>;
type Handle = (text: string) => Promise<void>;

/** A message that graphql-ws is handling. */
interface Message {
  /** The subscription that it asks for. */
  asksFor?: string;
}

/** Clients of graphql-ws come again after `tryAgainLater`, and report the others. */
const CLOSE_CODES = {
  badMessage: 4400,
  unauthorized: 4401,
  idInUse: 4409,
  tryAgainLater: 1013,
  internal: 1011,
} as const;
const ID_IN_USE = 'A subscription of this id is not over yet.';
/** So long a client that sends too much may take to read why its connection closes. */
const FLOODED_MS = 2_000;
/** A close frame holds no more bytes of a reason. */
const REASON_CHARACTERS_MAX = 120;

export class OpenSocket implements Connection {
  readonly channel = 'websocket';
  end: StreamEnd | undefined;
  /**
   * By their ids, until graphql-ws is done with them. It forgets a subscription that its client completes while it is
   * being opened, and would open a second of its id beside it.
   */
  readonly #subscriptions = new Map<string, AnswerStream | undefined>();
  #message: Message = {};
  #bearer: string | undefined;
  #giveBackOfUser: GiveBack | undefined;
  #stopWaiting: (() => void) | undefined;
  #isAlive = true;
  #messages = 0;
  #windowBeganMs = performance.now();

  constructor(
    private readonly webSocket: WebSocket,
    private readonly upgrade: Upgraded,
    protocol: Server<OpenSocket>,
    private readonly parts: Parts,
  ) {
    const closed = protocol.opened(
      {
        protocol: webSocket.protocol,
        send: (text) => this.#send(text),
        close: (code, reason) => webSocket.close(code, reason),
        onMessage: (handle) => this.#onMessages(handle),
      },
      this,
    );
    webSocket.on('ping', (data) => {
      if (this.#mayGoOn() && webSocket.bufferedAmount === 0) webSocket.pong(data);
    });
    webSocket.on('pong', () => void this.#mayGoOn());
    // It closes by itself then, with the code that the protocol has for what was wrong.
    webSocket.on('error', () => undefined);
    webSocket.once('close', (code, reason) => {
      this.end ??= 'left';
      this.#stopWaiting?.();
      this.#giveBackOfUser?.();
      for (const stream of this.#subscriptions.values()) stream?.end(this.end);
      closed(code, String(reason)).catch((error: unknown) => this.#failed(error));
    });
  }

  get isIdle(): boolean {
    return this.#subscriptions.size === 0;
  }

  /** That there is room graphql-ws waits for itself, before it asks for the next. */
  ready(): Promise<void> {
    return turnOf(this.parts.services.shares.streamTurns, this.upgrade.holder);
  }

  /** Who does not answer a ping by the next one is gone. */
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

  /** What else comes is thrown away: `ws` would go through all of it, even once the connection has closed. */
  #readNoMore(): void {
    const { socket } = this.upgrade;
    socket.removeAllListeners('data');
    socket.on('data', () => {});
    socket.resume();
    const cutOff = setTimeout(() => this.webSocket.terminate(), FLOODED_MS);
    socket.once('close', () => clearTimeout(cutOff));
  }

  /** False closes it, if it is not closing yet. */
  async identify(context: Pick<SocketContext, 'connectionParams'>): Promise<boolean> {
    const { authorization, Authorization } = context.connectionParams ?? {};
    const sent = authorization ?? Authorization ?? this.upgrade.request.headers.authorization;
    this.#bearer = bearerOf(typeof sent === 'string' ? sent : undefined);
    const caller = this.#caller();
    const began = performance.now();
    try {
      await turnOf(this.parts.services.shares.turns, caller.holder);
      const viewer = await caller.viewer();
      await caller.draw('read', viewer.userId);
      this.#takeFor(viewer.userId);
      const { afterExpiryMs } = this.parts.timeouts;
      this.#stopWaiting = endWithSession(caller, viewer, afterExpiryMs, (end) => this.close(end));
      if (this.end) this.#stopWaiting();
      return this.end === undefined;
    } catch (error) {
      this.#refused(error, caller, began);
      return false;
    }
  }

  async subscribe(id: string, payload: { readonly query: string }): Promise<AnswerStream | SentError[]> {
    if (this.#subscriptions.has(id)) {
      this.webSocket.close(CLOSE_CODES.idInUse, ID_IN_USE);
      return [new SentError({ message: ID_IN_USE })];
    }
    // graphql-ws asks for it while it is handed the message.
    this.#message.asksFor = id;
    this.#subscriptions.set(id, undefined);
    const caller = this.#caller();
    const began = performance.now();
    try {
      if (id.length > WEB_SOCKET.idCharactersMax) throw idTooLong();
      const { stream, errors } = await this.#open(caller, payload);
      if (!stream) return this.#refusedSubscription(caller, began, errors);
      this.#subscriptions.set(id, stream);
      return stream;
    } catch (error) {
      const refusal = error instanceof Refusal ? error : refuse('INTERNAL');
      caller.request.record.refused(refusal);
      const answer = this.#refusedSubscription(caller, began, [refusedAs(refusal, caller)]);
      if (refusal !== error) throw error;
      return answer;
    }
  }

  async #open(caller: Caller, payload: { readonly query: string }): Promise<Opened> {
    const { turns, requests } = this.parts.services.shares;
    const underWay = new RequestUnderWay(requests, caller.holder);
    caller.underWay = underWay;
    try {
      await turnOf(turns, caller.holder);
      // The protocol has a query always; a document that is named by its hash comes without.
      const body = payload.query === '' ? { ...payload, query: undefined } : payload;
      return await this.parts.openSubscription(caller, this, body);
    } finally {
      underWay.end();
    }
  }

  #refusedSubscription(caller: Caller, beganMs: number, errors: Opened['errors']): SentError[] {
    this.#ended(caller, beganMs, 'a subscription was refused');
    // Clients repeat no subscription by themselves, but all of them on another connection.
    if (caller.request.record.codes.has('OVERLOADED'))
      this.webSocket.close(CLOSE_CODES.tryAgainLater, 'The service is at capacity; try again shortly.');
    return errors.map((error) => new SentError(error));
  }

  #ended({ request }: Caller, beganMs: number, message: string): void {
    const { log, metrics } = this.parts.services;
    metrics.ended(request.record, (performance.now() - beganMs) / 1_000);
    const { requestId, record, holder } = request;
    log[levelOf(record)]({ requestId, ...lineOf(record, holder) }, message);
  }

  #caller(): Caller {
    const { address, holder } = this.upgrade;
    const record = new RequestRecord();
    record.api = 'graphql';
    return new Caller(this.parts.services, {
      record,
      requestId: newRequestId(undefined),
      address,
      holder: { address: holder.address, isGone: () => this.end !== undefined },
      bearer: this.#bearer,
    });
  }

  /** From now on it counts for the user as well. */
  #takeFor(user: string): void {
    const { holder } = this.upgrade;
    this.upgrade.giveBack();
    holder.user = user;
    this.#giveBackOfUser = this.parts.services.shares.webSockets.take(holder);
    if (this.end) this.#giveBackOfUser();
  }

  #refused(error: unknown, caller: Caller, beganMs: number): void {
    if (!(error instanceof Refusal)) return this.#failed(error);
    caller.request.record.refused(error);
    this.#ended(caller, beganMs, 'a WebSocket was refused');
    const code = error.code === 'UNAUTHENTICATED' ? CLOSE_CODES.unauthorized : CLOSE_CODES.tryAgainLater;
    this.webSocket.close(code, cut(error.message, REASON_CHARACTERS_MAX));
  }

  #failed(error: unknown): void {
    // What only servers send graphql-ws throws, and says so by these words alone.
    if (error instanceof Error && error.message.startsWith('Unexpected message of type '))
      return this.webSocket.close(CLOSE_CODES.badMessage, error.message);
    this.parts.services.log.error({ err: error }, 'a WebSocket failed');
    this.webSocket.close(CLOSE_CODES.internal, 'Something went wrong on our side.');
  }

  #onMessages(handle: Handle): void {
    this.webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!this.#mayGoOn()) return;
      if (isBinary) return this.webSocket.close(CLOSE_CODES.badMessage, 'Messages must be text.');
      const message: Message = {};
      this.#message = message;
      handle(data.toString())
        .catch((error: unknown) => this.#failed(error))
        .finally(() => message.asksFor !== undefined && this.#subscriptions.delete(message.asksFor));
    });
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

  /** Settles when the operating system has taken it: whoever has more to say waits, and counts what waits. */
  #send(text: string): Promise<void> {
    const { webSocket, upgrade, parts } = this;
    if (webSocket.readyState !== webSocket.OPEN) return Promise.resolve();
    const taken = new Promise<void>((resolve) => webSocket.send(text, () => resolve()));
    if (webSocket.bufferedAmount === 0) return taken;
    const giveBack = parts.unread.hold(upgrade.holder, Buffer.byteLength(text), () => this.close('slow'));
    return taken.finally(giveBack);
  }
}

function idTooLong(): Refusal {
  return refuse('VALIDATION_FAILED', {
    message: `The id of a subscription may have at most ${WEB_SOCKET.idCharactersMax} characters.`,
  });
}
