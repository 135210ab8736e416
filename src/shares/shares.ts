/** All shares, made once at start from the table in `rules/limits.ts` and the configuration. */
import type { ShareName } from '../rules/limits.js';
import type { ShareTable } from './configured.js';
import { createShare, type GiveBack, type Holder, type Share, type ShareEvents } from './share.js';
import { createTurns, type Turns } from './turns.js';

/** Longer than a client of the health checks waits for an answer. */
const OPERATOR_WAIT_MS = 60_000;

/** Longer than any stream waits: none of its events is to be refused. */
const STREAM_WAIT_MS = 3_600_000;

export interface Shares {
  readonly limits: ShareTable;
  readonly events: ShareEvents;
  readonly connections: Share;
  readonly newConnections: Share;
  readonly requestsAhead: Share;
  readonly webSockets: Share;
  readonly streams: Share;
  readonly requests: Share;
  readonly turns: Turns;
  /** For the operator's calls, which are never refused: addresses take turns without a limit. */
  readonly operatorTurns: Turns;
  /** For events on streams, at most one for each stream: each waits until it can be sent. */
  readonly streamTurns: Turns;
  readonly unreadBytes: Share;
}

export function createShares(limits: ShareTable, events: ShareEvents, turnWaitMs?: number): Shares {
  const settings = (name: ShareName) => ({ name, limits: limits[name], events });
  return {
    limits,
    events,
    connections: createShare(settings('connections')),
    newConnections: createShare(settings('newConnections')),
    // Pipelined requests are never refused: above the limit the socket is not read.
    requestsAhead: createShare({ ...settings('requestsAhead'), limits: { of: limits.requestsAhead.of } }),
    webSockets: createShare(settings('webSockets')),
    streams: createShare(settings('streams')),
    requests: createShare(settings('requests')),
    turns: createTurns(settings('turns'), turnWaitMs),
    operatorTurns: createTurns({ ...settings('turns'), limits: { of: limits.turns.of } }, OPERATOR_WAIT_MS),
    streamTurns: createTurns({ ...settings('turns'), limits: { of: limits.turns.of } }, STREAM_WAIT_MS),
    // Above the total, the largest holder is cut instead of the one that came last.
    unreadBytes: createShare({ ...settings('unreadBytes'), limits: { ...limits.unreadBytes, total: undefined } }),
  };
}

/** A request under way counts for its address, and also for its user once that is known. */
export class RequestUnderWay {
  #giveBack: GiveBack;
  #isOver = false;

  constructor(
    private readonly requests: Share,
    readonly holder: Holder,
  ) {
    this.#giveBack = requests.take(holder);
  }

  /** Throws a refusal if the user has more requests under way than they may. */
  identify(user: string): void {
    if (this.holder.user === user || this.#isOver) return;
    this.#giveBack();
    this.holder.user = user;
    this.#giveBack = this.requests.take(this.holder);
  }

  end(): void {
    this.#isOver = true;
    this.#giveBack();
  }
}
