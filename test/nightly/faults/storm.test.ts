/**
 * The storm: dozens of clients work without pause while backends are killed, Postgres is restarted in every way, and
 * servers die by kill -9. Afterward, the clients' logs are compared with the database. Nothing may be lost, doubled, or
 * half applied, and no process may die that the test didn't kill. By default, it takes about a minute. STORM=long is
 * the full test of about six minutes, and STORM=tiny a quick look. STORM_SEED repeats a run's choices and faults.
 * STORM_MINUTES limits a long run.
 */
import { afterEach, expect, it } from 'vitest';
import { checkDatabase } from '../../setup/database/checker.js';
import { JOB_ACTION_KEYS } from '../../story/specified.js';
import { isRead, outcomeOf, succeeded } from './storm/history.js';
import { readRows } from './storm/rows.js';
import { rage, type Recovery, type Storm, type Weather } from './storm/storm.js';
import { findingsIn } from './storm/verdict.js';
import { seedFrom } from '../../setup/random/seed.js';
import { printFigures } from '../figures.js';

const MEASURES = {
  tiny: { operations: 2_000, backendKills: 10, restarts: 1, serverKills: 2, clients: 32, withinMs: 900_000 },
  short: { operations: 6_000, backendKills: 40, restarts: 3, serverKills: 3, clients: 32, withinMs: 900_000 },
  long: {
    operations: 60_000,
    backendKills: 310,
    restarts: 13,
    serverKills: 13,
    clients: 32,
    withinMs: Number(process.env.STORM_MINUTES ?? 12) * 60_000,
  },
} satisfies Record<string, Omit<Weather, 'seed'>>;

const measure = MEASURES[process.env.STORM === 'long' ? 'long' : process.env.STORM === 'tiny' ? 'tiny' : 'short'];
const seed = String(seedFrom(process.env.STORM_SEED));
/** The time until the service accepts writes again. */
const RECOVERED_WITHIN_MS = 2_000;
/** The time until no client is waiting, after each fault and after the last one. */
const EVERYONE_WITHIN_MS = 5_000;

let storm: Storm | undefined;
afterEach(() => storm?.end());

it(
  `a storm (STORM_SEED=${seed}) loses nothing, duplicates nothing, leaves nothing half done, and ends`,
  { timeout: measure.withinMs + 600_000 },
  async () => {
    storm = await rage({
      ...measure,
      seed,
      ...(process.env.STORM === 'long' && { report: (how) => process.stderr.write(`${how}\n`) }),
    });
    const { history, people, recoveries, postgres, instances, calmMs } = storm;
    const audited = await audit(instances.urls[0] ?? '', people.find(({ kind }) => kind === 'admin')?.token ?? '');
    const sql = postgres.open('verdict');
    const rows = await readRows(sql);
    const findings = findingsIn(history, rows, people);
    const broken = await checkDatabase(sql);
    await sql.end();
    await instances.stop();

    const slowest = (measured: (recovery: Recovery) => number) => Math.round(Math.max(...recoveries.map(measured)));
    const lost = history
      .flatMap(({ attempts }) => attempts)
      .filter((attempt) => 'lost' in attempt || attempt.status === 503).length;
    const writes = history.filter(({ request }) => !isRead(request.op)).length;
    const seconds = (ms: number) => Math.round(ms / 1000);
    printFigures(
      [
        `STORM_SEED=${seed}: ${storm.operations} operations (${writes} writes) by ${measure.clients} clients ` +
          `in ${seconds(storm.ms - storm.setUpMs)} s, after ${seconds(storm.setUpMs)} s of signing up`,
        `${storm.backendsKilled} backends killed, Postgres restarted ${storm.restarts} times, ` +
          `servers killed ${storm.serverKills} times, ${lost} answers lost or put off, ` +
          `${history.filter((entry) => outcomeOf(entry)?.replayed).length} settled by a replay`,
        `${recoveries.length} recoveries: a first write within ${slowest(({ firstWriteMs }) => firstWriteMs)} ms, ` +
          `every client within ${slowest(({ lastClientMs }) => lastClientMs)} ms; ` +
          `calm after ${Math.round(calmMs)} ms, ${rows.events.length} events, ${rows.transfers.length} transfers, ` +
          `${findings.length} findings`,
      ].join('\n  '),
    );

    expect(findings.slice(0, 20)).toEqual([]);
    const done = new Set(history.filter(succeeded).map(({ request }) => request.op));
    // In a smaller storm, perhaps no dispute gets as far as `acceptResolution`, which takes three moves in a row.
    const required = process.env.STORM === 'long' ? JOB_ACTION_KEYS : [];
    expect(required.filter((key) => !done.has(key))).toEqual([]);
    expect(broken).toEqual([]);
    expect(audited).toMatchObject({ ok: true, mismatches: [] });
    expect(storm.complaints()).toEqual([]);
    expect(storm.operations).toBeGreaterThanOrEqual(measure.operations);
    expect(storm.backendsKilled).toBeGreaterThanOrEqual(measure.backendKills);
    expect([storm.restarts, storm.serverKills]).toEqual([measure.restarts, measure.serverKills]);
    expect(recoveries.length).toBeGreaterThan(0);
    const late = recoveries.filter(
      ({ firstWriteMs, lastClientMs }) => firstWriteMs > RECOVERED_WITHIN_MS || lastClientMs > EVERYONE_WITHIN_MS,
    );
    expect(late).toEqual([]);
    expect(calmMs).toBeLessThan(EVERYONE_WITHIN_MS);
  },
);

async function audit(url: string, token: string): Promise<unknown> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: '{ auditTokens { ok accounts transfers mismatches { __typename } } }' }),
  });
  return ((await response.json()) as { data: { auditTokens: unknown } }).data.auditTokens;
}
