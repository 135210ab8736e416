/** All that is shared, made once at start from the table in `rules/limits.ts` and the configuration. */
import type { ShareName } from '../rules/limits.js';
import type { ShareTable } from './configured.js';
import { createShare, type GiveBack, type Holder, type Share, type ShareEvents } from './share.js';
import { createTurns, type Turns } from './turns.js';

/** Longer than any who asks for the server's health waits for the answer. */
const OPERATOR_WAIT_MS = 60_000;

/** Longer than any stream waits: nothing of it is to be refused. */
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
  /** For what is never refused: addresses take turns, and nothing else bounds them. */
  readonly operatorTurns: Turns;
  /** For events on streams, of which there are no more than streams: each waits until it can be sent. */
  readonly streamTurns: Turns;
  readonly unreadBytes: Share;
}

export function createShares(limits: ShareTable, events: ShareEvents): Shares {
  const settings = (name: ShareName) => ({ name, limits: limits[name], events });
  return {
    limits,
    events,
    connections: createShare(settings('connections')),
    newConnections: createShare(settings('newConnections')),
    // Nothing of it is refused: what is too much is not read.
    requestsAhead: createShare({ ...settings('requestsAhead'), limits: { of: limits.requestsAhead.of } }),
    webSockets: createShare(settings('webSockets')),
    streams: createShare(settings('streams')),
    requests: createShare(settings('requests')),
    turns: createTurns(settings('turns')),
    operatorTurns: createTurns({ ...settings('turns'), limits: { of: limits.turns.of } }, OPERATOR_WAIT_MS),
    streamTurns: createTurns({ ...settings('turns'), limits: { of: limits.turns.of } }, STREAM_WAIT_MS),
    // Beyond the total it is not the one who comes last that is cut.
    unreadBytes: createShare({ ...settings('unreadBytes'), limits: { ...limits.unreadBytes, total: undefined } }),
  };
}

/** A request that is under way counts for its address, and from when its user is known for that user as well. */
export class RequestUnderWay {
  #giveBack: GiveBack;
  #isOver = false;

  constructor(
    private readonly requests: Share,
    readonly holder: Holder,
  ) {
    this.#giveBack = requests.take(holder);
  }

  /** Throws the refusal if this is more than the user may have under way. */
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
