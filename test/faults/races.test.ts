/**
 * Concurrent calls that can't all succeed. Each pair runs many rounds (RACE_ROUNDS), each on a new job. The first call
 * wins, the other one fails, and then the invariants of the whole database are checked. If a call reads before it
 * writes, a test puts each possible change in between.
 */
import type { TransactionSql } from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, contractor, homeowner, type Person as Member } from '../story/cast.js';
import { checkDatabase } from '../setup/database/checker.js';
import { waitingCalls } from '../setup/database/waiting-calls.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { openApis, type Apis, type Heard } from '../model/apis.js';
import type { Call, Api, Fields, Op } from '../model/market.js';
import { until } from '../platform/security/until.js';
import { chanceFrom, seedFrom } from '../setup/random/seed.js';

const chance = chanceFrom(seedFrom(process.env.RACE_SEED));

const ROUNDS = Number(process.env.RACE_ROUNDS ?? 8);
/** Each round has its own people, so concurrent rounds only share the server. */
const LANES = 8;

interface Lane {
  readonly owner: Member;
  readonly carl: Member;
  readonly cora: Member;
}

let app: TestApp;
let apis: Apis;
let ada: Member;
const lanes: Lane[] = [];
beforeAll(async () => {
  // One user gets a fifth of the connections, and five of a user's calls wait for the same row.
  app = await openTestApp({ DATABASE_POOL_SIZE: '25' }, { tokensLast: true });
  apis = openApis(app.url);
  ada = await admin(app);
  for (let at = 0; at < LANES; at += 1) {
    const lane = {
      owner: await homeowner(app, 'Hanna'),
      carl: await contractor(app, 'Carl'),
      cora: await contractor(app, 'Cora'),
    };
    lanes.push(lane);
    for (const rich of [lane.owner, lane.carl, lane.cora])
      await must(ada, 'adjustTokens', { body: { userId: rich.userId, amount: 100_000, reason: 'for many rounds' } });
  }
});
afterAll(async () => {
  apis.close();
  await app.close();
});

interface Target {
  job?: string;
  bid?: string;
  version?: number;
  body?: Fields;
}

function say(
  who: Member,
  op: Op,
  { body = {}, ...target }: Target,
  api: Api = chance() < 0.5 ? 'rest' : 'graphql',
): Promise<Heard> {
  // The APIs only use the person's token.
  const call: Call = { op, by: null, api, body, ...target };
  return apis.send(call, who.token);
}

async function must(who: Member, op: Op, target: Target = {}) {
  const heard = await say(who, op, target);
  if (heard.code !== null)
    throw new Error(`${who.name} could not ${op}: ${heard.code} ${JSON.stringify(heard.details)}`);
  return heard.data;
}

const DRAFT = {
  title: 'Sink',
  description: 'It drips',
  category: 'plumbing',
  urgency: 'standard',
  addressLine1: '1 Main',
  city: 'Austin',
  state: 'TX',
  budgetMin: 100,
};

const aDraft = async ({ owner }: Lane): Promise<string> => (await must(owner, 'createJob', { body: DRAFT })).id;
async function anOpenJob(lane: Lane): Promise<string> {
  const job = await aDraft(lane);
  await must(lane.owner, 'publishJob', { job });
  return job;
}
const aBid = async (who: Member, job: string, guaranteedView = true): Promise<string> =>
  (await must(who, 'submitBid', { job, body: { amount: 100, guaranteedView } })).id;
async function anAwardedJob(lane: Lane): Promise<string> {
  const job = await anOpenJob(lane);
  await must(lane.owner, 'awardJob', { job, body: { bidId: await aBid(lane.carl, job) } });
  return job;
}
async function aJobInReview(lane: Lane): Promise<string> {
  const job = await anAwardedJob(lane);
  await must(lane.carl, 'checkInJob', { job });
  await must(lane.carl, 'submitJobForReview', { job });
  return job;
}
async function aDisputedJob(lane: Lane): Promise<string> {
  const job = await aJobInReview(lane);
  await must(lane.owner, 'disputeJob', { job, body: { reason: 'It still drips' } });
  return job;
}

/** Gives someone exactly this many available tokens. */
async function withTokens(who: Member, tokens: number): Promise<void> {
  const { available } = await must(who, 'readTokens');
  if (available !== tokens)
    await must(ada, 'adjustTokens', {
      body: { userId: who.userId, amount: tokens - available, reason: 'for this round' },
    });
}

/**
 * A round of a race: how it starts, who runs, and how it may end. Outcomes are codes, in the runners' order.
 */
interface Race {
  /** The round's jobs. */
  given(lane: Lane): Promise<{ jobs: string[]; bids?: string[] }>;
  runners(lane: Lane, at: { job: string; jobs: string[]; bids: string[] }): (() => Promise<Heard>)[];
  /** Each way it may end, with the first job's state. */
  ends: readonly (readonly [outcomes: readonly string[], status: string])[];
  /** True if the runners' order doesn't affect the outcome. */
  alike?: boolean;
  also?(row: JobRow, outcomes: readonly string[]): void;
}

interface JobRow {
  status: string;
  version: number;
  urgency: string;
  bids: { status: string; hold: string | null }[];
  events: { type: string; actorId: string; data: Fields }[];
  refunds: number;
  credits: number;
}

async function rowOf(job: string): Promise<JobRow> {
  const [row] = await app.sql<[{ row: JobRow }]>`
    select json_build_object('status', j.status, 'version', j.version, 'urgency', j.urgency,
      'bids', (select coalesce(json_agg(json_build_object('status', b.status, 'hold', h.status)
        order by b.created_at, b.id), '[]') from bids b left join holds h on h.bid_id = b.id where b.job_id = j.id),
      'events', (select coalesce(json_agg(json_build_object('type', e.type, 'actorId', e.actor_id, 'data', e.data)
        order by e.sequence), '[]') from events e where e.job_id = j.id),
      'refunds', (select count(*) from token_transfers t where t.job_id = j.id and t.reason = 'publish_refund'),
      'credits', (select count(*) from events e where e.job_id = j.id and e.type = 'job.approved')) as row
    from jobs j where j.id = ${job}`;
  return typeof row?.row === 'string'
    ? JSON.parse(row.row)
    : (row?.row ?? { status: 'gone', version: 0, urgency: '', bids: [], events: [], refunds: 0, credits: 0 });
}

const typesOf = ({ events }: JobRow) => events.map(({ type }) => type);

const RACES: Record<string, Race> = {
  'a job published three times at once is charged once': {
    given: async (lane) => ({ jobs: [await aDraft(lane)] }),
    runners: ({ owner }, { job }) => [1, 2, 3].map(() => () => say(owner, 'publishJob', { job })),
    ends: [[['ok', 'INVALID_TRANSITION', 'INVALID_TRANSITION'], 'open']],
    alike: true,
  },
  'of two awards of different bids one is made': {
    given: async (lane) => {
      const job = await anOpenJob(lane);
      return { jobs: [job], bids: [await aBid(lane.carl, job), await aBid(lane.cora, job)] };
    },
    runners: ({ owner }, { job, bids }) => bids.map((bidId) => () => say(owner, 'awardJob', { job, body: { bidId } })),
    ends: [[['ok', 'INVALID_TRANSITION'], 'awarded']],
    alike: true,
    also: ({ bids }) =>
      expect(bids.map(({ status, hold }) => `${status} ${hold}`).sort()).toEqual([
        'accepted active',
        'rejected released',
      ]),
  },
  'a bid is awarded or withdrawn': {
    given: givenOneBid,
    runners: ({ owner, carl }, { job, bids: [bidId] }) => [
      () => say(owner, 'awardJob', { job, body: { bidId } }),
      () => say(carl, 'withdrawBid', { job, bid: bidId! }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'awarded'],
      [['UNKNOWN_BID', 'ok'], 'open'],
    ],
  },
  'a bid is awarded or rejected': {
    given: givenOneBid,
    runners: ({ owner }, { job, bids: [bidId] }) => [
      () => say(owner, 'awardJob', { job, body: { bidId } }),
      () => say(owner, 'rejectBid', { job, bid: bidId! }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'awarded'],
      [['UNKNOWN_BID', 'ok'], 'open'],
    ],
  },
  'a bid is withdrawn or rejected': {
    given: givenOneBid,
    runners: ({ owner, carl }, { job, bids: [bid] }) => [
      () => say(carl, 'withdrawBid', { job, bid: bid! }),
      () => say(owner, 'rejectBid', { job, bid: bid! }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'open'],
      [['INVALID_TRANSITION', 'ok'], 'open'],
    ],
    also: ({ bids }, [withdrawn]) =>
      expect(bids).toEqual([{ status: withdrawn === 'ok' ? 'withdrawn' : 'rejected', hold: 'released' }]),
  },
  'a bid is awarded as it was made, or revised': {
    given: givenOneBid,
    runners: ({ owner, carl }, { job, bids: [bidId] }) => [
      () => say(owner, 'awardJob', { job, body: { bidId } }),
      () => say(carl, 'reviseBid', { job, bid: bidId!, body: { amount: 900 } }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'awarded'],
      [['VALIDATION_FAILED', 'ok'], 'open'],
    ],
  },
  'a bid is awarded in the version that was read, or revised': {
    given: givenOneBid,
    runners: ({ owner, carl }, { job, bids: [bidId] }) => [
      () => say(owner, 'awardJob', { job, body: { bidId, expectedBidVersion: 1 } }),
      () => say(carl, 'reviseBid', { job, bid: bidId!, body: { amount: 900 } }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'awarded'],
      [['STALE_VERSION', 'ok'], 'open'],
    ],
  },
  'of two revisions of the same version one is made': {
    given: givenOneBid,
    runners: ({ carl }, { job, bids: [bid] }) =>
      [80, 90].map((amount) => () => say(carl, 'reviseBid', { job, bid: bid!, version: 1, body: { amount } })),
    ends: [[['ok', 'STALE_VERSION'], 'open']],
    alike: true,
    also: (row) => expect(typesOf(row).filter((type) => type === 'bid.revised')).toHaveLength(1),
  },
  'an award is declined or taken back': {
    given: givenAnAwardOverAnother,
    runners: ({ owner, carl }, { job }) => [
      () => say(carl, 'declineAward', { job, body: { reason: 'My van broke down' } }),
      () => say(owner, 'reopenJob', { job }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'open'],
      [['FORBIDDEN', 'ok'], 'open'],
    ],
    also: ({ bids }, [declined]) =>
      expect(bids).toEqual([
        { status: declined === 'ok' ? 'withdrawn' : 'rejected', hold: 'released' },
        { status: 'pending', hold: 'released' },
      ]),
  },
  'an awarded job is declined or started': {
    given: givenAnAwardOverAnother,
    runners: ({ carl }, { job }) => [() => say(carl, 'declineAward', { job }), () => say(carl, 'checkInJob', { job })],
    ends: [
      [['ok', 'FORBIDDEN'], 'open'],
      [['INVALID_TRANSITION', 'ok'], 'in_progress'],
    ],
  },
  'an awarded job is reopened or started': {
    given: givenAnAwardOverAnother,
    runners: ({ owner, carl }, { job }) => [
      () => say(owner, 'reopenJob', { job }),
      () => say(carl, 'checkInJob', { job }),
    ],
    ends: [
      [['ok', 'FORBIDDEN'], 'open'],
      [['INVALID_TRANSITION', 'ok'], 'in_progress'],
    ],
  },
  'work is approved or sent back for changes': {
    given: async (lane) => ({ jobs: [await aJobInReview(lane)] }),
    runners: ({ owner }, { job }) => [
      () => say(owner, 'approveJob', { job, body: { rating: 4 } }),
      () => say(owner, 'requestChanges', { job, body: { reason: 'It still drips' } }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'completed'],
      [['INVALID_TRANSITION', 'ok'], 'in_progress'],
    ],
    also: ({ credits }, [approved]) => expect(credits).toBe(approved === 'ok' ? 1 : 0),
  },
  'work is approved or disputed': {
    given: async (lane) => ({ jobs: [await aJobInReview(lane)] }),
    runners: ({ owner }, { job }) => [
      () => say(owner, 'approveJob', { job, body: { rating: 4 } }),
      () => say(owner, 'disputeJob', { job, body: { reason: 'It drips' } }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'completed'],
      [['INVALID_TRANSITION', 'ok'], 'disputed'],
    ],
    also: ({ credits }, [approved]) => expect(credits).toBe(approved === 'ok' ? 1 : 0),
  },
  'both parties naming the same resolution complete the job once': {
    given: async (lane) => ({ jobs: [await aDisputedJob(lane)] }),
    runners: ({ owner, carl }, { job }) =>
      [owner, carl].map(
        (who, at) => () =>
          say(who, 'resolveDispute', { job, body: { resolution: at === 0 ? 'Half  price' : 'Half price' } }),
      ),
    ends: [[['ok', 'ok'], 'completed']],
    also: ({ events }) => {
      const [proposed, resolved] = events.slice(-2);
      expect([proposed?.type, resolved?.type]).toEqual(['job.resolution_proposed', 'job.dispute_resolved']);
      expect(proposed?.actorId).not.toBe(resolved?.actorId);
    },
  },
  'both parties naming different resolutions leave the later one standing': {
    given: async (lane) => ({ jobs: [await aDisputedJob(lane)] }),
    runners: ({ owner, carl }, { job }) =>
      [owner, carl].map(
        (who, at) => () => say(who, 'resolveDispute', { job, body: { resolution: `Half price ${at}` } }),
      ),
    ends: [[['ok', 'ok'], 'disputed']],
    also: (row) => {
      expect(typesOf(row).slice(-2)).toEqual(['job.resolution_proposed', 'job.resolution_proposed']);
      expect(new Set(row.events.slice(-2).map(({ actorId }) => actorId)).size).toBe(2);
    },
  },
  'a dispute is settled or escalated': {
    given: async (lane) => {
      const job = await aDisputedJob(lane);
      await must(lane.carl, 'resolveDispute', { job, body: { resolution: 'Half price' } });
      return { jobs: [job] };
    },
    runners: ({ owner, carl }, { job }) => [
      () => say(owner, 'resolveDispute', { job, body: { resolution: 'Half price' } }),
      () => say(carl, 'escalateJob', { job, body: { escalationReason: 'No answer' } }),
    ],
    ends: [
      [['ok', 'INVALID_TRANSITION'], 'completed'],
      [['INVALID_TRANSITION', 'ok'], 'escalated'],
    ],
  },
  'of two bids of one contractor one is made': {
    given: async (lane) => ({ jobs: [await anOpenJob(lane)] }),
    runners: ({ carl }, { job }) =>
      [1, 2].map(() => () => say(carl, 'submitBid', { job, body: { amount: 5, guaranteedView: true } })),
    ends: [[['ok', 'DUPLICATE_BID'], 'open']],
    alike: true,
    also: ({ bids }) => expect(bids).toEqual([{ status: 'pending', hold: 'active' }]),
  },
  'a bid comes before the cancellation, or too late to see the job': {
    given: async (lane) => ({ jobs: [await anOpenJob(lane)] }),
    runners: ({ owner, carl }, { job }) => [
      () => say(carl, 'submitBid', { job, body: { amount: 5, guaranteedView: true } }),
      () => say(owner, 'cancelJob', { job }),
    ],
    ends: [
      [['ok', 'ok'], 'cancelled'],
      [['FORBIDDEN', 'ok'], 'cancelled'],
    ],
    also: ({ bids, refunds }, [bid]) => {
      expect(bids).toEqual(bid === 'ok' ? [{ status: 'rejected', hold: 'released' }] : []);
      expect(refunds).toBe(bid === 'ok' ? 0 : 1);
    },
  },
  'a bid comes before the award to another, or too late': {
    given: async (lane) => {
      const job = await anOpenJob(lane);
      return { jobs: [job], bids: [await aBid(lane.carl, job)] };
    },
    runners: ({ owner, cora }, { job, bids: [bidId] }) => [
      () => say(cora, 'submitBid', { job, body: { amount: 5, guaranteedView: true } }),
      () => say(owner, 'awardJob', { job, body: { bidId } }),
    ],
    ends: [
      [['ok', 'ok'], 'awarded'],
      [['FORBIDDEN', 'ok'], 'awarded'],
    ],
    also: ({ bids }, [bid]) =>
      expect(bids.map(({ status, hold }) => `${status} ${hold}`).sort()).toEqual(
        bid === 'ok' ? ['accepted active', 'rejected released'] : ['accepted active'],
      ),
  },
  'a job is cancelled before or after the award': {
    given: givenOneBid,
    runners: ({ owner }, { job, bids: [bidId] }) => [
      () => say(owner, 'cancelJob', { job }),
      () => say(owner, 'awardJob', { job, body: { bidId } }),
    ],
    ends: [
      [['ok', 'ok'], 'cancelled'],
      [['ok', 'INVALID_TRANSITION'], 'cancelled'],
    ],
    also: ({ bids }, [, award]) =>
      expect(bids).toEqual([{ status: award === 'ok' ? 'accepted' : 'rejected', hold: 'released' }]),
  },
  'a job is cancelled before or after the check-in': {
    given: async (lane) => ({ jobs: [await anAwardedJob(lane)] }),
    runners: ({ owner, carl }, { job }) => [
      () => say(owner, 'cancelJob', { job }),
      () => say(carl, 'checkInJob', { job }),
    ],
    ends: [
      [['ok', 'ok'], 'cancelled'],
      [['ok', 'INVALID_TRANSITION'], 'cancelled'],
    ],
  },
  'an admin’s completion and the approval credit once at most': {
    given: async (lane) => ({ jobs: [await aJobInReview(lane)] }),
    runners: ({ owner }, { job }) => [
      () => say(ada, 'completeJob', { job, body: { reason: 'Long over' } }),
      () => say(owner, 'approveJob', { job, body: { rating: 5 } }),
    ],
    ends: [
      [['ok', 'ok'], 'completed'],
      [['ok', 'INVALID_TRANSITION'], 'completed'],
    ],
    also: ({ credits }, [, approved]) => expect(credits).toBe(approved === 'ok' ? 1 : 0),
  },
  'a raise and a publication share one balance': {
    given: async (lane) => {
      await withTokens(lane.owner, 5);
      const jobs = [await anOpenJob(lane), await aDraft(lane)];
      await withTokens(lane.owner, 12);
      return { jobs };
    },
    runners: ({ owner }, { jobs: [first, second] }) => [
      () => say(owner, 'updateJob', { job: first!, body: { urgency: 'priority' } }),
      () => say(owner, 'publishJob', { job: second! }),
    ],
    ends: [
      [['ok', 'INSUFFICIENT_TOKENS'], 'open'],
      [['INSUFFICIENT_TOKENS', 'ok'], 'open'],
    ],
    also: ({ urgency }, [raise]) => expect(urgency).toBe(raise === 'ok' ? 'priority' : 'standard'),
  },
  'guaranteed bids on several jobs share one balance': {
    given: async (lane) => {
      await withTokens(lane.owner, 100);
      const jobs = [await anOpenJob(lane), await anOpenJob(lane), await anOpenJob(lane), await anOpenJob(lane)];
      await withTokens(lane.carl, 12);
      return { jobs };
    },
    runners: ({ carl }, { jobs }) =>
      jobs.map((job) => () => say(carl, 'submitBid', { job, body: { amount: 5, guaranteedView: true } })),
    ends: [[['ok', 'ok', 'INSUFFICIENT_TOKENS', 'INSUFFICIENT_TOKENS'], 'open']],
    alike: true,
  },
  'an adjustment and a publication share one balance': {
    given: async (lane) => {
      await withTokens(lane.owner, 7);
      return { jobs: [await aDraft(lane)] };
    },
    runners: ({ owner }, { job }) => [
      () => say(ada, 'adjustTokens', { body: { userId: owner.userId, amount: -6, reason: 'Taken back' } }),
      () => say(owner, 'publishJob', { job }),
    ],
    ends: [
      [['ok', 'INSUFFICIENT_TOKENS'], 'draft'],
      [['INSUFFICIENT_TOKENS', 'ok'], 'open'],
    ],
  },
  'of two edits of one version one is made': {
    given: async (lane) => ({ jobs: [await aDraft(lane)] }),
    runners: ({ owner }, { job }) =>
      ['Roof', 'Floor'].map((title) => () => say(owner, 'updateJob', { job, version: 1, body: { title } })),
    ends: [[['ok', 'STALE_VERSION'], 'draft']],
    alike: true,
    also: ({ version }) => expect(version).toBe(2),
  },
  'a draft is deleted or published': {
    given: async (lane) => {
      await withTokens(lane.owner, 50);
      return { jobs: [await aDraft(lane)] };
    },
    runners: ({ owner }, { job }) => [() => say(owner, 'deleteJob', { job }), () => say(owner, 'publishJob', { job })],
    ends: [
      [['ok', 'NOT_FOUND'], 'gone'],
      [['INVALID_TRANSITION', 'ok'], 'open'],
    ],
  },
};

async function givenAnAwardOverAnother(lane: Lane): Promise<{ jobs: string[] }> {
  const job = await anOpenJob(lane);
  const bidId = await aBid(lane.carl, job);
  await aBid(lane.cora, job);
  await must(lane.owner, 'awardJob', { job, body: { bidId } });
  return { jobs: [job] };
}

async function givenOneBid(lane: Lane): Promise<{ jobs: string[]; bids: string[] }> {
  const job = await anOpenJob(lane);
  return { jobs: [job], bids: [await aBid(lane.carl, job)] };
}

it.each(Object.entries(RACES))(
  '%s',
  async (name, race) => {
    const met = new Map<string, number>();
    await Promise.all(
      lanes.map(async (lane, at) => {
        for (let round = at; round < ROUNDS; round += LANES) {
          const ending = await run(race, lane, round);
          met.set(ending, (met.get(ending) ?? 0) + 1);
        }
      }),
    );
    console.log(`${name}: ${[...met].map(([ending, times]) => `${ending} ${times}`).join('; ')}`);
    await expectSound();
  },
  600_000 + ROUNDS * 2_000,
);

async function expectSound(): Promise<void> {
  expect(await checkDatabase(app.sql)).toEqual([]);
  const { data } = await apis.graphql('{ auditTokens { ok mismatches { userId } } }', {}, ada.token);
  expect(data.auditTokens).toEqual({ ok: true, mismatches: [] });
  expect(app.logged.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
}

/** One round. The runners take turns at starting first. */
async function run(race: Race, lane: Lane, round: number): Promise<string> {
  const { jobs, bids = [] } = await race.given(lane);
  const [job] = jobs as [string];
  const runners = race.runners(lane, { job, jobs, bids });
  const favourite = round % runners.length;
  const heard = await Promise.all(
    runners.map(async (start, at) => {
      if (at !== favourite) await new Promise((go) => setTimeout(go, chance() * 3));
      return start();
    }),
  );
  const outcomes = heard.map(({ code }) => code ?? 'ok');
  const row = await rowOf(job);
  const shown = (codes: readonly string[], status: string) =>
    `${(race.alike ? [...codes].sort(okFirst) : codes).join(' + ')} → ${status}`;
  const ending = shown(outcomes, row.status);
  expect(
    race.ends.map(([codes, status]) => shown(codes, status)),
    JSON.stringify(row.events),
  ).toContain(ending);
  race.also?.(row, outcomes);
  return ending;
}

function okFirst(a: string, b: string): number {
  return Number(b === 'ok') - Number(a === 'ok') || (a < b ? -1 : 1);
}

/**
 * Calls that wait for the same lock, in this order. Each has already read its data when the lock is released.
 */
async function inLine(
  hold: (tx: TransactionSql) => Promise<unknown>,
  calls: readonly (() => Promise<Heard>)[],
): Promise<Heard[]> {
  const heard: Promise<Heard>[] = [];
  await app.sql.begin(async (tx) => {
    await hold(tx);
    for (const call of calls) {
      heard.push(call());
      await until(async () => (await waitingCalls(app.sql)) === heard.length);
    }
  });
  return Promise.all(heard);
}

const held = (job: string) => (tx: TransactionSql) => tx`select from jobs where id = ${job} for update`;

describe.each(['rest', 'graphql'] as const)(
  'if something changes between a call’s read and its write, over %s,',
  (api) => {
    const lane = () => lanes[0] as Lane;
    beforeEach(async () => {
      for (const who of [lane().owner, lane().carl, lane().cora]) await withTokens(who, 1_000);
    });
    const publish = (job: string) => () => say(lane().owner, 'publishJob', { job }, api);
    const award = (job: string, bidId: string) => () => say(lane().owner, 'awardJob', { job, body: { bidId } }, api);
    const outcomesOf = (heard: readonly Heard[]) => heard.map(({ code }) => code ?? 'ok');
    const bidsOf = async (job: string) => (await rowOf(job)).bids.map(({ status, hold }) => `${status} ${hold}`);
    const lastTypesOf = async (job: string, count: number) => typesOf(await rowOf(job)).slice(-count);

    it('a new bid is rejected with the others', async () => {
      const job = await anOpenJob(lane());
      const bid = await aBid(lane().carl, job);
      const late = () => say(lane().cora, 'submitBid', { job, body: { amount: 5, guaranteedView: true } }, api);
      expect(outcomesOf(await inLine(held(job), [late, award(job, bid)]))).toEqual(['ok', 'ok']);
      expect(await bidsOf(job)).toEqual(['accepted active', 'rejected released']);
      expect(await lastTypesOf(job, 4)).toEqual(['bid.submitted', 'job.awarded', 'bid.accepted', 'bid.rejected']);
      await expectSound();
    });

    it('a withdrawn bid isn’t awarded', async () => {
      const job = await anOpenJob(lane());
      const bid = await aBid(lane().carl, job);
      const withdraw = () => say(lane().carl, 'withdrawBid', { job, bid }, api);
      expect(outcomesOf(await inLine(held(job), [withdraw, award(job, bid)]))).toEqual(['ok', 'UNKNOWN_BID']);
      expect(await rowOf(job)).toMatchObject({ status: 'open', bids: [{ status: 'withdrawn', hold: 'released' }] });
      await expectSound();
    });

    it('another withdrawn bid stays withdrawn, without an event about its rejection', async () => {
      const job = await anOpenJob(lane());
      const [bid, other] = [await aBid(lane().carl, job), await aBid(lane().cora, job)];
      const withdraw = () => say(lane().cora, 'withdrawBid', { job, bid: other }, api);
      expect(outcomesOf(await inLine(held(job), [withdraw, award(job, bid)]))).toEqual(['ok', 'ok']);
      expect(await bidsOf(job)).toEqual(['accepted active', 'withdrawn released']);
      expect(await lastTypesOf(job, 3)).toEqual(['bid.withdrawn', 'job.awarded', 'bid.accepted']);
      await expectSound();
    });

    it('another shortlisted bid is still rejected', async () => {
      const job = await anOpenJob(lane());
      const [bid, other] = [await aBid(lane().carl, job), await aBid(lane().cora, job)];
      const shortlist = () => say(lane().owner, 'shortlistBid', { job, bid: other }, api);
      expect(outcomesOf(await inLine(held(job), [shortlist, award(job, bid)]))).toEqual(['ok', 'ok']);
      expect(await bidsOf(job)).toEqual(['accepted active', 'rejected released']);
      await expectSound();
    });

    it('a draft that lost a required field isn’t published, and nothing is charged', async () => {
      const job = await aDraft(lane());
      const empty = () => say(lane().owner, 'updateJob', { job, body: { category: null } }, api);
      const [edited, published] = await inLine(held(job), [empty, publish(job)]);
      expect([edited?.code, published?.code, published?.fields]).toEqual([null, 'MISSING_FIELDS', ['category']]);
      expect(await rowOf(job)).toMatchObject({ status: 'draft', version: 2 });
      expect((await must(lane().owner, 'readTokens')).available).toBe(1_000);
      await expectSound();
    });

    it('a draft that became urgent is charged the urgent fee', async () => {
      await withTokens(lane().owner, 50);
      const job = await aDraft(lane());
      const raise = () => say(lane().owner, 'updateJob', { job, body: { urgency: 'urgent', budgetMin: 7_000 } }, api);
      const [, published] = await inLine(held(job), [raise, publish(job)]);
      expect(published?.data).toMatchObject({
        tokensCharged: 30,
        remainingBalance: 20,
        job: { status: 'open', version: 3 },
      });
      const [kept] =
        await app.sql`select most_tokens_paid as paid, highest_budget_min::int as budget from jobs where id = ${job}`;
      expect(kept).toEqual({ paid: 30, budget: 7_000 });
      await expectSound();
    });

    it('a deleted draft isn’t found', async () => {
      const job = await aDraft(lane());
      const remove = () => say(lane().owner, 'deleteJob', { job }, api);
      expect(outcomesOf(await inLine(held(job), [remove, publish(job)]))).toEqual(['ok', 'NOT_FOUND']);
      await expectSound();
    });

    it('spent tokens aren’t spent again, and the draft stays a draft', async () => {
      const [first, second] = [await aDraft(lane()), await aDraft(lane())];
      await withTokens(lane().owner, 9);
      const [paid, refused] = await inLine(
        (tx) => tx`select from token_balances where user_id = ${lane().owner.userId} for update`,
        [publish(first), publish(second)],
      );
      expect(paid?.data).toMatchObject({ tokensCharged: 5, remainingBalance: 4 });
      expect(refused).toMatchObject({ code: 'INSUFFICIENT_TOKENS', details: { required: 5, available: 4 } });
      expect(await rowOf(second)).toMatchObject({ status: 'draft', version: 1, events: [{ type: 'job.created' }] });
      await expectSound();
    });

    it('of five concurrent publications or awards, only the first succeeds', async () => {
      const job = await aDraft(lane());
      const refused = Array.from({ length: 4 }, () => 'INVALID_TRANSITION');
      expect(
        outcomesOf(
          await inLine(
            held(job),
            Array.from({ length: 5 }, () => publish(job)),
          ),
        ),
      ).toEqual(['ok', ...refused]);
      expect((await must(lane().owner, 'readTokens')).available).toBe(995);
      const bids = [await aBid(lane().carl, job), await aBid(lane().cora, job)] as const;
      expect(
        outcomesOf(
          await inLine(
            held(job),
            [0, 1, 0, 1, 0].map((at) => award(job, bids[at]!)),
          ),
        ),
      ).toEqual(['ok', ...refused]);
      expect(await bidsOf(job)).toEqual(['accepted active', 'rejected released']);
      await expectSound();
    });

    it('after losing a deadlock, the server retries, and the call takes effect once', async () => {
      for (let isLost = false; !isLost;) {
        const job = await aDraft(lane());
        let published: Promise<Heard> | undefined;
        const rival = app.sql.begin(async (tx) => {
          // Whoever checks for a deadlock first gives way. The server checks once, after waiting a second. If the rival
          // arrives later than that, the server finds no deadlock, and the rival does after five seconds.
          await tx`set local deadlock_timeout = '5s'`;
          await tx`select from token_balances where user_id = ${lane().owner.userId} for update`;
          published = publish(job)();
          await until(async () => (await waitingCalls(app.sql)) === 1);
          await tx`select from jobs where id = ${job} for update`;
        });
        isLost = await rival.then(
          () => true,
          (error: { code?: string }) => {
            if (error.code !== '40P01') throw error;
            return false;
          },
        );
        expect(await published).toMatchObject({ code: null, data: { tokensCharged: 5 } });
        expect(await lastTypesOf(job, 2)).toEqual(['job.created', 'job.published']);
        await expectSound();
      }
    });
  },
);
