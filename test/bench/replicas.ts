/**
 * Measures the CPU time per request of the server, the primary, and the replica, with and without the replica. The
 * requests are 50% lists, 20% searches, 20% single jobs, and 10% writes.
 */
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { seedMarket, type Market } from '../../src/market/store/seed/seed.js';
import { openPrimaryAndReplica } from '../setup/primary-and-replica.js';
import { ownerOf, personOfContractor, personOfHomeowner, seededId } from './market/market.js';
import { cpuSeconds, postgresCpuSeconds, startServer } from './servers.js';
import { keepFigures, type PerRequest } from './report/summary.js';
import { drive } from './work/driver.js';
import { asBytes, LIST, ONE_JOB, type Asked } from './work/works.js';

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, rounds: { type: 'string', default: '3' } },
});

const SETTINGS = ['shared_buffers=256MB', 'max_wal_size=4GB', 'checkpoint_timeout=30min'];
const SEARCH =
  'query Search($text: String!) { jobs(filter: {search: $text}, first: 20) { nodes { id title } totalCount } }';
const EDIT =
  'mutation Edit($id: ID!, $title: String!) { updateJob(id: $id, input: {title: $title}) { job { id version } } }';
const WORDS = ['roof', 'kitchen', 'leak', 'fence', 'window'];
const READERS = 200;
const JOBS = 20_000;

function ask(market: Market, open: readonly number[], n: number): Asked {
  const reader = personOfContractor((n * 7) % READERS);
  const job = open[n % open.length]!;
  const id = seededId('job', job);
  const call = (person: number, query: string, variables: Record<string, unknown> = {}): Asked => ({
    method: 'POST',
    path: '/graphql',
    person,
    body: { operationName: /^\w+ (\w+)/.exec(query)?.[1] ?? '', query, variables },
  });
  const kind = n % 10;
  if (kind < 5) return call(reader, LIST);
  if (kind < 7) return call(reader, SEARCH, { text: WORDS[n % WORDS.length] });
  if (kind < 9) return call(reader, ONE_JOB, { id });
  return call(personOfHomeowner(ownerOf(job, market)), EDIT, { id, title: `Mend it, edition ${n}` });
}

const databases = await openPrimaryAndReplica(SETTINGS);
const sql = postgres(databases.url, { max: 2, fetch_types: false, onnotice: () => {} });
try {
  const market = await seedMarket(sql, { jobs: JOBS, bids: 3 * JOBS, people: JOBS / 5 }, 'no password');
  const rows = await sql<{ id: string }[]>`select id from jobs where status = 'open' order by id limit 500`;
  const open = rows.map(({ id }) => Number(id.slice('job_1'.length)));
  await databases.catchUp();
  const requests = Array.from({ length: 4_000 }, (_, n) => asBytes(ask(market, open, n)));
  const next = (n: number) => requests[n % requests.length]!;
  const spent = () => ({
    primary: postgresCpuSeconds(databases.pids.primary),
    replica: databases.pids.replica === undefined ? 0 : postgresCpuSeconds(databases.pids.replica),
  });

  async function measure(environment: Record<string, string>): Promise<PerRequest> {
    const database = { environment: { DATABASE_URL: databases.url, ...environment } };
    const server = await startServer('product', database);
    try {
      // Long enough for the server to find out that it's the only one, and for its statements to be prepared.
      await drive({ port: server.port, connections: 16, seconds: 6, next });
      const [before, cpu] = [spent(), cpuSeconds(server.pid)];
      const { answered, refused } = await drive({
        port: server.port,
        connections: 16,
        seconds: Number(options.seconds),
        next,
      });
      if (refused > 0) throw new Error(`${refused} of ${answered} requests were refused.`);
      const after = spent();
      const perRequest = (used: number) => Math.round((used / answered) * 1e6);
      return {
        server: perRequest(cpuSeconds(server.pid) - cpu),
        primary: perRequest(after.primary - before.primary),
        replica: perRequest(after.replica - before.replica),
      };
    } finally {
      await server.stop();
    }
  }

  const rounds: { without: PerRequest; with: PerRequest }[] = [];
  for (let round = 1; round <= Number(options.rounds); round += 1) {
    rounds.push({ without: await measure({}), with: await measure({ DATABASE_REPLICA_URL: databases.replicaUrl }) });
    console.table(rounds.at(-1));
  }
  const median = (setup: 'without' | 'with', part: keyof PerRequest) =>
    rounds.map((round) => round[setup][part]).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)]!;
  const medians = (setup: 'without' | 'with'): PerRequest => ({
    server: median(setup, 'server'),
    primary: median(setup, 'primary'),
    replica: median(setup, 'replica'),
  });
  keepFigures('replicas.json', { jobs: JOBS, without: medians('without'), with: medians('with') });
} finally {
  await sql.end({ timeout: 5 });
  await databases.remove();
}
