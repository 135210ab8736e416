/**
 * When sockets are read. One read of 64 KB may hold 3,600 tiny requests, or 10,000 chunks of one byte, and Node's
 * parser cannot be stopped in the middle of what it is given. So it is given what was read in small pieces. Once the
 * pieces of one turn of the event loop have taken long, the others wait for later turns, in which network addresses are
 * served in rotation. Hang-ups wait for turns likewise: to close thousands of sockets in one takes long, too.
 */
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import { Rotation } from './rotation.js';

/** Most requests fit into one; it holds at most 57 tiny ones. */
const PIECE_BYTES = 1_024;

/** So long the pieces of one turn may take, and one more piece. */
const READ_MS = 5;

/** So long the ends of one turn may take, and one more: to close a socket takes the system 20 µs. */
const END_MS = 1;

/** Of the sockets that wait, so many are read again in one turn, and so many of them for one address. */
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
  /** From now on it is read as it comes. */
  remove(one: S): void;
  /** Stops to read the sockets of an address that may not be read any more. */
  pauseAll(address: string): void;
  /** Reads on where that may be, in a later turn. */
  resume(one: S): void;
  resumeAll(address: string): void;
}

/**
 * Node's parser would take bytes from the operating system by itself, without `Socket.push`. It leaves that to sockets
 * whose handle somebody else reads, and there is no other way to tell it so.
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
  /** Sockets that wait to be read: those that have sent little, and those of which more than one piece waits. */
  const short = new Rotation<S>();
  const long = new Rotation<S>();
  let isLongFirst = false;
  /** Those whose callers have hung up. */
  const ended = new Set<S>();
  const onRemove = new Map<S, () => void>();
  /** When the first piece of this turn was given to the parser. */
  let readSinceMs: number | undefined;
  let isTurnAwaited = false;

  const isHeld = (one: S) => !mayBeRead(one);
  const isTurnSpent = () => readSinceMs !== undefined && performance.now() - readSinceMs > READ_MS;

  function add(one: S): void {
    const { socket, address } = one;
    const others = byAddress.get(address) ?? new Set<S>();
    byAddress.set(address, others.add(one));
    // Node itself reads on from the beginning of a connection, and from the end of each answer.
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

  /** Returned is how to leave the socket to somebody else. */
  function cutReads(one: S): () => void {
    const { socket } = one;
    socket.push = (read: Buffer | null) => {
      if (read === null) return endInTurn(one);
      beginPieces();
      let takesMore = true;
      for (let at = 0; at < read.length; at += PIECE_BYTES) {
        // The socket keeps what comes while it is paused. Of an upgrade the rest is for somebody else.
        if (onRemove.has(one)) pauseIfDue(one, read.length - at);
        takesMore = push.call(socket, read.subarray(at, at + PIECE_BYTES));
      }
      return takesMore;
    };
    // Of what it has kept, one piece after the other. With the socket's own `on` Node would forget how it is paused.
    const pauseBetween = () => {
      if (socket.readableLength > 0) pauseIfDue(one, socket.readableLength);
    };
    onEvent.call(socket, 'data', pauseBetween);
    return () => {
      delete (socket as Partial<Socket>).push;
      socket.off('data', pauseBetween);
    };
  }

  /** Before each piece, since at the end of each request that it reads Node resumes the socket. */
  function pauseIfDue(one: S, bytesLeft: number): void {
    const held = isHeld(one);
    if (one.socket.isPaused() || !(held || isTurnSpent())) return;
    if (!held) waitForTurn(one, bytesLeft);
    one.socket.pause();
  }

  /** Whoever waits already keeps their place; a socket that was removed would wait for ever. */
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

  /** Where nothing is under way there is nobody to tell: Node would do as much, for twice the time. */
  function end(one: S): void {
    const { socket } = one;
    if (isIdle(one)) return void socket.destroy();
    tellOfEnd(socket);
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
    // A short request need not wait for the pieces of the long, and the long are not passed over for ever.
    isLongFirst = !isLongFirst;
    for (const waiting of isLongFirst ? [long, short] : [short, long]) {
      for (const one of waiting.next(READ_IN_TURN_MAX, READ_OF_ADDRESS_MAX)) {
        // Whoever is held again is asked anew by `resume`.
        if (isHeld(one)) stopWaiting(one);
        else if (keepsEnough(one)) short.toEnd(one);
        else one.socket.resume();
      }
    }
    if (!short.isEmpty || !long.isEmpty) awaitTurn();
  }

  /** Of one address so few sockets keep what they have read that all of them together keep little. */
  function keepsEnough({ socket, address }: S): boolean {
    return socket.readableLength === 0 && long.countOf(address) >= READ_OF_ADDRESS_MAX;
  }

  function remove(one: S): void {
    onRemove.get(one)?.();
    onRemove.delete(one);
    if (ended.delete(one) && !one.socket.destroyed) tellOfEnd(one.socket);
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

function tellOfEnd(socket: Socket): void {
  push.call(socket, null);
  socket.read(0);
}

function stopReading(socket: Socket): void {
  // What was paused between its call of `resume` and the event is not paused anew, and yet it is being read.
  if (socket.isPaused()) socket.emit('pause');
  else socket.pause();
}
