/**
 * Every event gets exactly one position, and no two events share one. That holds whichever server numbers them and
 * however it ends.
 */
import { openEvents } from '../../../src/market/operations/events/live-events.js';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobId, UserId } from '../../../src/market/rules/ids.js';
import { logAccountEvents } from '../../../src/market/store/events/account-events.js';
import { newId } from '../../../src/market/store/new-id.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { callRest } from '../../story/calls.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { DRAFT, gather, givenJob, type People } from '../../story/journey.js';
import { metricsOf } from '../../setup/metrics.js';
import { atOnce } from '../../story/scenes.js';
import { until } from '../security/until.js';
import { allNumbered, followEvents } from './positions.js';
import { takeUntil, viewerOf } from './viewers.js';

let app: TestApp;
let other: TestApp;
let people: People;
let allHeard: () => Promise<void>;
const open: Sql[] = [];
beforeAll(async () => {
  app = await openTestApp();
  other = await openTestApp({}, { sameDatabaseAs: app });
  allHeard = followEvents(app, other);
  people = await gather(app);
});
afterAll(async () => {
  for (const sql of open) await sql.end({ timeout: 5 });
  await other.close();
  await app.close();
});

function connection(): Sql {
  const sql = postgres({ ...app.database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  open.push(sql);
  return sql;
}

/** Inserts an event like a transition would, but without a job. */
async function insertEvent(sql: Pick<Sql, 'unsafe'>, jobId: JobId, sequence = 1): Promise<void> {
  await sql.unsafe(
    `insert into events (id, job_id, sequence, type, homeowner_id, occurred_at)
      values ($1, $2, $3, 'job.updated', $4, clock_timestamp())`,
    [newId('event'), jobId, sequence, people.owner.profileId],
  );
}

const positionOf = async (jobId: string, sequence = 1) => {
  const [event] = await app.sql`select position from events where job_id = ${jobId} and sequence = ${sequence}`;
  return event?.position == null ? undefined : BigInt(event.position);
};

/** These events have no job, so the checks of other invariants would fail. */
async function positionsOutOfOrder(): Promise<string[]> {
  return (await checkDatabase(app.sql)).filter((promise) => promise.startsWith('positions'));
}

it("an event whose transaction commits late comes after those that others have seen, and isn't skipped", async () => {
  const { live, db } = app.services;
  const stream = openEvents(live, viewerOf(people.admin, 'admin'), {}, db);
  const late = newId('job');
  const client = connection();
  await client.unsafe('begin');
  await insertEvent(client, late);
  const passing = await givenJob(app, 'open', people);
  const seen = await takeUntil(stream, ({ jobId, type }) => jobId === passing.id && type === 'bid.submitted');
  expect(seen.map(({ jobId }) => jobId)).not.toContain(late);
  await client.unsafe('commit');
  const last = (await takeUntil(stream, ({ jobId }) => jobId === late)).at(-1);
  expect(BigInt(last?.position ?? 0)).toBeGreaterThan(BigInt(seen.at(-1)?.position ?? 0));
  stream.close();
});

it('two instances number their commits without gaps and without duplicates', async () => {
  const stream = openEvents(other.services.live, viewerOf(people.admin, 'admin'), {}, other.services.db);
  const drafts = Array.from({ length: 150 }, (_, at) => at);
  const made = await atOnce(drafts, (at) =>
    callRest(at % 2 === 0 ? app : other, 'create', { by: people.owner, body: DRAFT }),
  );
  const ids = new Set(made.map(({ body }) => String(body.id)));
  expect(ids.size).toBe(150);
  const seen: string[] = [];
  for await (const { jobId } of stream) {
    if (ids.has(jobId)) seen.push(jobId);
    if (seen.length === ids.size) break;
  }
  expect(new Set(seen)).toEqual(ids);
  await allNumbered(app);
  const [found] = await app.sql`select count(*)::int as events, count(distinct position)::int as positions,
    min(position)::int as first, max(position)::int as last from events`;
  expect(found).toEqual({ events: found?.events, positions: found?.events, first: 1, last: found?.events });
});

it('within a job, positions follow the order in which its events were committed, on any instance', async () => {
  const { id } = await givenJob(app, 'draft', people);
  const edits = Array.from({ length: 40 }, (_, at) => at);
  await atOnce(edits, (at) =>
    callRest(at % 2 === 0 ? app : other, 'update', { by: people.owner, job: id, body: { budget_max: 100 + at } }),
  );
  await allNumbered(app);
  const events = await app.sql`select sequence from events where job_id = ${id} order by position`;
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: 41 }, (_, at) => at + 1));
  expect(await positionsOutOfOrder()).toEqual([]);
});

describe('account events', () => {
  const log = (on: TestApp) =>
    on.services.db.inTransaction((tx) =>
      logAccountEvents(tx, [{ type: 'account.password_changed', userId: people.owner.userId as UserId }]),
    );

  it('and job events share the positions without gaps or duplicates, whichever instance numbers them', async () => {
    const works = Array.from({ length: 120 }, (_, at) => at);
    await atOnce(works, async (at) => {
      const on = at % 4 < 2 ? app : other;
      if (at % 2 === 0) await log(on);
      else await callRest(on, 'create', { by: people.owner, body: DRAFT });
    });
    await allNumbered(app);
    const [found] = await app.sql`select count(*)::int as events, count(distinct position)::int as positions,
      min(position)::int as first, max(position)::int as last
      from (select position from events union all select position from account_events) e`;
    expect(found).toEqual({ events: found?.events, positions: found?.events, first: 1, last: found?.events });
    const [ofAccounts] = await app.sql`select count(*)::int as count from account_events`;
    expect(ofAccounts?.count).toBe(60);
    const { body } = await app.rest('GET', `/v1/events?after=${found?.last}`, { token: people.owner.token });
    expect(body).toEqual({ data: [], next_after: String(found?.last) });
    const beyond = await app.rest('GET', `/v1/events?after=${found?.last + 1}`, { token: people.owner.token });
    expect(beyond.status).toBe(400);
  });

  it('that are committed late get positions after those that readers have already seen', async () => {
    const client = connection();
    await client.unsafe('begin');
    await client.unsafe(
      `insert into account_events (id, user_id, type, occurred_at)
        values ('aev_late', '${people.owner.userId}', 'account.password_changed', clock_timestamp())`,
    );
    const { body } = await callRest(app, 'create', { by: people.owner, body: DRAFT });
    await until(async () => (await positionOf(body.id)) !== undefined);
    await client.unsafe('commit');
    await allNumbered(app);
    const [late] = await app.sql`select position from account_events where id = 'aev_late'`;
    expect(BigInt(late?.position)).toBeGreaterThan((await positionOf(body.id))!);
  });

  it('never change and never lose their position', async () => {
    for (const change of [
      `update account_events set data = '{"cause": "other"}' where id = 'aev_late'`,
      `update account_events set position = position + 1 where id = 'aev_late'`,
      `delete from account_events where id = 'aev_late'`,
      'truncate account_events',
    ])
      await expect(app.sql.unsafe(change)).rejects.toThrow();
  });

  it('are numbered in batches no larger than asked for, the oldest first', async () => {
    const counted: unknown[] = [];
    // The rollback lets the other tests number again.
    const numbered = app.sql.begin(async (tx) => {
      const [start] = await tx`select last_position from number_events(1000)`;
      await insertEvent(tx, newId('job'));
      for (const at of [1, 2, 3, 4, 5])
        await tx`insert into account_events (id, user_id, type, occurred_at) values (${`aev_batch_${at}`},
          ${people.owner.userId}, 'account.password_changed',
          '2020-01-01'::timestamptz + make_interval(days => ${at}))`;
      for (let batch = 0; batch < 3; batch += 1) {
        const [one] = await tx`select numbered, last_position from number_events(4)`;
        counted.push([one?.numbered, Number(BigInt(one?.last_position) - BigInt(start?.last_position))]);
      }
      const rows = await tx`select id from account_events where id like 'aev_batch%' order by position`;
      counted.push(rows.map(({ id }) => id));
      throw new Error('Roll back.');
    });
    await expect(numbered).rejects.toThrow('Roll back.');
    const ids = [1, 2, 3, 4, 5].map((at) => `aev_batch_${at}`);
    expect(counted).toEqual([[4, 4], [2, 6], [0, 6], ids]);
  });
});

describe('an instance that numbers', () => {
  it('and is killed halfway leaves nothing behind, and another continues', async () => {
    const client = connection();
    const left = newId('job');
    await insertEvent(app.sql, left);
    await client.unsafe('begin');
    const [{ pid } = { pid: 0 }] = await client`select pg_backend_pid() as pid`;
    await client`select number_events(1000)`;
    const { body } = await callRest(other, 'create', { by: people.owner, body: DRAFT });
    // Both servers now wait for the lock, or soon will.
    await until(async () => {
      const waiting = await app.sql`select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      return waiting.length > 0;
    });
    expect(await positionOf(body.id)).toBeUndefined();
    await app.sql`select pg_terminate_backend(${pid}::int)`;
    await allNumbered(app);
    const positions = [await positionOf(left), await positionOf(body.id)];
    expect(positions.every((position) => position !== undefined)).toBe(true);
    expect(await positionsOutOfOrder()).toEqual([]);
  });

  it('finds what an instance committed that was killed before it could announce it', async () => {
    const left = newId('job');
    await insertEvent(app.sql, left, 1);
    await insertEvent(app.sql, left, 2);
    await allNumbered(app);
    const [first, second] = [await positionOf(left, 1), await positionOf(left, 2)];
    expect(first! < second!).toBe(true);
  });
});

it('what is rolled back, especially in a dry run, is neither numbered nor sent', async () => {
  await allHeard();
  const { live, db } = app.services;
  const stream = openEvents(live, viewerOf(people.owner, 'homeowner'), {}, db);
  const { status, headers } = await callRest(app, 'create', {
    by: people.owner,
    body: { ...DRAFT, title: 'Never' },
    headers: { 'dry-run': 'true' },
  });
  expect([status, headers.get('dry-run')]).toEqual([201, 'true']);
  const { body } = await callRest(app, 'create', { by: people.owner, body: DRAFT });
  const seen = await takeUntil(stream, ({ jobId }) => jobId === body.id);
  expect(seen.map(({ jobId }) => jobId)).toEqual([body.id]);
  stream.close();
});

it('the metrics say how many events were numbered, how long they waited, and how many are waiting', async () => {
  await allNumbered(app);
  const [{ count } = { count: 0 }] = await app.sql`select ((select count(*) from events)
    + (select count(*) from account_events))::int as count`;
  let numbered = 0;
  // A server counts its events a moment after they’re numbered.
  await until(async () => {
    const both = [await metricsOf(app.url), await metricsOf(other.url)];
    numbered = both.reduce((sum, metrics) => sum + metrics.value('events_numbered_total'), 0);
    return numbered >= count;
  });
  // The killed backend numbered none. The lock gives each event to only one server.
  expect(numbered).toBe(count);
  const metrics = await metricsOf(app.url);
  expect(metrics.value('event_position_lag_seconds_count')).toBeGreaterThan(0);
  expect(metrics.value('event_batch_events_count')).toBeGreaterThan(0);
  await until(async () => (await metricsOf(app.url)).value('events_waiting') === 0);
});
