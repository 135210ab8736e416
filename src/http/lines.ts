/** How long a caller may take, and how many may be here at once. Whoever holds a line and does nothing with it makes room for the others. */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';

export interface Patience {
  /** Until the head of a request is here. */
  readonly headMs: number;
  /** Until the whole of it is. */
  readonly requestMs: number;
  /** Until an answer is taken, */
  readonly answerMs: number;
  /** and longer by what its length takes at this pace: two minutes for 2 MB. */
  readonly answerBytesPerMs: number;
  /** Between requests. */
  readonly idleMs: number;
  readonly linesMax: number;
  /** At the door. Beyond that everybody is turned away: it costs little, and so the line is soon gone. */
  readonly doorMs: number;
}

export const PATIENCE: Patience = { headMs: 10_000, requestMs: 30_000, answerMs: 30_000, answerBytesPerMs: 16, idleMs: 65_000, linesMax: 10_000, doorMs: 2_000 };

export function optionsOf({ headMs, requestMs, idleMs }: Patience): ServerOptions {
  return { headersTimeout: headMs, requestTimeout: requestMs, keepAliveTimeout: idleMs, connectionsCheckingInterval: Math.min(1_000, headMs / 2) };
}

/** Whoever comes when every line is taken is turned away, and idle lines are closed for those who come next. */
export function boundLines(server: Server, { linesMax }: Patience, onFull: () => void): void {
  server.maxConnections = linesMax;
  server.on('drop', () => {
    server.closeIdleConnections();
    onFull();
  });
}

/** An answer that nobody reads is kept in memory until it is taken: not for ever. Most are taken at once, by the system. */
export function boundTaking(response: ServerResponse, { answerMs, answerBytesPerMs }: Patience, onCut: () => void): void {
  // The moment when all of it has been handed to the line, whether the line has taken it or not.
  response.once('prefinish', () => {
    const waiting = response.writableLength;
    if (waiting === 0) return;
    const cut = setTimeout(() => {
      onCut();
      response.destroy();
    }, answerMs + waiting / answerBytesPerMs);
    response.once('close', () => clearTimeout(cut));
  });
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Under this a line carries the answer that was begun last. */
const LAST = Symbol('last answer');

/**
 * Requests that were sent one behind the other, without waiting, are answered one behind the other: each may count on what those before
 * it did. Whoever sends them so has a thousand requests here at once, and lets everybody else go before them.
 */
export function inTurn(answer: Answer): Answer {
  return (request, response) => {
    const line: { [LAST]?: ServerResponse } & IncomingMessage['socket'] = request.socket;
    const before = line[LAST];
    line[LAST] = response;
    if (!before || before.writableFinished) return answer(request, response);
    before.once('close', () =>
      whenOthersHaveGone(() => {
        if (!line.destroyed) answer(request, response);
      }),
    );
  };
}

const WAITING_AT_ONCE = 2;
const waiting: (() => void)[] = [];

/** A few in each turn of the event loop, between what else there is to do. */
function whenOthersHaveGone(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(letIn);
}

function letIn(): void {
  for (const work of waiting.splice(0, WAITING_AT_ONCE)) work();
  if (waiting.length > 0) setImmediate(letIn);
}
