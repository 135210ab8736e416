/**
 * Several statements decide which events a person reads live, from a position, about one job, or through a webhook.
 * Each applies the same conditions, in TypeScript, in SQL, or in both. This test shows that they all agree for random
 * jobs, bids, events, and viewers. It also shows that an accepted bid is equivalent to an award.
 */
import fc from '../../setup/random/property.js';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EDIT_EVENT, readEvent } from '../../../src/market/rules/reading/timeline.js';
import { BID_TRANSITIONS } from '../../../src/market/rules/bids.js';
import { EVENT_TYPES } from '../../../src/market/rules/events.js';
import type { ContractorId, HomeownerId, JobId } from '../../../src/market/rules/ids.js';
import { BID_STATES, JOB_STATES, type BidState, type JobState } from '../../../src/market/rules/states.js';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { connect, type Database } from '../../../src/platform/db/database.js';
import type { EventWithParties } from '../../../src/market/store/events/event-log.js';
import { newId } from '../../../src/market/store/new-id.js';
import { enqueueNextBatch } from '../../../src/market/store/webhooks/webhook-fan-out.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { isAwarded, isIn } from '../../story/specified.js';
import { LIVE_QUERIES } from '../../../src/market/operations/events/live-events.js';
import { readNotificationPage } from '../../../src/market/operations/notifications/live-notifications.js';
import { MATCHED_EVENT, NOTIFICATIONS, notifiedTypesOf } from '../../../src/market/rules/notifications.js';
import { offered, readAll, type Range } from './reading.js';
import { LONG_TIMEOUTS } from '../../setup/long-timeouts.js';
import { viewerOf } from './viewers.js';

const HOMEOWNERS = [newId('homeowner'), newId('homeowner')] as const;
const CONTRACTORS = [newId('contractor'), newId('contractor'), newId('contractor')] as const;
const VIEWERS: readonly Viewer[] = [
  ...HOMEOWNERS.map((profileId) => viewerOf({ userId: newId('user'), profileId }, 'homeowner')),
  ...CONTRACTORS.map((profileId) => viewerOf({ userId: newId('user'), profileId }, 'contractor')),
  viewerOf({ userId: newId('user'), profileId: '' }, 'admin'),
];

let app: TestApp;
let db: Database;
beforeAll(async () => {
  app = await openTestApp();
  db = connect(app.database.connection, { poolSize: 2, ...LONG_TIMEOUTS });
  for (const viewer of VIEWERS) await insertReceiver(app.sql, viewer);
});
afterAll(async () => {
  await db.close();
  await app.close();
});

const FIELDS = { fields: ['title', 'zipCode'] };

const anyBids = fc.array(
  fc.record({ contractorId: fc.constantFrom(...CONTRACTORS), status: fc.constantFrom(...BID_STATES) }),
  { maxLength: 4 },
);
const REMINDED = ['owner', 'awardee', 'parties', 'admin'] as const;

/** Edits and reminders keep the state. Someone without a bid reads no edits. */
const anyEvent = fc
  .record({
    type: fc.constantFrom(...EVENT_TYPES),
    bidderId: fc.constantFrom(null, ...CONTRACTORS),
    fromStatus: fc.constantFrom(null, ...JOB_STATES),
    toStatus: fc.constantFrom(null, ...JOB_STATES),
    data: fc.constantFrom(
      {},
      { notes: 'Ring.' },
      { rating: 4, review: 'Tidy.', tokensCharged: 5, bidId: newId('bid') },
      { reason: 'Too far.', contractorId: CONTRACTORS[0] },
      FIELDS,
      ...REMINDED.map((to) => ({ to })),
    ),
  })
  .map((event) => ('to' in event.data ? { ...event, type: 'job.reminded' as const } : event))
  .map((event) =>
    event.type === EDIT_EVENT || event.type === 'job.reminded' ? { ...event, toStatus: event.fromStatus } : event,
  );
const publication = fc.constant({
  type: MATCHED_EVENT,
  bidderId: null,
  fromStatus: 'draft' as const,
  toStatus: 'open' as const,
  data: { tokensCharged: 5 },
});
const anyJob = fc.record({
  status: fc.constantFrom<JobState | 'deleted'>(...JOB_STATES, 'deleted'),
  homeownerId: fc.constantFrom(...HOMEOWNERS),
  awardee: fc.constantFrom(null, ...CONTRACTORS),
  bids: anyBids,
  events: fc.array(fc.oneof({ arbitrary: anyEvent, weight: 5 }, publication), { minLength: 1, maxLength: 12 }),
  /** The contractors whose saved searches matched the job's publications. */
  searchers: fc.subarray([...CONTRACTORS]),
});
type GivenJob = typeof anyJob extends fc.Arbitrary<infer J> ? J : never;

/** Keeps only the parts that no constraint rejects. */
function soundJob({ status, awardee, bids }: GivenJob) {
  const mayBeAwarded = status !== 'deleted' && isAwarded(status);
  const mustBeAwarded = mayBeAwarded && !isIn('end', status);
  const awarded = mayBeAwarded ? (awardee ?? (mustBeAwarded ? CONTRACTORS[0] : null)) : null;
  const others = bids.filter(
    ({ contractorId, status: state }, at) =>
      state !== 'accepted' &&
      (state === 'withdrawn' ||
        (contractorId !== awarded &&
          !bids
            .slice(0, at)
            .some((earlier) => earlier.contractorId === contractorId && earlier.status !== 'withdrawn'))),
  );
  const all: { contractorId: ContractorId; status: BidState }[] = [
    ...others,
    ...(awarded ? [{ contractorId: awarded, status: 'accepted' as const }] : []),
  ];
  return { awarded, bids: status === 'deleted' ? [] : all };
}

async function insert(sql: Sql, given: readonly GivenJob[]): Promise<JobId[]> {
  const ids: JobId[] = [];
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const job of given) {
      const id = newId('job');
      ids.push(id);
      const { awarded, bids } = soundJob(job);
      const made = bids.map((bid) => ({ ...bid, id: newId('bid') }));
      if (job.status !== 'deleted') {
        await tx`insert into jobs ${tx({
          id,
          homeowner_id: job.homeownerId,
          status: job.status,
          title: 'A job',
          description: 'To be done',
          category: 'roofing',
          urgency: 'standard',
          address_line1: '1 Main',
          city: 'Austin',
          state: 'TX',
          awarded_contractor_id: awarded,
          awarded_bid_id: made.find(({ status }) => status === 'accepted')?.id ?? null,
        })}`;
      }
      for (const { contractorId, ...bid } of made) {
        const more = { job_id: id, contractor_id: contractorId, amount: 5, job_created_at: '2026-01-01' };
        await tx`insert into bids ${tx({ ...bid, ...more })}`;
      }
      for (const [at, event] of job.events.entries()) await insertEvent(tx, id, at + 1, job.homeownerId, event);
    }
    await tx`select number_events(1000000)`;
    for (const [at, id] of ids.entries()) await insertMatches(tx, id, given[at]!);
  });
  return ids;
}

/** Call this in the transaction that numbers the events, before the app reads them. A job that ended has no matches. */
async function insertMatches(tx: Pick<Sql, 'unsafe'>, id: JobId, { events, searchers }: GivenJob): Promise<void> {
  if (events.some(({ toStatus }) => toStatus !== null && isIn('end', toStatus))) return;
  await tx.unsafe(
    `insert into notifications (user_id, position, job_id, match_alert)
      select c.user_id, e.position, e.job_id, 'off' from events e, contractors c
      where e.job_id = $1 and e.type = $2 and e.bidder_id is null and e.from_status is distinct from e.to_status
        and c.id = any($3::text[])`,
    [id, MATCHED_EVENT, `{${searchers.join()}}`],
  );
}

const WITHDRAWAL = BID_TRANSITIONS.withdraw.event;

type GivenEvent = GivenJob['events'][number];

async function insertEvent(tx: Pick<Sql, 'unsafe'>, jobId: JobId, at: number, owner: HomeownerId, event: GivenEvent) {
  await tx.unsafe(
    `insert into events (id, job_id, sequence, type, bidder_id, from_status, to_status, data, homeowner_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9)`,
    [
      newId('event'),
      jobId,
      at,
      event.type,
      event.bidderId,
      event.fromStatus,
      event.toStatus,
      JSON.stringify(event.data),
      owner,
    ],
  );
}

/** Adds a webhook for every type of event. It's paused, so its deliveries wait. */
async function insertReceiver(sql: Sql, { userId, role, homeownerId, contractorId }: Viewer): Promise<void> {
  await sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
    values (${userId}, ${`${userId.toLowerCase()}@example.test`}, ${role}, 'A', 'B', '', ${userId})`;
  if (homeownerId) await sql`insert into homeowners (id, user_id) values (${homeownerId}, ${userId})`;
  if (contractorId) await sql`insert into contractors (id, user_id) values (${contractorId}, ${userId})`;
  await sql`insert into webhook_endpoints (id, user_id, url, event_types, status, paused_reason, secrets, sealed_by)
    select ${newId('webhookEndpoint')}, ${userId}, 'https://hooks.example.com', '{}', 'paused', 'requested', '[]', ''`;
}

/** The deliveries for each webhook. Either the app or this function creates them. */
async function sent(sql: Sql, { after, upTo }: Range): Promise<Map<string, string[]>> {
  const cursor = async () => BigInt((await sql`select position::text from webhook_cursor`)[0]?.position);
  while ((await cursor()) < upTo) await enqueueNextBatch(db, { waits: false });
  const rows = await sql<{ user_id: string; ids: string[] }[]>`
    select w.user_id, json_agg(e.id order by e.position) as ids from webhook_deliveries d
      join webhook_endpoints w on w.id = d.endpoint_id join events e on e.id = d.event_id
      where e.position > ${String(after)}::bigint and e.position <= ${String(upTo)}::bigint group by w.user_id`;
  return new Map(rows.map(({ user_id, ids }) => [user_id, ids]));
}

/** The events that a viewer is notified of, as stored and then read. */
async function notified(viewer: Viewer, { after, upTo }: Range): Promise<string[]> {
  while ((await LIVE_QUERIES.numberEvents(db, { batch: 1_000 })).hasMore) continue;
  const found: string[] = [];
  for (let from = after; from < upTo;) {
    const page = await readNotificationPage(db, viewer, { after: from, upTo });
    found.push(...page.events.map(({ event }) => event.id));
    from = page.upTo;
  }
  return found;
}

/**
 * Admins are notified only of some reminders. A withdrawal deletes the earlier notifications of the job, even if
 * another bid follows. Nobody in this test causes an event.
 */
function isNotified(
  { role, contractorId }: Viewer,
  found: EventWithParties,
  later: readonly EventWithParties[],
): boolean {
  const { type, data, bidderId, jobId } = found.event;
  if (type === MATCHED_EVENT) return contractorId !== null && found.matches?.includes(contractorId) === true;
  const isWithdrawal = ({ event }: EventWithParties) =>
    event.type === WITHDRAWAL && event.jobId === jobId && event.bidderId === contractorId;
  if (role === 'contractor' && later.some(isWithdrawal)) return false;
  if (role === 'admin' && type === 'job.reminded') return data['to'] === 'admin';
  const isOfOthersWork = role === 'contractor' && found.awardedContractorId !== contractorId && bidderId === null;
  if (isOfOthersWork) return 'bidder' in NOTIFICATIONS[type];
  return notifiedTypesOf(role).some((one) => one.type === type);
}

const FOREIGN = 'hmw_foreign';

/** Adds events that only admins see, more than are scanned one by one. */
async function insertForeign(sql: Sql): Promise<void> {
  await sql`insert into events (id, job_id, sequence, type, homeowner_id)
    select 'evt_' || gen_random_uuid(), ${newId('job')}, n, 'job.updated', ${FOREIGN} from generate_series(1, 600) n`;
}

async function number(sql: Sql): Promise<bigint> {
  const [done] = await sql`select last_position from number_events(1000000)`;
  return BigInt(done?.last_position);
}

it('is the same in TypeScript and in SQL, for all jobs, for one job, for webhooks, and for notifications', async () => {
  const property = async (given: GivenJob[]) => {
    const after = await number(app.sql);
    await insertForeign(app.sql);
    const middle = await number(app.sql);
    const jobIds = await insert(app.sql, given);
    const upTo = await number(app.sql);
    const all = await offered(db, { after, upTo }, CONTRACTORS);
    const toWebhooks = await sent(app.sql, { after, upTo });
    for (const viewer of VIEWERS) {
      // The copy drops facts that were read along with the row.
      const read = (found: EventWithParties) => structuredClone(readEvent(viewer, found, 'mine')) ?? [];
      const asHappens = all.flatMap(read);
      const ofThese = all.filter(({ homeownerId }) => homeownerId !== FOREIGN).flatMap(read);
      expect(await readAll(db, viewer, undefined, { after, upTo })).toEqual(asHappens);
      expect(toWebhooks.get(viewer.userId) ?? []).toEqual(asHappens.map(({ id }) => id));
      expect(await readAll(db, viewer, undefined, { after: middle, upTo })).toEqual(ofThese);
      const toNotify = all.filter((found, at) => isNotified(viewer, found, all.slice(at + 1))).flatMap(read);
      expect(await notified(viewer, { after, upTo })).toEqual(toNotify.map(({ id }) => id));
      for (const jobId of jobIds) {
        const ofJob = all
          .filter(({ event }) => event.jobId === jobId)
          .flatMap((found) => structuredClone(readEvent(viewer, found, 'job')) ?? []);
        expect(await readAll(db, viewer, jobId, { after, upTo })).toEqual(ofJob);
      }
    }
  };
  const jobs = fc.array(anyJob, { minLength: 1, maxLength: 8 });
  await fc.assert(fc.asyncProperty(jobs, property), { numRuns: Number(process.env.REACH_RUNS ?? 6) });
});
