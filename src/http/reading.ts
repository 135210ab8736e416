/**
 * Decides when sockets are read. One read of 64 KB may hold 3,600 tiny requests, or 10,000 chunks of one byte, and
 * Node's parser cannot be stopped in the middle of a buffer. So the parser gets it in small pieces. Once the pieces of
 * one turn of the event loop have taken long, the others wait for later turns, in which network addresses are served in
 * rotation. Ends of connections wait for turns likewise, since closing thousands of sockets in one turn takes long,
 * too.
 */
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import { Rotation } from './rotation.js';

/** Most requests fit into one; it holds at most 57 tiny ones. */
const PIECE_BYTES = 1_024;

/** The pieces of one turn may take so long, and one piece longer. */
const READ_MS = 5;

/**
 * The ends of connections in one turn may take so long, and one end longer: closing a socket takes the system 20 µs.
 */
const END_MS = 1;

/** In one turn so many of the waiting sockets are resumed, and so many of them for one address. */
const READ_IN_TURN_MAX = 64;
const READ_OF_ADDRESS_MAX = 8;

const { on: onEvent }: EventEmitter = Socket.prototype;
const { push } = Socket.prototype;

export interface ReadSocket {
  readonly socket: Socket;
  readonly address: string;
}

export interface Reading<S extends ReadSocket> {
  /** Begins to read a socket that was accepted just now. */
  add(one: S): void;
  /** From now on the socket is read without limit. */
  remove(one: S): void;
  /** Stops reading the sockets of an address that has reached its limit. */
  pauseAll(address: string): void;
  /** Reads on in a later turn, where the socket may be read. */
  resume(one: S): void;
  resumeAll(address: string): void;
}

/**
 * Node's parser would read from the operating system by itself, without `Socket.push`. It does not where other code
 * reads the socket's handle, and there is no other way to switch that off.
 */
export function leaveReadingToSockets(server: Server): void {
  server.prependListener('connection', (socket: Socket & { readonly _handle?: { _consumed?: boolean } | null }) => {
    if (socket._handle) socket._handle._consumed = true;
  });
}

export function readInTurn<S extends ReadSocket>(
  mayBeRead: (one: S) => boolean,
  isIdle: (one: S) => boolean,
  mayOthersGoOn: () => boolean,
): Reading<S> {
  const byAddress = new Map<string, Set<S>>();
  /** Sockets that wait to be read: those with one piece or less, and those with more. */
  const short = new Rotation<S>();
  const long = new Rotation<S>();
  let isLongFirst = false;
  /** Those whose clients have closed the connection. */
  const ended = new Set<S>();
  const onRemove = new Map<S, () => void>();
  /** When the parser got the first piece of this turn. */
  let readSinceMs: number | undefined;
  let isTurnAwaited = false;

  const isHeld = (one: S) => !mayBeRead(one);
  const isTurnSpent = () => readSinceMs !== undefined && performance.now() - readSinceMs > READ_MS;

  function add(one: S): void {
    const { socket, address } = one;
    const others = byAddress.get(address) ?? new Set<S>();
    byAddress.set(address, others.add(one));
    // Node resumes the socket at the beginning of a connection, and at the end of each answer.
    const onResume = () => {
      const held = isHeld(one);
      const waits = !held && isTurnSpent();
      if (waits) waitForTurn(one, socket.readableLength);
      else stopWaiting(one);
      if (held || waits) stopReading(socket);
      else if (socket.readableLength > 0) beginPieces();
    };
    socket.on('resume', onResume);
    const endCutting = cutReads(one);
    onRemove.set(one, () => {
      socket.off('resume', onResume);
      endCutting();
    });
  }

  /** Returns a function that hands the socket over to other code. */
  function cutReads(one: S): () => void {
    const { socket } = one;
    socket.push = (read: Buffer | null) => {
      if (read === null) return endInTurn(one);
      beginPieces();
      let takesMore = true;
      for (let at = 0; at < read.length; at += PIECE_BYTES) {
        // The socket buffers what arrives while it is paused. After an upgrade the rest is for the code that took it
        // over.
        if (onRemove.has(one)) pauseIfDue(one, read.length - at);
        takesMore = push.call(socket, read.subarray(at, at + PIECE_BYTES));
      }
      return takesMore;
    };
    // Reads the buffered bytes piece by piece. With the socket's own `on` Node would lose track of the pause.
    const pauseBetween = () => {
      if (socket.readableLength > 0) pauseIfDue(one, socket.readableLength);
    };
    onEvent.call(socket, 'data', pauseBetween);
    return () => {
      delete (socket as Partial<Socket>).push;
      socket.off('data', pauseBetween);
    };
  }

  /** Called before each piece, since Node resumes the socket at the end of each request that it reads. */
  function pauseIfDue(one: S, bytesLeft: number): void {
    const held = isHeld(one);
    if (one.socket.isPaused() || !(held || isTurnSpent())) return;
    if (!held) waitForTurn(one, bytesLeft);
    one.socket.pause();
  }

  /** A socket that waits already keeps its place; one that was removed must not wait, since it would wait for ever. */
  function waitForTurn(one: S, bytesLeft: number): void {
    if (!onRemove.has(one) || long.has(one) || short.has(one)) return;
    (bytesLeft > PIECE_BYTES ? long : short).enter(one);
    awaitTurn();
  }

  function stopWaiting(one: S): void {
    short.leave(one);
    long.leave(one);
  }

  function endInTurn(one: S): false {
    ended.add(one);
    awaitTurn();
    return false;
  }

  function endSome(): void {
    const sinceMs = performance.now();
    for (const one of ended) {
      ended.delete(one);
      end(one);
      if (performance.now() - sinceMs > END_MS) break;
    }
    if (ended.size > 0) awaitTurn();
  }

  /** An idle socket is simply destroyed: Node would do the same, in twice the time. */
  function end(one: S): void {
    const { socket } = one;
    if (isIdle(one)) return void socket.destroy();
    pushEnd(socket);
  }

  function beginPieces(): void {
    readSinceMs ??= performance.now();
    awaitTurn();
  }

  function awaitTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(beginTurn);
  }

  function beginTurn(): void {
    isTurnAwaited = false;
    readSinceMs = undefined;
    if (!mayOthersGoOn()) return awaitTurn();
    endSome();
    // The two queues alternate: short requests do not wait for all pieces of long ones, and long ones get their turn.
    isLongFirst = !isLongFirst;
    for (const waiting of isLongFirst ? [long, short] : [short, long]) {
      for (const one of waiting.next(READ_IN_TURN_MAX, READ_OF_ADDRESS_MAX)) {
        // `resume` looks again at a socket that may not be read now.
        if (isHeld(one)) stopWaiting(one);
        else if (keepsEnough(one)) short.toEnd(one);
        else one.socket.resume();
      }
    }
    if (!short.isEmpty || !long.isEmpty) awaitTurn();
  }

  /** Few sockets of one address may keep a full read buffer, so that their memory has a bound. */
  function keepsEnough({ socket, address }: S): boolean {
    return socket.readableLength === 0 && long.countOf(address) >= READ_OF_ADDRESS_MAX;
  }

  function remove(one: S): void {
    onRemove.get(one)?.();
    onRemove.delete(one);
    if (ended.delete(one) && !one.socket.destroyed) pushEnd(one.socket);
    stopWaiting(one);
    const others = byAddress.get(one.address);
    others?.delete(one);
    if (others?.size === 0) byAddress.delete(one.address);
  }

  function pauseAll(address: string): void {
    for (const one of byAddress.get(address) ?? []) if (isHeld(one)) one.socket.pause();
  }

  function resume(one: S): void {
    if (one.socket.isPaused() && !isHeld(one)) waitForTurn(one, one.socket.readableLength);
  }

  function resumeAll(address: string): void {
    for (const one of byAddress.get(address) ?? []) resume(one);
  }

  return { add, remove, pauseAll, resume, resumeAll };
}

function pushEnd(socket: Socket): void {
  push.call(socket, null);
  socket.read(0);
}

function stopReading(socket: Socket): void {
  // A socket that is paused between `resume` and its event does not emit 'pause' again, although it is read.
  if (socket.isPaused()) socket.emit('pause');
  else socket.pause();
}
