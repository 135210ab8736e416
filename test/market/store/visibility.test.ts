/**
 * TypeScript and SQL both define who sees which jobs, bids, and events. They must agree for random jobs, bids, events,
 * and viewers.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { receivesJobEvents, partyOf, partyToOwn, seesBid, seesJob } from '../../../src/market/rules/parties.js';
import { BID_STATES, JOB_STATES } from '../../../src/market/rules/states.js';
import { eventVisibilityOf, readsAs, seesEvent } from '../../../src/market/rules/reading/timeline.js';
import { ROLES, type Role } from '../../../src/market/rules/viewer.js';
import * as visibility from '../../../src/market/store/visibility.js';
import fc from '../../setup/random/property.js';
import { freshDatabase, type FreshDatabase } from '../../setup/postgres.js';

let database: FreshDatabase;
let client: postgres.Sql;
beforeAll(async () => {
  database = await freshDatabase();
  client = postgres({ ...database.connection, max: 1, fetch_types: false });
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const OWNERS = ['hmw_hannah', 'hmw_hugo'] as const;
const CONTRACTORS = ['ctr_carla', 'ctr_cyrus'] as const;

const VIEWERS = {
  homeowner: fc.record({
    role: fc.constant<Role>('homeowner'),
    homeownerId: fc.constantFrom(...OWNERS),
    contractorId: fc.constant(null),
  }),
  contractor: fc.record({
    role: fc.constant<Role>('contractor'),
    homeownerId: fc.constant(null),
    contractorId: fc.constantFrom(...CONTRACTORS),
  }),
  admin: fc.constant({ role: 'admin' as Role, homeownerId: null, contractorId: null }),
} as const;

/** A job with up to two bids from each contractor. The awarded contractor is one of the bidders. */
const anyScene = fc
  .record({
    job: fc.record({
      status: fc.constantFrom(...JOB_STATES),
      homeownerId: fc.constantFrom(...OWNERS),
      awardedContractorId: fc.constantFrom(null, ...CONTRACTORS),
      isOwnerSuspended: fc.boolean(),
    }),
    bids: fc.array(
      fc.record({ contractorId: fc.constantFrom(...CONTRACTORS), status: fc.constantFrom(...BID_STATES) }),
      { minLength: 1, maxLength: 4 },
    ),
    event: fc.record({
      type: fc.constantFrom(
        'job.updated',
        'job.published',
        'job.awarded',
        'bid.viewed',
        'job.reminded',
        'job.deadline_extended',
      ),
      bidderId: fc.constantFrom(null, ...CONTRACTORS),
      fromStatus: fc.constantFrom(null, 'draft', 'open'),
      toStatus: fc.constantFrom(null, 'draft', 'open'),
      data: fc.constantFrom(
        {},
        { bidId: 'bid_0' },
        { bidId: 'bid_1' },
        ...['owner', 'awardee', 'parties', 'admin'].map((to) => ({ to })),
      ),
    }),
  })
  .filter(({ job, bids, event }) => {
    // An event about a bid can only exist if the bid does.
    if (event.bidderId !== null && !bids.some(({ contractorId }) => contractorId === event.bidderId)) return false;
    const accepted = bids.filter(({ status }) => status === 'accepted').map(({ contractorId }) => contractorId);
    return job.awardedContractorId === null ? accepted.length === 0 : accepted.join() === job.awardedContractorId;
  });
type Scene = typeof anyScene extends fc.Arbitrary<infer S> ? S : never;

const awardedBidOf = ({ bids }: Scene) => {
  const at = bids.findIndex(({ status }) => status === 'accepted');
  return at < 0 ? null : `bid_${at}`;
};

const contractor = sql.placeholder('contractorId') as never;
const $ = ((name: string) => sql.placeholder(name)) as never;

/** The first bid is the one to check. */
function bySql(role: Role): Record<string, SQL> {
  return {
    seesJob: visibility.visibleJobs(role, $),
    findsJob: visibility.listedJobs(role, $),
    seesBid: visibility.visibleBids(role, $),
    seesEvent: visibility.visibleEventsOfJob(role, contractor),
    ...(role === 'contractor' && {
      hears: sql`exists (select from bids own where own.job_id = jobs.id and ${visibility.isCountedBidOf($)})`,
      isAwarded: visibility.isAwardedTo(contractor),
      readsAsAwardee: sql`(${visibility.isAwardedTo(contractor)}
        and ${visibility.isNotEarlierAward(sql`jobs.awarded_bid_id`)})`,
      seesEventByBid: sql`exists (select from bids own where own.job_id = jobs.id
        and own.contractor_id = ${contractor}::text and ${visibility.visibleEventsOfBidder(
          contractor,
          visibility.IS_ACCEPTED,
        )})`,
    }),
  };
}

function byRules(viewer: Parameters<typeof seesJob>[0], scene: Scene): Record<string, boolean> {
  const { job, bids, event } = scene;
  const ownBids = bids.filter(({ contractorId }) => contractorId === viewer.contractorId).map(({ status }) => status);
  const hasBid = ownBids.length > 0;
  const party = partyOf(viewer, job as never, hasBid);
  const seen = seesJob(viewer, job as never, hasBid);
  const isAwarded = viewer.contractorId !== null && viewer.contractorId === job.awardedContractorId;
  // Nobody reads the events of a job that they can't see. The statements check this through the job.
  const reads = seesEvent(
    eventVisibilityOf(viewer.role === 'contractor' ? party : partyToOwn(viewer.role, false)),
    viewer,
    event as never,
  );
  return {
    seesJob: seen,
    // Contractors can't find an open job whose owner is suspended, even if they've bid on it.
    findsJob: seen && !(viewer.role === 'contractor' && job.status === 'open' && job.isOwnerSuspended),
    seesBid: seesBid(viewer, bids[0] as never, job as never),
    seesEvent: reads,
    ...(viewer.role === 'contractor' && {
      hears: receivesJobEvents(viewer, job as never, ownBids),
      isAwarded,
      readsAsAwardee: readsAs(party, event as never, awardedBidOf(scene) as never) === 'awardee',
      seesEventByBid: ownBids.some((status) =>
        seesEvent(eventVisibilityOf(partyToOwn('contractor', status === 'accepted')), viewer, event as never),
      ),
    }),
  };
}

const dialect = new PgDialect({ casing: 'snake_case' });

/** The rows replace the tables, so constraints can't exclude any combination. */
async function askPostgres(viewer: object, scene: Scene, conditions: readonly SQL[]) {
  const { job, bids, event } = scene;
  const rows = bids.map(
    ({ contractorId, status }, at) => sql`select ${`bid_${at}`}, 'job_1', ${contractorId}, ${status}::bid_status`,
  );
  const query = sql`
    with users as (select 'usr_1' as id, case when ${job.isOwnerSuspended} then now() end as suspended_at),
      homeowners as (select ${job.homeownerId} as id, 'usr_1' as user_id),
      jobs as (select 'job_1' as id, ${job.status}::job_status as status, ${job.homeownerId} as homeowner_id,
        ${job.awardedContractorId}::text as awarded_contractor_id, ${awardedBidOf(scene)}::text as awarded_bid_id),
      bids (id, job_id, contractor_id, status) as (
        select 'bid_of_another_job', 'job_2', ${CONTRACTORS[0]}, 'pending'::bid_status
        union all ${sql.join(rows, sql` union all `)}),
      events as (select 'job_1' as job_id, ${event.type} as type, ${event.bidderId}::text as bidder_id,
        ${event.fromStatus}::job_status as from_status,
        ${event.toStatus}::job_status as to_status, ${JSON.stringify(event.data)}::jsonb as data)
    select ${sql.join(
      conditions.map((condition) => sql`(${condition}) is true`),
      sql`, `,
    )}
    from jobs cross join events join bids on bids.id = 'bid_0'`;
  const { sql: text, params } = dialect.sqlToQuery(query.inlineParams());
  const values = viewer as Record<string, unknown>;
  const [row] = await client
    .unsafe(text, params.map((param) => values[(param as Placeholder).name] ?? null) as never[])
    .values();
  return row as boolean[];
}

test.each(ROLES)('SQL and the rules agree on what a viewer sees who is: %s', async (role) => {
  const conditions = bySql(role);
  const names = Object.keys(conditions);
  const answers = new Map(names.map((name) => [name, new Set<boolean>()]));
  const property = fc.asyncProperty(VIEWERS[role], anyScene, async (viewer, scene) => {
    const answered = await askPostgres(viewer, scene, Object.values(conditions));
    const fromSql = Object.fromEntries(names.map((name, at) => [name, answered[at]]));
    expect(fromSql).toEqual(byRules(viewer as never, scene));
    for (const name of names) answers.get(name)!.add(fromSql[name]!);
  });
  await fc.assert(property, { numRuns: 600 });
  // Each condition has been both true and false, except the conditions that always hold for an admin.
  const always = role === 'admin' ? names : [];
  for (const [name, seen] of answers)
    expect([name, [...seen].sort()]).toEqual([name, always.includes(name) ? [true] : [false, true]]);
});
