/**
 * How soon a subscriber gets an event. Jobs are edited at a steady rate, each owner subscribes over graphql-ws, and the
 * clock stops when the event arrives. Then measures the cost of a thousand idle streams.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { seedMarket, type Market } from '../../src/market/store/seed/seed.js';
import { seededId } from './market/market.js';
import { collectGarbage } from '../setup/collect-garbage.js';
import { openDatabase } from './database.js';
import { cpuSeconds, startServer, type RunningServer } from './servers.js';
import { keepFigures, type Latency, type Resting } from './report/summary.js';
import { bearer } from './work/works.js';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    /** Events per second. */
    rate: { type: 'string', default: '100' },
    listeners: { type: 'string', default: '200' },
    idle: { type: 'string', default: '1000' },
    product: { type: 'string' },
    try: { type: 'boolean', default: false },
  },
});
const seconds = Number(options.seconds);
const rate = Number(options.rate);
const listeners = Number(options.listeners);
const idle = Number(options.idle);
const P50_MAX_MS = 10;
const P99_MAX_MS = 50;
const IDLE_MAX_MB = 60;
const IDLE_SECONDS = 30;
const STREAMS_OF_ONE = 10;
const WARM_UP = 200;

/** All streams come from one address, through connections that look like a proxy's. */
const ANY_NUMBER = {
  product: options.product,
  environment: { TRUST_PROXY_HOPS: '1', QUOTA_STREAMS_PER_ADDRESS: '5000' },
};
const DOCUMENT = 'subscription { myEvents { id jobId type occurredAt } }';

const database = await openDatabase();
try {
  const market = await seedMarket(database.sql, { jobs: 10_000, bids: 20_000, people: 2_000 }, 'no password');
  const server = await startServer('product', database, ANY_NUMBER);
  const latency = await measureLatency(server, market);
  console.log(JSON.stringify(latency));
  await server.stop();
  // Uses a new server, because the first still has garbage from the events to collect.
  const rested = await startServer('product', database, { ...ANY_NUMBER, flags: ['--inspect=0'] });
  const resting = await measureIdle(rested, market);
  await rested.stop();
  console.log(JSON.stringify(resting));
  const missed = [
    ...(latency.p50 > P50_MAX_MS ? [`p50 is ${latency.p50} ms and not ${P50_MAX_MS}`] : []),
    ...(latency.p99 > P99_MAX_MS ? [`p99 is ${latency.p99} ms and not ${P99_MAX_MS}`] : []),
    ...(resting.megabytes > IDLE_MAX_MB ? [`${idle} streams take ${resting.megabytes} MB and not ${IDLE_MAX_MB}`] : []),
  ];
  for (const miss of missed) console.log(`Missed: ${miss}.`);
  if (!options.try) keepFigures('live.json', { node: process.version, rate, listeners, idle, latency, resting });
} finally {
  await database.stop();
}

/** From the write, by the database's clock, until its owner receives the event. Both run on this machine. */
async function measureLatency({ port, pid }: RunningServer, market: Market): Promise<Latency> {
  const drafts: { id: string; person: number }[] = await database.sql`
    select min(j.id) as id, h.user_id from jobs j join homeowners h on h.id = j.homeowner_id where j.status = 'open'
    group by h.user_id limit ${listeners}`.then((rows) =>
    rows.map((row) => ({ id: String(row.id), person: personOf(String(row.user_id), market) })),
  );
  const delays: number[] = [];
  let isMeasured = false;
  const clients = await Promise.all(
    drafts.map(({ person }) =>
      listen(port, person, (event) => {
        if (isMeasured) delays.push(Date.now() - Date.parse(event.occurredAt));
      }),
    ),
  );
  const edit = async (n: number) => {
    const { id, person } = drafts[n % drafts.length] ?? { id: '', person: 0 };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/jobs/${id}`, {
      method: 'PUT',
      headers: { authorization: bearer(person), 'content-type': 'application/json' },
      body: JSON.stringify({ requirements: `Bring ladder number ${n}.` }),
    });
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`An edit was refused: ${answer.status} ${body}`);
  };
  for (let n = 0; n < WARM_UP; n += 1) await edit(n);
  isMeasured = true;
  const events = rate * seconds;
  const [began, cpuBefore] = [performance.now(), cpuSeconds(pid)];
  const edits: Promise<void>[] = [];
  for (let n = 0; n < events; n += 1) {
    const dueMs = began + (n * 1_000) / rate - performance.now();
    if (dueMs > 0) await wait(dueMs);
    edits.push(edit(WARM_UP + n));
  }
  await Promise.all(edits);
  for (let waited = 0; delays.length < events && waited < 100; waited += 1) await wait(100);
  const cpu = cpuSeconds(pid) - cpuBefore;
  await Promise.all(clients.map((client) => client.dispose()));
  if (delays.length < events) throw new Error(`Only ${delays.length} of ${events} events arrived.`);
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { events, p50: at(0.5), p99: at(0.99), longest: at(1), cpuMs: Math.round((cpu * 1e6) / events) / 1_000 };
}

async function measureIdle({ port, pid, debuggerUrl = '' }: RunningServer, market: Market): Promise<Resting> {
  await wait(2_000);
  await collectGarbage(debuggerUrl);
  const residentBefore = resident(pid);
  const cpuEmpty = await cpuPercentOf(pid);
  const clients: Client[] = [];
  for (let n = 0; n < idle; n += 1)
    clients.push(await listen(port, 2 * (Math.floor(n / STREAMS_OF_ONE) % market.homeowners) + 1, () => undefined));
  await wait(2_000);
  const cpuPercent = await cpuPercentOf(pid);
  await collectGarbage(debuggerUrl);
  const megabytes = Math.round((resident(pid) - residentBefore) * 10) / 10;
  await Promise.all(clients.map((client) => client.dispose()));
  return { streams: idle, megabytes, cpuPercent: Math.round((cpuPercent - cpuEmpty) * 100) / 100 };
}

async function cpuPercentOf(pid: number): Promise<number> {
  const before = cpuSeconds(pid);
  await wait(IDLE_SECONDS * 1_000);
  return ((cpuSeconds(pid) - before) / IDLE_SECONDS) * 100;
}

function resident(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

function personOf(userId: string, { homeowners }: Market): number {
  for (let n = 1; n <= 2 * homeowners + 3; n += 2) if (seededId('usr', n) === userId) return n;
  throw new Error(`${userId} is no homeowner of the market.`);
}

interface ReceivedEvent {
  readonly id: string;
  readonly occurredAt: string;
}

/** Resolves once the server has acknowledged the connection and accepted the subscription. */
async function listen(port: number, person: number, hear: (event: ReceivedEvent) => void): Promise<Client> {
  const client = createClient({
    url: `ws://127.0.0.1:${port}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    retryAttempts: 0,
    connectionParams: { authorization: bearer(person) },
  });
  await new Promise<void>((resolve) => client.on('connected', () => resolve()));
  client.subscribe<{ myEvents: ReceivedEvent }>(
    { query: DOCUMENT },
    {
      next: ({ data, errors }) => {
        if (errors) throw new Error(JSON.stringify(errors));
        if (data) hear(data.myEvents);
      },
      error: (error) => {
        throw new Error(`A stream failed: ${JSON.stringify(error)}`);
      },
      complete: () => undefined,
    },
  );
  return client;
}
