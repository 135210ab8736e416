/** All quotas, created at startup from `caller-limits.ts` and the configuration. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HEAVY_READ, STREAM, type QuotaName } from '../caller-limits.js';
import type { QuotaTable } from './quota-table.js';
import { createFairQueue, type FairQueue } from './fair-queue.js';
import { createQuota, type Release, type Client, type Quota, type QuotaEvents } from './quota.js';

export interface Quotas {
  readonly limits: QuotaTable;
  readonly events: QuotaEvents;
  readonly connections: Quota;
  readonly webSockets: Quota;
  readonly streams: Quota;
  readonly requests: Quota;
  readonly heavyReads: FairQueue;
  /** Sends one stream event per turn of the event loop, so a stream that is far behind doesn't delay other work. */
  readonly streamEvents: FairQueue;
  readonly unreadBytes: Quota;
  /** Changes the limits that variables set (see quota-table.ts). */
  changeLimits(limits: QuotaTable): void;
}

export function createQuotas(limits: QuotaTable, events: QuotaEvents): Quotas {
  const settings = (name: QuotaName) => ({ name, limits: limits[name], events });
  const changeable = {
    webSockets: createQuota(settings('webSockets')),
    streams: createQuota(settings('streams')),
    requests: createQuota(settings('requests')),
  };
  return {
    limits,
    events,
    ...changeable,
    connections: createQuota(settings('connections')),
    heavyReads: createFairQueue({ ...settings('heavyReads'), slots: 1, waitMs: HEAVY_READ.waitMs }),
    // Never refuses an event, because each stream has at most one waiting.
    streamEvents: createFairQueue({
      ...settings('streams'),
      limits: { of: 'events' },
      slots: 1,
      waitMs: STREAM.eventWaitMs,
    }),
    // Above the total, cuts off the client with the most bytes instead of the latest one.
    unreadBytes: createQuota({ ...settings('unreadBytes'), limits: { ...limits.unreadBytes, total: undefined } }),
    changeLimits: (next) => {
      for (const name of ['webSockets', 'streams', 'requests'] as const) changeable[name].changeLimits(next[name]);
    },
  };
}

/** Between two turns, the event loop handles all other pending work. */
export function waitForSlot(queue: FairQueue, client: Client): Promise<void> {
  return new Promise((begin, refuse) => {
    const work = async () => {
      begin();
      await nextTurn();
    };
    queue.run(client, work).catch(refuse);
  });
}

/** A request in progress. Counts against its address, and its user once they're known. */
export class RequestUnderWay {
  #release: Release;
  #isOver = false;

  constructor(
    private readonly requests: Quota,
    readonly client: Client,
  ) {
    this.#release = requests.take(client);
  }

  /** Throws a refusal if the user has too many requests in progress. */
  identify(user: string): void {
    if (this.client.user === user) return;
    if (!this.#isOver) this.#release();
    this.client.user = user;
    if (!this.#isOver) this.#release = this.requests.take(this.client);
  }

  end(): void {
    this.#isOver = true;
    this.#release();
  }
}
