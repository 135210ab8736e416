/** A real Prometheus, with the configuration and alerts from `deploy/`, reads a real server in use. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { freeAddress, startProxy, writeCertificate, type Proxy } from '../../deploy/proxy.js';
import { alerts, dashboardQueries, read, ruleExpressions, selectorsIn } from '../../deploy/sight.js';
import { gather, givenJob } from '../../story/journey.js';
import { startBouncer, STATS, type Bouncer } from '../../deploy/bouncer.js';
import { openPrimaryAndReplica, type PrimaryAndReplica } from '../../setup/primary-and-replica.js';
import { createRedisServer, type RedisServer } from '../../platform/security/redis-server.js';
import { needs, programPath } from '../../setup/needs.js';
import { printFigures } from '../figures.js';
import { until } from '../../platform/security/until.js';
import { hearAsEvents, hearOverWebSocket, MY_EVENTS, stopAll } from '../../platform/graphql/streams/clients.js';
import { openReceiver, type Receiver } from '../../market/webhooks/receiver.js';

const BLACKBOX = 'prometheus-blackbox-exporter';
const POSTGRES = 'prometheus-postgres-exporter';
const REDIS = 'prometheus-redis-exporter';
const NODE = 'prometheus-node-exporter';
/** Debian has no exporter that works with its PgBouncer. Without this program, PgBouncer's panels aren't checked. */
const PGBOUNCER = 'pgbouncer_exporter';
const PROGRAMS = ['prometheus', 'haproxy', 'redis-server', BLACKBOX, POSTGRES, REDIS, NODE];
const withAllPrograms = needs(PROGRAMS.find((name) => !programPath(name)) ?? 'prometheus');
const METRICS_TOKEN = 'the-token-of-the-metrics';
const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
/** The exporter trusts this certificate like any other, so it calls the site over TLS with our own configuration. */
const CERTIFICATE = join(folder, 'certificate.pem');

let databases: PrimaryAndReplica;
let app: TestApp;
let receiver: Receiver;
let proxy: Proxy | undefined;
let secureAddress: string;
let prometheus: ChildProcess | undefined;
const exporters: ChildProcess[] = [];
let redis: RedisServer | undefined;
let bouncer: Bouncer | undefined;
let prometheusUrl: string;
beforeAll(async () => {
  databases = await openPrimaryAndReplica();
  app = await openTestApp(
    {
      DATABASE_URL: databases.url,
      DATABASE_REPLICA_URL: databases.replicaUrl,
      METRICS_TOKEN,
      TRUST_PROXY_HOPS: '1',
      WEBHOOKS_ALLOW_PRIVATE: 'on',
    },
    { sameDatabaseAs: databases },
  );
  receiver = await openReceiver();
  if (!PROGRAMS.every(programPath)) return;
  writeCertificate(CERTIFICATE);
  secureAddress = await freeAddress();
  proxy = await startProxy([new URL(app.url).host], { BIND_TLS: secureAddress, CERTIFICATE });
  const replacements = [
    ['15s', '1s'],
    [`'127.0.0.1:4001', '127.0.0.1:4002'`, `'${new URL(app.url).host}'`],
    ['127.0.0.1:8405', new URL(proxy.metricsUrl).host],
    ['https://market.example', `https://${secureAddress}`],
    ...(await startExporters()),
  ];
  const text = replacements.reduce((sum, [old = '', by = '']) => {
    if (!sum.includes(old)) throw new Error(`deploy/prometheus.yml has no ${old}`);
    return sum.replaceAll(old, by);
  }, read('deploy/prometheus.yml'));
  writeFileSync(join(folder, 'prometheus.yml'), text);
  writeFileSync(join(folder, 'prometheus-rules.yml'), read('deploy/prometheus-rules.yml'));
  writeFileSync(join(folder, 'metrics-token'), METRICS_TOKEN);
  const address = await freeAddress();
  prometheusUrl = `http://${address}`;
  prometheus = spawn(
    'prometheus',
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`],
    { cwd: folder, stdio: 'ignore' },
  );
  await until(() =>
    fetch(`${prometheusUrl}/-/ready`).then(
      (answer) => answer.ok,
      () => false,
    ),
  );
});
afterAll(async () => {
  for (const child of [prometheus, ...exporters]) {
    if (!child) continue;
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
  await proxy?.stop();
  await redis?.remove();
  await bouncer?.remove();
  stopAll();
  await receiver.close();
  await app.close();
  await databases.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the exporters on free ports. Returns their addresses in `deploy/prometheus.yml` and here. */
async function startExporters(): Promise<[string, string][]> {
  const started: [string, string][] = [];
  const startExporter = async (usual: string, program: string, args: string[], env: Record<string, string> = {}) => {
    const address = await freeAddress();
    const options = { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' } as const;
    exporters.push(spawn(program, [...args, `--web.listen-address=${address}`], options));
    started.push([usual, address]);
  };
  const redisAddress = await freeAddress();
  redis = createRedisServer(new URL(`redis://${redisAddress}`).port);
  await redis.start();
  const { host, port, username, database } = app.database.connection;
  const DATA_SOURCE_NAME = `host=${host} port=${port} user=${username} dbname=${database} sslmode=disable`;
  await startExporter('127.0.0.1:9115', BLACKBOX, ['--config.file=deploy/blackbox.yml'], {
    SSL_CERT_FILE: CERTIFICATE,
  });
  await startExporter('127.0.0.1:9100', NODE, [`--collector.textfile.directory=${folder}`]);
  await startExporter('127.0.0.1:9187', POSTGRES, [], { DATA_SOURCE_NAME });
  await startExporter('127.0.0.1:9121', REDIS, [`--redis.addr=redis://${redisAddress}`]);
  if (programPath(PGBOUNCER)) {
    bouncer = await startBouncer(app.database.connection);
    const PGBOUNCER_EXPORTER_CONNECTION_STRING = `${bouncer.consoleUrl(STATS)}?sslmode=disable`;
    await startExporter('127.0.0.1:9127', PGBOUNCER, [], { PGBOUNCER_EXPORTER_CONNECTION_STRING });
  }
  return started;
}

function promtool(args: string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

async function answerOf(query: string): Promise<Json[]> {
  const answer = await fetch(`${prometheusUrl}/api/v1/query?${new URLSearchParams({ query })}`);
  const body = (await answer.json()) as Json;
  expect(body.status, `${query}: ${JSON.stringify(body)}`).toBe('success');
  return body.data.result;
}

/** Produces values for everything on the dashboard, again and again while `isWanted`. */
async function use(isWanted: () => boolean): Promise<void> {
  const people = await gather(app);
  const { owner, stranger } = people;
  const hook = { token: owner.token, body: { url: receiver.url, event_types: [] } };
  expect((await app.rest('POST', '/v1/webhooks', hook)).status).toBe(201);
  for (const hear of [hearAsEvents, hearOverWebSocket]) hear(app.url, owner, MY_EVENTS);
  const logIn = { body: { email: 'nobody@example.test', password: 'a password for this test' } };
  while (isWanted()) {
    await givenJob(app, 'draft', people);
    await Promise.all([
      ...Array.from({ length: 8 }, () => app.graphql('{ jobs { nodes { id title } } }', { token: stranger.token })),
      ...Array.from({ length: 4 }, () => app.rest('POST', '/v1/auth/login', logIn)),
      app.rest('GET', '/v1/jobs/job_000000000000000000000000000', { token: owner.token }),
      fetch(`${app.url}/readyz`),
    ]);
  }
}

withAllPrograms.it('each dashboard query returns data, and each alert is evaluated', async () => {
  let isWanted = true;
  const using = use(() => isWanted);
  const queries = dashboardQueries().filter(({ expr }) => programPath(PGBOUNCER) || !expr.includes('pgbouncer_'));
  const notRun = dashboardQueries().length - queries.length;
  if (notRun > 0) printFigures(`${notRun} queries for PgBouncer not run: ${PGBOUNCER} is not on PATH`);
  const unanswered = async () => {
    const answers = await Promise.all(queries.map(async (one) => ({ ...one, found: await answerOf(one.expr) })));
    return answers.filter(({ found }) => found.length === 0).map(({ title, expr }) => `${title}: ${expr}`);
  };
  let left = ['not asked yet'];
  const stopMs = Date.now() + 90_000;
  while (left.length > 0 && Date.now() < stopMs) {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    left = await unanswered();
  }
  isWanted = false;
  await using;
  expect(left).toEqual([]);

  const rules = (await (await fetch(`${prometheusUrl}/api/v1/rules`)).json()) as Json;
  const all = rules.data.groups.flatMap(({ rules: ofGroup }: Json) => ofGroup);
  expect(all.filter(({ health }: Json) => health !== 'ok')).toEqual([]);
  const evaluated = all.filter(({ type }: Json) => type === 'alerting');
  expect(evaluated.map(({ name, health }: Json) => [name, health])).toEqual(alerts().map(({ name }) => [name, 'ok']));
  // The server is healthy.
  const firing = evaluated.filter(({ state, labels }: Json) => state === 'firing' && labels.severity === 'critical');
  expect(firing.map(({ name }: Json) => name)).toEqual([]);
});

withAllPrograms.it(
  'the other programs export what our alerts select, with the labels that the alerts use',
  async () => {
    const report =
      /^ *printf '# HELP backup_completed_.+\n.+backup\.prom"$/m.exec(read('docs/operating.md'))?.[0] ?? '';
    expect(spawnSync('sh', ['-ec', report], { env: { PATH: process.env.PATH, TEXTFILES: folder } }).status).toBe(0);
    const isOfOthers = (name: string) => /^(?:haproxy|pg|redis|probe|node|backup)_/.test(name);
    const selectors = new Set(
      ruleExpressions()
        .flatMap(selectorsIn)
        .flatMap(({ name, selector }) => (isOfOthers(name) ? [selector] : [])),
    );
    for (const name of ['backup_completed_timestamp_seconds', 'pg_stat_archiver_failed_count'])
      expect([...selectors]).toContain(name);
    let missing = [...selectors];
    await until(async () => {
      const found = await Promise.all(missing.map(answerOf));
      missing = missing.filter((_, at) => found[at]?.length === 0);
      return missing.length === 0;
    }, 60_000).catch(() => {});
    expect(missing).toEqual([]);

    const { host, port } = app.database.connection;
    const server = `${host}:${port}`;
    const standbys = await answerOf(
      'count by (server, application_name, client_addr, state) (pg_stat_replication_pg_current_wal_lsn_bytes)',
    );
    expect(standbys.map(({ metric }) => metric)).toEqual([
      { server, application_name: 'walreceiver', client_addr: '127.0.0.1', state: 'streaming' },
    ]);
    const archiver = await answerOf('count by (server) (pg_stat_archiver_failed_count)');
    expect(archiver.map(({ metric }) => metric)).toEqual([{ server }]);
    expect(await answerOf('time() - backup_completed_timestamp_seconds < 3600')).toHaveLength(1);
    // The site's certificate is valid for a day.
    const isDue = 'probe_ssl_earliest_cert_expiry{job="blackbox"} - time() < 14 * 86400';
    expect(ruleExpressions()).toContain(isDue);
    expect((await answerOf(isDue)).map(({ metric }) => metric.instance)).toEqual([`https://${secureAddress}/healthz`]);
  },
);

async function firing(): Promise<string[]> {
  const found = await answerOf('ALERTS{alertstate="firing"}');
  return found.map(({ metric }) => metric.alertname as string);
}

withAllPrograms.it('both alerts that watch HAProxy fire when it is stopped, and clear once it is back', async () => {
  const OF_PROXY = ['ProxyAway', 'SiteUnreachable'];
  const [bind, metrics] = [proxy?.url, proxy?.metricsUrl].map((url) => new URL(url ?? '').host);
  // At first, both are healthy.
  await until(async () => (await answerOf('up{job="haproxy"} == 1 and on () probe_success == 1')).length > 0);
  const stoppedMs = performance.now();
  await proxy?.stop();
  await until(async () => {
    const names = await firing();
    return OF_PROXY.every((name) => names.includes(name));
  });
  const seconds = (performance.now() - stoppedMs) / 1000;
  proxy = await startProxy([new URL(app.url).host], {
    BIND: bind ?? '',
    METRICS_BIND: metrics ?? '',
    BIND_TLS: secureAddress,
    CERTIFICATE,
  });
  await until(async () => !(await firing()).some((name) => OF_PROXY.includes(name)));
  printFigures(`HAProxy stopped: ProxyAway and SiteUnreachable fire after ${seconds.toFixed(1)} s`);
});

needs('promtool').it(
  'the names of all metrics, the configuration and the alerts are what promtool accepts',
  async () => {
    const metrics = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    expect(promtool(['check', 'metrics'], await metrics.text())).toEqual({ status: 0, output: '' });
    expect(promtool(['check', 'config', join(folder, 'prometheus.yml')])).toMatchObject({ status: 0 });
    const tests = ['prometheus-rules', 'objectives-rules'].map((name) => `test/deploy/${name}.test.yml`);
    expect(promtool(['test', 'rules', ...tests])).toMatchObject({ status: 0 });
  },
  // promtool evaluates every rule for every minute of days. This takes two minutes of CPU.
  1_800_000,
);
