/**
 * Two servers whose deadline clock jumps by 100 days. Each is killed in turn while it works. Every job is reminded
 * once and acted on once, and never before its reminder was 48 hours ago.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clone, type Clone } from '../../app/clone.js';
import { openApi } from '../../app/own-database.js';
import { startServer, type Started } from '../../app/processes.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { JWT_SECRET } from '../../setup/app.js';
import { copyJob } from '../../story/copies.js';
import { ACTING, openTimedApp, type TimedApp } from '../../story/deadlines.js';
import { givenJob } from '../../story/journey.js';
import { until } from '../../platform/security/until.js';

const COPIES = Number(process.env.CLOCK_COPIES ?? 400);
const STATES = ['open', 'in_review', 'disputed', 'decision_reached'] as const;

let project: Clone;
let app: TimedApp;
let api: Awaited<ReturnType<typeof openApi>>;
beforeAll(async () => {
  project = clone();
  // This server makes the jobs. Its clock doesn't run.
  app = await openTimedApp({}, { tokensLast: true });
  const { host, port } = app.database.connection;
  api = await openApi(join(host, `.s.PGSQL.${port}`));
});
afterAll(async () => {
  await app.close();
  api.close();
  project.remove();
});

interface Server {
  readonly process: Started;
  readonly url: string;
}

async function start(): Promise<Server> {
  const { username, database } = app.database.connection;
  const process = startServer(project, {
    ...ACTING,
    DATABASE_URL: `postgres://${username}@127.0.0.1:${api.port}/${database}`,
    JWT_SECRET,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
  });
  return { process, url: await process.url };
}

/** Null if the server was killed meanwhile. */
async function advance({ url }: Server, seconds: number): Promise<number | null> {
  const headers = { authorization: `Bearer ${app.people.admin.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ seconds });
  const answer = await fetch(`${url}/v1/test-clock`, { method: 'POST', headers, body }).catch(() => null);
  return answer && answer.status;
}

const clockEvents = async (): Promise<number> => {
  const [row] = await app.sql<{ events: number }[]>`select count(*)::int as events from events where actor_id is null`;
  return row?.events ?? 0;
};

/** Moves the clock, and kills each server once while both work. Returns two servers again. */
async function advanceAndKill(servers: [Server, Server], seconds: number): Promise<[Server, Server]> {
  const [first, second] = servers;
  const before = await clockEvents();
  const progress = (share: number) =>
    until(async () => (await clockEvents()) - before >= share * STATES.length * COPIES);
  const calls = [advance(first, seconds)];
  await progress(0.05);
  calls.push(advance(second, 0));
  await progress(0.2);
  await first.process.stop('SIGKILL');
  const third = await start();
  calls.push(advance(third, 0));
  await progress(0.5);
  await second.process.stop('SIGKILL');
  const fourth = await start();
  // Both killed servers had a call that never got its response. The clock had moved by then.
  expect(await Promise.all(calls)).toEqual([null, null, 200]);
  expect(await advance(fourth, 0)).toBe(200);
  return [third, fourth];
}

/** How many jobs in each state had this many reminders and actions since they came to it. */
const counts = async (): Promise<Record<string, string>> => {
  const rows = await app.sql<{ state: string; events: string; jobs: number }[]>`
    select state, events, count(*)::int as jobs from (
      select job_id, min(from_status::text) as state, string_agg(type, ', ' order by sequence) as events
      from events where actor_id is null and type like 'job.%' group by job_id) one
    group by state, events order by state, events`;
  return Object.fromEntries(rows.map(({ state, events, jobs }) => [`${state}: ${events}`, String(jobs)]));
};

it('each reminder and each action happens once, in this order, although both servers are killed', async () => {
  for (const state of STATES) await copyJob(app, await givenJob(app, state, app.people), COPIES - 1);
  let servers: [Server, Server] = [await start(), await start()];
  const each = (...events: [state: string, action: string][]) =>
    Object.fromEntries(events.map(([state, action]) => [`${state}: job.reminded${action}`, String(COPIES)]));

  servers = await advanceAndKill(servers, 100 * 86_400);
  expect(await counts()).toEqual(each(...STATES.map((state): [string, string] => [state, ''])));
  expect(await advance(servers[0], 47 * 3_600)).toBe(200);
  expect(await counts()).toEqual(each(...STATES.map((state): [string, string] => [state, ''])));

  servers = await advanceAndKill(servers, 2 * 3_600);
  expect(await counts()).toEqual(
    each(
      ['decision_reached', ', job.decision_stood'],
      ['disputed', ', job.auto_escalated'],
      ['in_review', ', job.auto_approved'],
      ['open', ', job.expired'],
    ),
  );
  const ended = await Promise.all(servers.map(({ process }) => process.stop()));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(await checkDatabase(app.sql)).toEqual([]);
});
