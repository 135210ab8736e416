/**
 * Failover with Patroni, with the files in `deploy/`: three machines with PostgreSQL, PgBouncer, and a server, and
 * HAProxy in front of both the server and PostgreSQL. Under the load of the storm's clients, the primary has one fault
 * after another. Then its synchronous standby has one. Nobody intervenes. No acknowledged write is lost or doubled,
 * writes work again within 45 seconds, reads from the replicas never fail, and the server uses the replicas again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { VARIABLES } from '../../../src/app/config.js';
import { ADMIN, JWT_SECRET } from '../../setup/app.js';
import { checkDatabase } from '../../setup/database/checker.js';
import { PASSWORD, startBouncer } from '../../deploy/bouncer.js';
import { freeAddress, startProxy } from '../../deploy/proxy.js';
import { metricsOf } from '../../setup/metrics.js';
import { needs } from '../../setup/needs.js';
import { until } from '../../platform/security/until.js';
import { seedFrom } from '../../setup/random/seed.js';
import { readiness } from '../../app/callers.js';
import { clone, type Clone } from '../../app/clone.js';
import { printFigures } from '../figures.js';
import { openLoad, withLostSendings } from './failover/load.js';
import { NAME, openCluster, type Roles } from './patroni/cluster.js';
import { openReader } from './patroni/reader.js';
import { isRead, succeeded } from './storm/history.js';
import { openInstances } from './storm/instances.js';
import { readRows } from './storm/rows.js';
import { findingsIn } from './storm/verdict.js';

const SEED = String(seedFrom(process.env.FAILOVER_SEED));
const CLIENTS = 6;
/** How many operations must succeed before each fault, and before and after each repair. */
const OPERATIONS = 100;
const FROZEN_MS = 30_000;
const WRITES_BACK_WITHIN_SECONDS = 45;
/** After the machines replicate again. Meanwhile, the server reads from the primary. */
const REPLICA_USED_WITHIN_MS = 60_000;

interface Fault {
  readonly what: string;
  begin(roles: Roles): void;
  /** By default, the fault lasts until writes work again. */
  readonly lastsMs?: number;
  /** Gets the roles from before the fault. */
  end?(roles: Roles): void;
  readonly keepsPrimary?: true;
}

const FAULTS: readonly Fault[] = [
  { what: 'kill -9 of PostgreSQL', begin: ({ primary }) => primary.signal('SIGKILL', 'postgres') },
  {
    what: 'kill -9 of all processes of its machine',
    begin: ({ primary }) => primary.signal('SIGKILL'),
    end: ({ primary }) => primary.start(),
  },
  {
    what: 'PostgreSQL frozen',
    begin: ({ primary }) => primary.signal('SIGSTOP', 'postgres'),
    lastsMs: FROZEN_MS,
    end: ({ primary }) => primary.signal('SIGCONT', 'postgres'),
  },
  {
    what: 'PostgreSQL and Patroni frozen',
    begin: ({ primary }) => primary.signal('SIGSTOP', 'postgres', 'patroni'),
    lastsMs: FROZEN_MS,
    end: ({ primary }) => primary.signal('SIGCONT', 'postgres', 'patroni'),
  },
  { what: 'no network', begin: ({ primary }) => primary.cutOff(), end: ({ primary }) => primary.reconnect() },
  { what: 'full disk', begin: ({ primary }) => primary.disk.fill(), end: ({ primary }) => primary.disk.free() },
  {
    what: 'no network for its synchronous standby',
    begin: ({ standby }) => standby.cutOff(),
    end: ({ standby }) => standby.reconnect(),
    keepsPrimary: true,
  },
];

let project: Clone;
beforeAll(() => void (project = clone()));
afterAll(() => project.remove());

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function openMarket() {
  const cluster = await openCluster();
  closing.push(() => cluster.remove());
  const [server, primary, replicas] = [await freeAddress(), await freeAddress(), await freeAddress()];
  const portOf = (address: string) => address.split(':')[1] ?? '';
  const proxy = await startProxy([server], {
    ...Object.fromEntries(cluster.machines.map(({ address }, at) => [`POSTGRES_${at + 1}`, `${address}:5432`])),
    PRIMARY_BIND: primary,
    REPLICA_BIND: replicas,
    REQUESTS_PER_ADDRESS: '100000',
  });
  closing.push(() => proxy.stop());
  const bouncer = await startBouncer(
    { host: '127.0.0.1', port: Number(portOf(primary)), username: NAME, database: NAME },
    (configuration) => configuration.replace('port=5001', `port=${portOf(replicas)}`),
  );
  closing.push(() => bouncer.remove());
  const at = (address: string) => `postgres://${NAME}:${encodeURIComponent(PASSWORD)}@${address}/${NAME}`;
  const budgets = Object.keys(VARIABLES).filter((name) => name.startsWith('RATE_LIMIT_'));
  const instances = await openInstances(
    project,
    1,
    {
      DATABASE_URL: bouncer.url,
      DATABASE_DIRECT_URL: at(primary),
      DATABASE_REPLICA_URL: bouncer.url.replace('/marketplace', '/marketplace_replica'),
      ...Object.fromEntries(budgets.map((name) => [name, '1000000'])),
      TRUST_PROXY_HOPS: '1',
      JWT_SECRET,
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
    },
    [portOf(server)],
  );
  closing.push(() => instances.stop());
  await until(async () => (await readiness(proxy.url)) === 200);
  return { cluster, proxy, instances, primaryUrl: at(primary), replicasUrl: at(replicas) };
}

needs('patroni').it(
  'Patroni replaces the primary after each kind of fault, and no acknowledged write is lost',
  async () => {
    const { cluster, proxy, instances, primaryUrl, replicasUrl } = await openMarket();
    const load = await openLoad(proxy.url, SEED, CLIENTS);
    closing.push(() => load.close());
    const reader = openReader(replicasUrl);
    closing.push(() => reader.close());
    const acknowledged = () => load.history.filter((entry) => !isRead(entry.request.op) && succeeded(entry)).length;
    const failures: string[] = [];
    const isReplicaUsed = async () => (await metricsOf(instances.urls[0] ?? '')).value('replica_usable') === 1;

    for (const { what, begin, lastsMs = 0, end, keepsPrimary = false } of FAULTS) {
      const roles = await cluster.whole();
      await load.more(OPERATIONS);
      load.forgetPauses();
      reader.results();
      const before = acknowledged();
      begin(roles);
      const startMs = performance.now();
      await Promise.all([load.more(OPERATIONS), pause(lastsMs)]);
      end?.(roles);
      const { primary } = await cluster.whole();
      const wholeSeconds = (performance.now() - startMs) / 1000;
      await load.more(OPERATIONS);
      await until(isReplicaUsed, REPLICA_USED_WITHIN_MS);
      const [back, pauseSeconds] = [load.longestWaitMs() / 1000, load.longestPauseMs() / 1000];
      const { reads, repeated, failed, longestMs } = reader.results();
      const figures =
        `${what}: writes back after ${back.toFixed(1)} s (no write for ${pauseSeconds.toFixed(1)} s at most), ` +
        `the primary was ${roles.primary.name} and is ${primary.name}, all three replicating after ` +
        `${wholeSeconds.toFixed(1)} s, ${acknowledged() - before} writes acknowledged; ` +
        `${reads} reads from replicas, ${repeated} repeated, ${failed.length} failed, ` +
        `the longest took ${(longestMs / 1000).toFixed(2)} s`;
      printFigures(figures);
      if (back > WRITES_BACK_WITHIN_SECONDS || failed.length > 0 || keepsPrimary !== (primary === roles.primary))
        failures.push(figures, ...failed);
    }
    await load.stop();

    const sql = postgres(primaryUrl, { max: 1, onnotice: () => {}, connection: { statement_timeout: 100_000 } });
    closing.push(() => sql.end());
    // There wasn't enough time between the failovers for autovacuum to analyze the tables.
    await sql`analyze`;
    const findings = findingsIn(withLostSendings(load.history), await readRows(sql), load.people);
    const ofKind = (kind: string) => findings.filter((finding) => finding.kind === kind).length;
    printFigures(
      `FAILOVER_SEED=${SEED}: ${acknowledged()} writes acknowledged, ${ofKind('lost')} lost, ` +
        `${ofKind('doubled')} doubled, ${findings.length} findings`,
    );
    expect(findings.slice(0, 20)).toEqual([]);
    expect(await checkDatabase(sql)).toEqual([]);
    expect(instances.complaints()).toEqual([]);
    expect(failures).toEqual([]);
  },
  1_200_000,
);
