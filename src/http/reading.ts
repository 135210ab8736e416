/**
 * When sockets are read. One read of 64 KB may hold 3,600 tiny requests, or 10,000 chunks of one byte, and Node's parser
 * cannot be stopped in the middle of what it is given. So it is given what was read in small pieces. Once the pieces of
 * one turn of the event loop have taken long, the others wait for later turns, in which network addresses are served in
 * rotation.
 */
import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import type { Turns } from '../shares/turns.js';

/** Most requests fit into one; it holds at most 57 tiny ones. */
const PIECE_BYTES = 1_024;

/** So long the pieces of one turn may take, and one more piece. */
const READ_MS = 5;

/** Of the sockets that wait, so many are read again in one turn, and so many of them for one address. */
const READ_IN_TURN_MAX = 64;
const READ_OF_ADDRESS_MAX = 8;

const { on: onEvent }: EventEmitter = Socket.prototype;

/** New connections wait for one another no longer than this before they are read. */
const ACCEPTING_MAX_MS = 100;

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
): Reading<S> {
  const byAddress = new Map<string, Set<S>>();
  /** What waits to be read, by address. Each address that was served goes to the end. */
  const waiting = new Map<string, Set<S>>();
  const accepted = new Set<S>();
  const onRemove = new Map<S, () => void>();
  let acceptedInTurn = false;
  let acceptingSinceMs = 0;
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
      if (!isHeld(one) && !isTurnSpent()) return leaveLine(one);
      if (isHeld(one)) leaveLine(one);
      else enterLine(one);
      stopReading(socket);
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
    if (accepted.add(one).size > 1) return;
    acceptingSinceMs = performance.now();
    setImmediate(readWhenAllAreAccepted);
  }

  /** Returned is how to leave the socket to somebody else. */
  function cutReads(one: S): () => void {
    const { socket } = one;
    const push = socket.push.bind(socket);
    socket.push = (read: Buffer | null) => {
      if (read === null) return push(read);
      readSinceMs ??= performance.now();
      awaitTurn();
      let takesMore = true;
      for (let at = 0; at < read.length; at += PIECE_BYTES) {
        // The socket keeps what comes while it is paused.
        pauseIfDue(one);
        takesMore = push(read.subarray(at, at + PIECE_BYTES));
      }
      return takesMore;
    };
    // Of what it has kept, one piece after the other. With the socket's own `on` Node would forget how it is paused.
    const pauseBetween = () => {
      if (socket.readableLength > 0) pauseIfDue(one);
    };
    onEvent.call(socket, 'data', pauseBetween);
    return () => {
      socket.push = push;
      socket.off('data', pauseBetween);
    };
  }

  /** Before each piece, since at the end of each request that it reads Node resumes the socket. */
  function pauseIfDue(one: S): void {
    const held = isHeld(one);
    if (one.socket.isPaused() || !(held || isTurnSpent())) return;
    if (!held) enterLine(one);
    one.socket.pause();
  }

  function enterLine(one: S): void {
    const line = waiting.get(one.address) ?? new Set<S>();
    waiting.set(one.address, line.add(one));
    awaitTurn();
  }

  function leaveLine(one: S): void {
    const line = waiting.get(one.address);
    if (!line?.delete(one)) return;
    waiting.delete(one.address);
    if (line.size > 0) waiting.set(one.address, line);
  }

  function awaitTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(beginTurn);
  }

  function beginTurn(): void {
    isTurnAwaited = false;
    readSinceMs = undefined;
    for (const one of nextInLine()) {
      // Whoever is held again is asked anew by `resume`.
      if (isHeld(one)) leaveLine(one);
      else one.socket.resume();
    }
    if (waiting.size > 0) awaitTurn();
  }

  function nextInLine(): S[] {
    const next: S[] = [];
    for (const line of waiting.values()) {
      let ofAddress = 0;
      for (const one of line) {
        if (ofAddress === READ_OF_ADDRESS_MAX) break;
        if (next.push(one) === READ_IN_TURN_MAX) return next;
        ofAddress += 1;
      }
    }
    return next;
  }

  function readWhenAllAreAccepted(): void {
    if (acceptedInTurn && performance.now() - acceptingSinceMs < ACCEPTING_MAX_MS) {
      acceptedInTurn = false;
      return void setImmediate(readWhenAllAreAccepted);
    }
    const all = [...accepted];
    accepted.clear();
    for (const one of all) resume(one);
  }

  function remove(one: S): void {
    onRemove.get(one)?.();
    onRemove.delete(one);
    accepted.delete(one);
    leaveLine(one);
    const others = byAddress.get(one.address);
    others?.delete(one);
    if (others?.size === 0) byAddress.delete(one.address);
  }

  function pauseAll(address: string): void {
    for (const one of byAddress.get(address) ?? []) if (isHeld(one)) one.socket.pause();
  }

  function resume(one: S): void {
    if (one.socket.isPaused() && !isHeld(one)) enterLine(one);
  }

  function resumeAll(address: string): void {
    for (const one of byAddress.get(address) ?? []) resume(one);
  }

  return { add, remove, pauseAll, resume, resumeAll };
}

function stopReading(socket: Socket): void {
  // What was paused between its call of `resume` and the event is not paused anew, and yet it is being read.
  if (socket.isPaused()) socket.emit('pause');
  else socket.pause();
}
