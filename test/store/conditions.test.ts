/**
 * The rules that are asked in SQL and in TypeScript say the same: for random jobs, bids, balances and viewers, sound or
 * not, each condition holds in the one exactly where it holds in the other.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import fc from '../property.js';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BID_TRANSITION_LIST, isLive } from '../../src/rules/bids.js';
import {
  assertAllowed,
  checksOf,
  checksOfBid,
  checksOfRow,
  furtherChecksOf,
  type Check,
} from '../../src/rules/checks.js';
import { all, holds, type Condition, type Facts } from '../../src/rules/conditions.js';
import { Refusal } from '../../src/rules/errors.js';
import { JOB_ACTIONS, type JobActionKey } from '../../src/rules/lifecycle.js';
import { BID_STATES, JOB_STATES } from '../../src/rules/states.js';
import { IS_MINE, IS_PARTY, SEES_BID, SEES_JOB } from '../../src/rules/parties.js';
import { REQUIRED_TO_PUBLISH, URGENCIES } from '../../src/rules/publishing.js';
import { IS_WITHIN } from '../../src/rules/timeline.js';
import { ROLES, type Role } from '../../src/rules/viewer.js';
import { conditionForRole, conditionSql, type ConditionValues } from '../../src/store/conditions.js';
import type { Values } from '../../src/store/statement.js';
import { freshDatabase, type FreshDatabase } from '../postgres.js';

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
const BIDS = ['bid_1', 'bid_2', 'bid_3'] as const;

const text = fc.constantFrom(null, '', ' ', '\t\u00a0\u2003', 'x', ' x ', '0');
const required = REQUIRED_TO_PUBLISH.filter((field) => field !== 'urgency');

const anyJob = fc.record({
  status: fc.constantFrom(...JOB_STATES),
  homeownerId: fc.constantFrom(...OWNERS),
  awardedContractorId: fc.constantFrom(null, ...CONTRACTORS),
  version: fc.integer({ min: 1, max: 3 }),
  urgency: fc.constantFrom(null, ...URGENCIES),
  texts: fc.oneof(fc.constant(null), fc.tuple(...required.map(() => text))),
});

const anyViewer = fc.oneof(
  fc.record({
    role: fc.constant<Role>('homeowner'),
    homeownerId: fc.constantFrom(...OWNERS),
    contractorId: fc.constant(null),
  }),
  fc.record({
    role: fc.constant<Role>('contractor'),
    homeownerId: fc.constant(null),
    contractorId: fc.constantFrom(...CONTRACTORS),
  }),
  fc.constant({ role: 'admin' as Role, homeownerId: null, contractorId: null }),
);

const anyScene = fc.record({
  job: anyJob,
  viewer: anyViewer,
  bids: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom(...BIDS),
      contractorId: fc.constantFrom(...CONTRACTORS),
      status: fc.constantFrom(...BID_STATES),
    }),
    { selector: ({ id }) => id, maxLength: 3 },
  ),
  named: fc.constantFrom(...BIDS),
  event: fc.record({
    bidderId: fc.constantFrom(null, ...CONTRACTORS),
    fromStatus: fc.constantFrom(null, 'draft', 'open'),
    toStatus: fc.constantFrom(null, 'draft', 'open'),
  }),
  expectedVersion: fc.constantFrom(null, 1, 2),
  balance: fc.record({ balance: fc.integer({ min: 0, max: 40 }), held: fc.integer({ min: 0, max: 10 }) }),
  cost: fc.constantFrom(0, 5),
});
type Scene = typeof anyScene extends fc.Arbitrary<infer S> ? S : never;

/** What the rules are told, as the operations would tell them. */
function factsOf({ job: { texts, ...job }, viewer, bids, named, event, expectedVersion, balance, cost }: Scene): Facts {
  const filled = Object.fromEntries(required.map((field, at) => [field, texts === null ? 'x' : (texts[at] ?? null)]));
  return {
    viewer,
    job: { ...job, ...filled },
    bid: bids.find(({ id }) => id === named),
    event,
    ownBids: bids.filter(({ contractorId }) => contractorId === viewer.contractorId).map(({ status }) => status),
    expectedVersion,
    available: balance.balance - balance.held,
    cost,
    bidsToAward: bids.filter(({ id, status }) => id === named && isLive(status)).length,
  };
}

const $ = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) }) as Values<ConditionValues>;
const dialect = new PgDialect({ casing: 'snake_case' });

/** The rows stand in for the tables, so that no constraint keeps any of them away. */
async function askPostgres(scene: Scene, conditions: readonly SQL[]): Promise<boolean[]> {
  const { job } = factsOf(scene);
  const { viewer, bids, named, event, balance } = scene;
  const texts = required.map((field) => sql`${job[field] ?? null}::text as ${sql.identifier(snake(field))}`);
  const rows = bids.map(
    ({ id, contractorId, status }) => sql`select ${id}, 'job_1', ${contractorId}, ${status}::bid_status`,
  );
  const query = sql`
    with jobs as (select 'job_1' as id, ${job.status}::job_status as status, ${job.homeownerId} as homeowner_id,
        ${job.awardedContractorId}::text as awarded_contractor_id, ${job.version}::int as version,
        ${job.urgency ?? null}::urgency as urgency, ${sql.join(texts, sql`, `)}),
      bids (id, job_id, contractor_id, status) as (
        select 'bid_of_another_job', 'job_2', ${CONTRACTORS[0]}, 'pending'::bid_status
        union all ${sql.join([...rows, sql`select null, null, null, null`], sql` union all `)}),
      events as (select ${event.bidderId}::text as bidder_id, ${event.fromStatus}::job_status as from_status,
        ${event.toStatus}::job_status as to_status),
      token_balances as (select 'usr_1' as user_id, ${balance.balance}::int as balance, ${balance.held}::int as held)
    select ${sql.join(
      conditions.map((condition) => sql`(${condition}) is true`),
      sql`, `,
    )}
    from jobs cross join events left join bids on bids.id = ${named}`;
  const { sql: written, params } = dialect.sqlToQuery(query.inlineParams());
  const values: Record<string, unknown> = { ...viewer, userId: 'usr_1', bidId: named, ...scene };
  const given = params.map((param) => values[(param as Placeholder).name] ?? null);
  const [row] = await client.unsafe(written, given as never[]).values();
  return row as boolean[];
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function expectAgreement(conditions: Readonly<Record<string, Condition>>): Promise<void> {
  const names = Object.keys(conditions);
  const met = new Map(names.map((name) => [name, new Set<boolean>()]));
  const property = fc.asyncProperty(anyScene, async (scene) => {
    const bySql = await askPostgres(
      scene,
      names.map((name) => conditionSql(conditions[name]!, $)),
    );
    const facts = factsOf(scene);
    for (const [at, name] of names.entries()) {
      expect([name, bySql[at]]).toEqual([name, holds(conditions[name]!, facts)]);
      met.get(name)!.add(bySql[at]!);
    }
  });
  await fc.assert(property, { numRuns: 400 });
  for (const [name, answers] of met) expect([name, ...[...answers].sort()]).toEqual([name, false, true]);
}

function byCode(checks: readonly Check[]): Record<string, Condition> {
  return Object.fromEntries(checks.map(({ code, condition }) => [code, condition]));
}

const KEYS = Object.keys(JOB_ACTIONS) as JobActionKey[];

describe('SQL and the rules agree', () => {
  it.each(KEYS)('on each check of %s', (key) =>
    expectAgreement(byCode([...checksOfRow(key), ...checksOf(key), ...furtherChecksOf(key)])),
  );

  it.each(BID_TRANSITION_LIST.map((row) => [row.operation, row] as const))('on each check of %s', (_, row) =>
    expectAgreement(byCode(checksOfBid(row))),
  );

  it('on who is what to a job', () => expectAgreement(IS_PARTY));

  it('on whose events are somebody’s own', () => expectAgreement(IS_MINE));

  it('on who reads an event', async () => {
    const { all: _everything, ...partial } = IS_WITHIN;
    await expectAgreement(partial);
  });

  it.each(KEYS)('on whether %s may happen, which is exactly where nothing is refused', async (key) => {
    const property = fc.asyncProperty(anyScene, async (scene) => {
      const conditions = checksOf(key).map(({ condition }) => condition);
      const [maySql] = await askPostgres(scene, [conditionSql(all(...conditions), $)]);
      expect(maySql).toBe(refusalOf(checksOf(key), factsOf(scene)) === null);
    });
    await fc.assert(property, { numRuns: 200 });
  });

  it.each(ROLES)('on what a viewer sees whose role is known: %s', async (role) => {
    const property = fc.asyncProperty(anyScene, async (scene) => {
      fc.pre(scene.viewer.role === role);
      const [seesJob, seesBid] = await askPostgres(scene, [
        conditionForRole(SEES_JOB[role], role, $),
        conditionForRole(SEES_BID[role], role, $),
      ]);
      const facts = factsOf(scene);
      expect([seesJob, seesBid]).toEqual([holds(SEES_JOB[role], facts), holds(SEES_BID[role], facts)]);
    });
    await fc.assert(property, { numRuns: 100 });
  });
});

function refusalOf(checks: readonly Check[], facts: Facts): string | null {
  try {
    assertAllowed(checks, facts);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}
