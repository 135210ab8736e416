/**
 * The starting point of a row's attackers: addresses that no other row uses, accounts with unused rate limits, and
 * jobs.
 */
import { WEBHOOKS as LIMITS } from '../../../../src/market/rules/market-limits.js';
import type { Market } from '../../../../src/market/store/seed/seed.js';
import { seededId } from '../../../bench/market/market.js';
import { crowdedJob } from '../../../bench/market/uneven-market.js';
import type { Attack } from './attack.js';
import { httpCall } from './http-call.js';
import type { People, Person } from './people.js';
import { idIn } from './victim.js';

export type Who = 'anonymous' | 'one account' | 'a few accounts' | '600 accounts';

export interface Row {
  readonly name: string;
  readonly who: Who;
  /** The original finding that it repeats, from a server without fair quotas. */
  readonly finding?: number;
  /** Longer than the others, if the harm takes time. */
  readonly forMs?: number;
  /** True for a finding about connections, which HAProxy handles. */
  readonly isOfConnections?: true;
  /** True if its work continues after the attackers leave. Such rows come last. */
  readonly hashesOn?: true;
  attacks(ground: Ground): readonly Attack[] | Promise<readonly Attack[]>;
}

export interface Ground {
  readonly people: People;
  /** The row's number. */
  readonly row: number;
  readonly victimEmail: string;
  /** One of the victim's open jobs. */
  readonly victimJobId: string;
  /** An open job with a thousand bids. */
  readonly crowdedJobId: string;
  /** This many addresses that only this row uses. */
  addresses(count: number): string[];
  /** A homeowner with this many drafts of 60 KB each. */
  homeownerWithLongDrafts(count: number): Promise<Person>;
  /** Creates a draft that belongs to this homeowner. */
  draftOf(owner: Person): Promise<string>;
  /** A homeowner whose five webhooks point back at the server. */
  homeownerWithWebhooksTo(path: string): Promise<Person>;
  /** A cursor for a job's list. */
  cursorIn(list: 'bids' | 'timeline'): Promise<string>;
}

export const attackersAddress = (row: number) => `127.1.${row}.1`;
export const victimsAddress = (row: number) => `127.2.${row}.1`;

/** Three-byte characters, as many as the fields allow. */
const LONG_TEXT = '€'.repeat(10_000);
const PREPARED_AT_ONCE = 10;

export function createGround(
  port: number,
  market: Market,
  people: People,
  row: number,
  victim: { email: string; jobId: string },
): Ground {
  const create = (owner: Person, body: object) =>
    httpCall({ port, address: `127.3.${row}.1`, method: 'POST', path: '/v1/jobs', token: owner.token, body });
  const crowdedJobId = seededId('job', crowdedJob(market));
  return {
    people,
    row,
    victimEmail: victim.email,
    victimJobId: victim.jobId,
    crowdedJobId,
    addresses: (count) =>
      Array.from({ length: count }, (_, at) => `127.${10 + row}.${Math.floor(at / 250)}.${1 + (at % 250)}`),
    homeownerWithLongDrafts: async (count) => {
      const owner = people.homeowner();
      for (let made = 0; made < count; made += PREPARED_AT_ONCE) {
        const body = { title: 'A long story', description: LONG_TEXT, requirements: LONG_TEXT };
        const batch = Array.from({ length: Math.min(PREPARED_AT_ONCE, count - made) }, () => create(owner, body));
        for (const answer of await Promise.all(batch)) idIn(answer, 201);
      }
      return owner;
    },
    homeownerWithWebhooksTo: async (path) => {
      const owner = people.homeowner();
      const body = { url: `http://127.0.0.1:${port}${path}` };
      for (let made = 0; made < LIMITS.endpointsPerPerson; made += 1)
        await httpCall({
          port,
          address: `127.3.${row}.1`,
          method: 'POST',
          path: '/v1/webhooks',
          token: owner.token,
          body,
        });
      return owner;
    },
    draftOf: async (owner) => idIn(await create(owner, { title: 'A draft', description: 'It drips.' }), 201),
    cursorIn: async (list) => {
      const query = `{ job(id: "${crowdedJobId}") { ${list}(first: 1) { edges { cursor } } } }`;
      const { text } = await httpCall({
        port,
        method: 'POST',
        path: '/graphql',
        token: people.ownerOfCrowdedJob.token,
        body: { query },
      });
      const cursor = /"cursor":"([^"]+)"/.exec(text)?.[1];
      if (cursor === undefined) throw new Error(`No cursor of ${list} could be had: ${text}`);
      return cursor;
    },
  };
}
