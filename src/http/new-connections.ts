/**
 * Node accepts one connection in each turn of the event loop, and at once makes a socket and a parser for it, which
 * takes three times as long as accepting it: a client whose connection is behind a thousand others waits for all of
 * that. So this module accepts connections before it makes sockets for them, and makes the sockets for network
 * addresses in rotation. Connections whose clients have left already, or that exceed the share of their address within
 * a second, are closed instead.
 */
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Shares } from '../shares/shares.js';
import { Rotation } from './rotation.js';

/** How long a connection counts as new, however soon it closes. */
const NEW_MS = 1_000;

/** The longest time for which connections are accepted while all other work waits. */
const ACCEPTING_MAX_MS = 40;
/** How long sockets are made for connections after that. */
const MAKING_MS = 5;
/** How long all other work goes on before connections are accepted again. */
const OTHERS_MS = 10;

/** How many connections may wait for their sockets; beyond that, one socket is made for each that is accepted. */
const WAITING_MAX = 1_000;

interface ClientHandle {
  /** Fills in the address; does not return 0 where the client has left. */
  getpeername(name: { address?: string }): number;
  close(): void;
}

/** Node has no public API for an accepted connection without a socket. */
interface ListeningServer extends Server {
  readonly _handle?: { onconnection(error: number, client: ClientHandle | undefined): void } | null;
}

interface Accepted {
  readonly address: string;
  makeSocket(): void;
}

export interface NewConnections {
  /** False while connections are being accepted, for a bounded time: then no socket is read and no request is begun. */
  mayOthersGoOn(): boolean;
  /**
   * Accepts all connections in the accept queue before any other work, for so long at most, and makes their sockets.
   */
  acceptAll(withinMs: number): Promise<void>;
}

export function acceptInTurn(
  server: ListeningServer,
  shares: Pick<Shares, 'newConnections' | 'turns' | 'streamTurns'>,
  identityOf: (address: string) => string,
): NewConnections {
  const waiting = new Rotation<Accepted>();
  let accepted = 0;
  let acceptsOnly = false;
  let hasAccepted = false;
  let isTurnAwaited = false;
  let acceptingSinceMs = 0;
  let othersUntilMs = 0;

  for (const turns of [shares.turns, shares.streamTurns]) turns.onlyWhile(mayOthersGoOn);
  server.once('listening', () => {
    const { _handle: handle } = server;
    if (!handle) return;
    const { onconnection } = handle;
    handle.onconnection = (error, client) => {
      if (!client) return onconnection.call(handle, error, client);
      accepted += 1;
      const isFirst = noticeOne();
      const address = addressOf(client);
      if (address === undefined || !mayOpen(address)) return client.close();
      const one: Accepted = {
        address,
        makeSocket: () => {
          if (addressOf(client) === undefined) client.close();
          else onconnection.call(handle, error, client);
        },
      };
      // No other connection may follow.
      if (isFirst) one.makeSocket();
      else waiting.enter(one);
    };
  });

  /** Undefined where the client has left. */
  function addressOf(client: ClientHandle): string | undefined {
    const name: { address?: string } = {};
    return client.getpeername(name) === 0 && name.address !== undefined ? identityOf(name.address) : undefined;
  }

  function mayOpen(address: string): boolean {
    try {
      setTimeout(shares.newConnections.take({ address }), NEW_MS).unref();
      return true;
    } catch {
      return false;
    }
  }

  /** Whether it is the first for a while. */
  function noticeOne(): boolean {
    hasAccepted = true;
    if (isTurnAwaited) return false;
    awaitTurn();
    acceptingSinceMs = performance.now();
    return true;
  }

  function awaitTurn(): void {
    isTurnAwaited = true;
    setImmediate(beginTurn);
  }

  function beginTurn(): void {
    isTurnAwaited = false;
    const mayMoreCome = acceptsOnly || (hasAccepted && performance.now() - acceptingSinceMs < ACCEPTING_MAX_MS);
    hasAccepted = false;
    if (mayMoreCome) {
      makeSome(0, WAITING_MAX);
      return awaitTurn();
    }
    makeSome(MAKING_MS);
    acceptingSinceMs = performance.now();
    othersUntilMs = acceptingSinceMs + OTHERS_MS;
    if (!waiting.isEmpty) awaitTurn();
  }

  function mayOthersGoOn(): boolean {
    return !acceptsOnly && (!isTurnAwaited || performance.now() < othersUntilMs);
  }

  function makeSome(forMs: number, downTo = 0): void {
    const sinceMs = performance.now();
    while (waiting.size > downTo) {
      for (const next of waiting.next(1, 1)) {
        waiting.leave(next);
        next.makeSocket();
      }
      if (performance.now() - sinceMs > forMs) return;
    }
  }

  /**
   * The operating system queues connections, and Node accepts one of them in each turn of the event loop: after a whole
   * turn without any, the queue is empty. More may come while sockets are made.
   */
  async function acceptAll(withinMs: number): Promise<void> {
    const untilMs = performance.now() + withinMs;
    acceptsOnly = true;
    do {
      makeSome(Infinity);
      for (let before = -1; before < accepted && performance.now() < untilMs;) {
        before = accepted;
        await nextTurn(); // The rest of this turn,
        await nextTurn(); // and a whole one.
      }
    } while (!waiting.isEmpty && performance.now() < untilMs);
    makeSome(Infinity);
    acceptsOnly = false;
  }

  return { mayOthersGoOn, acceptAll };
}
