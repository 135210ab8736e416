/**
 * When sockets are read. One read of 64 KB may hold 3,600 tiny requests, or 10,000 chunks of one byte, and Node's
 * parser cannot be stopped in the middle of what it is given. So it is given what was read in small pieces. Once the
 * pieces of one turn of the event loop have taken long, the others wait for later turns, in which network addresses are
 * served in rotation.
 */
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Turns } from '../shares/turns.js';
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

/** New connections wait for one another no longer than this before they are read. */
const ACCEPTING_MAX_MS = 100;
/** Then those that wait are read for so long, however many more come. */
const READING_MS = 20;

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
  turns: Pick<Turns, 'shortenNext'>,
  mayBeRead: (one: S) => boolean,
  isIdle: (one: S) => boolean,
): Reading<S> {
  const byAddress = new Map<string, Set<S>>();
  /** Sockets that wait to be read: those that have sent little, and those of which more than one piece waits. */
  const short = new Rotation<S>();
  const long = new Rotation<S>();
  let isLongFirst = false;
  const accepted = new Set<S>();
  /** Those whose callers have hung up. */
  const ended = new Set<S>();
  const onRemove = new Map<S, () => void>();
  let isAccepting = false;
  let acceptedInTurn = false;
  let acceptingSinceMs = 0;
  /** Until then sockets that wait are read although connections are being accepted. */
  let readingUntilMs = 0;
  /** When the first piece of this turn was given to the parser. */
  let readSinceMs: number | undefined;
  let isTurnAwaited = false;

  const isHeld = (one: S) => accepted.has(one) || !mayBeRead(one);
  const isTurnSpent = () => readSinceMs !== undefined && performance.now() - readSinceMs > READ_MS;

  function add(one: S): void {
    const { socket, address } = one;
    const others = byAddress.get(address) ?? new Set<S>();
    byAddress.set(address, others.add(one));
    // Node itself reads on from the beginning of a connection, and from the end of each answer.
    const onResume = () => {
      const held = isHeld(one);
      const waits = !held && isTurnSpent();
      if (waits) enterLine(one, socket.readableLength);
      else leaveLine(one);
      if (held || waits) stopReading(socket);
      else if (socket.readableLength > 0) beginPieces();
    };
    socket.on('resume', onResume);
    const endCutting = cutReads(one);
    onRemove.set(one, () => {
      socket.off('resume', onResume);
      endCutting();
    });
    // libuv accepts one connection in each turn, in the order in which they came: while many come, turns must be short.
    turns.shortenNext();
    acceptedInTurn = true;
    // The first is read at once: others may not come.
    if (isAccepting) return void accepted.add(one);
    isAccepting = true;
    acceptingSinceMs = performance.now();
    setImmediate(readWhenAllAreAccepted);
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
    if (!held) enterLine(one, bytesLeft);
    one.socket.pause();
  }

  /** Whoever waits already keeps their place; a socket that was removed would wait for ever. */
  function enterLine(one: S, bytesLeft: number): void {
    if (!onRemove.has(one) || long.has(one) || short.has(one)) return;
    (bytesLeft > PIECE_BYTES ? long : short).enter(one);
    awaitTurn();
  }

  function leaveLine(one: S): void {
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
    endSome();
    if (isAccepting && performance.now() > readingUntilMs) return awaitTurn();
    // A short request need not wait for the pieces of the long, and the long are not passed over for ever.
    isLongFirst = !isLongFirst;
    for (const line of isLongFirst ? [long, short] : [short, long]) {
      for (const one of line.next(READ_IN_TURN_MAX, READ_OF_ADDRESS_MAX)) {
        // Whoever is held again is asked anew by `resume`.
        if (isHeld(one)) leaveLine(one);
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

  function readWhenAllAreAccepted(): void {
    if (acceptedInTurn && performance.now() - acceptingSinceMs < ACCEPTING_MAX_MS) {
      acceptedInTurn = false;
      return void setImmediate(readWhenAllAreAccepted);
    }
    isAccepting = false;
    readingUntilMs = performance.now() + READING_MS;
    const all = [...accepted];
    accepted.clear();
    for (const one of all) resume(one);
  }

  function remove(one: S): void {
    onRemove.get(one)?.();
    onRemove.delete(one);
    accepted.delete(one);
    if (ended.delete(one) && !one.socket.destroyed) tellOfEnd(one.socket);
    leaveLine(one);
    const others = byAddress.get(one.address);
    others?.delete(one);
    if (others?.size === 0) byAddress.delete(one.address);
  }

  function pauseAll(address: string): void {
    for (const one of byAddress.get(address) ?? []) if (isHeld(one)) one.socket.pause();
  }

  function resume(one: S): void {
    if (one.socket.isPaused() && !isHeld(one)) enterLine(one, one.socket.readableLength);
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
