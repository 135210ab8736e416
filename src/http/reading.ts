/**
 * Which sockets are read in a turn of the event loop. What one read holds cannot be stopped midway: 2,500 tiny
 * requests, or 10,000 chunks of one byte. So few sockets of an address are read in one turn, and an address of which a
 * read took long leaves the loop to the others for as long again.
 */
import type { Socket } from 'node:net';
import type { Turns } from '../shares/turns.js';

/** Of the sockets of one address that are to be read again, so many begin in one turn. */
const READ_IN_TURN_MAX = 8;

/** New connections wait for one another no longer than this before they are read. */
const ACCEPTING_MAX_MS = 100;

/** An address of which a read took long rests for at most this. */
const REST_MAX_MS = 200;

export interface ReadSocket {
  readonly socket: Socket;
  readonly address: string;
}

export interface Reading<S extends ReadSocket> {
  /** Begins to read a socket that was accepted just now. */
  add(one: S): void;
  /** From now on it is read as it comes. */
  remove(one: S): void;
  /** Reads nothing more of an address in this turn, and for as long again. */
  rest(address: string): void;
  /** Stops what may not be read any more. */
  pause(address: string): void;
  /** Reads on where that may be. */
  resume(one: S): void;
  resumeAll(address: string): void;
}

export function readInTurn<S extends ReadSocket>(
  turns: Pick<Turns, 'shortenNext'>,
  mayBeRead: (one: S) => boolean,
): Reading<S> {
  const byAddress = new Map<string, Set<S>>();
  const resting = new Set<string>();
  const resuming = new Set<string>();
  const accepted = new Set<S>();
  const onResume = new Map<S, () => void>();
  let acceptedInTurn = false;
  let acceptingSinceMs = 0;

  const isHeld = (one: S) => accepted.has(one) || resting.has(one.address) || !mayBeRead(one);

  function add(one: S): void {
    const { socket, address } = one;
    const others = byAddress.get(address) ?? new Set<S>();
    byAddress.set(address, others.add(one));
    // Node itself reads on from the beginning of a connection, and from the end of each answer.
    const stopIfHeld = () => void (isHeld(one) && stopReading(socket));
    onResume.set(one, stopIfHeld);
    socket.on('resume', stopIfHeld);
    // libuv accepts one connection in each turn, in the order in which they came: while many come, turns must be short.
    turns.shortenNext();
    acceptedInTurn = true;
    if (accepted.add(one).size > 1) return;
    acceptingSinceMs = performance.now();
    setImmediate(readWhenAllAreAccepted);
  }

  function readWhenAllAreAccepted(): void {
    if (acceptedInTurn && performance.now() - acceptingSinceMs < ACCEPTING_MAX_MS) {
      acceptedInTurn = false;
      return void setImmediate(readWhenAllAreAccepted);
    }
    const addresses = new Set([...accepted].map(({ address }) => address));
    accepted.clear();
    for (const address of addresses) resumeAll(address);
  }

  function remove(one: S): void {
    const stopIfHeld = onResume.get(one);
    onResume.delete(one);
    if (stopIfHeld) one.socket.off('resume', stopIfHeld);
    accepted.delete(one);
    const others = byAddress.get(one.address);
    others?.delete(one);
    if (others?.size === 0) byAddress.delete(one.address);
  }

  function rest(address: string): void {
    if (resting.has(address)) return;
    resting.add(address);
    pause(address);
    const sinceMs = performance.now();
    const readAgain = () => {
      resting.delete(address);
      resumeAll(address);
    };
    setImmediate(() => {
      const tookMs = performance.now() - sinceMs;
      if (tookMs < 1) readAgain();
      else setTimeout(readAgain, Math.min(tookMs, REST_MAX_MS));
    });
  }

  function pause(address: string): void {
    for (const one of byAddress.get(address) ?? []) if (isHeld(one)) one.socket.pause();
  }

  function resume(one: S): void {
    if (one.socket.isPaused() && !isHeld(one)) one.socket.resume();
  }

  function resumeAll(address: string): void {
    const all = byAddress.get(address);
    if (!all || resuming.has(address)) return;
    const next = [...all].filter((one) => one.socket.isPaused() && !isHeld(one)).slice(0, READ_IN_TURN_MAX);
    for (const one of next) {
      one.socket.resume();
      // Whoever was read goes to the end.
      all.delete(one);
      all.add(one);
    }
    if (next.length < READ_IN_TURN_MAX) return;
    resuming.add(address);
    setImmediate(() => {
      resuming.delete(address);
      resumeAll(address);
    });
  }

  return { add, remove, rest, pause, resume, resumeAll };
}

function stopReading(socket: Socket): void {
  // What was paused between its call of `resume` and the event is not paused anew, and yet it is being read.
  if (socket.isPaused()) socket.emit('pause');
  else socket.pause();
}
