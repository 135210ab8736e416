/**
 * The CPU time per request of the server, the primary, and the replica, with and without the replica, for half lists, a
 * fifth each of searches and single jobs, and a tenth of writes.
 */
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { seedMarket, type Market } from '../../src/market/store/seed/seed.js';
import { openPrimaryAndReplica } from '../setup/primary-and-replica.js';
import { ownerOf, personOfContractor, personOfHomeowner, seededId } from './market/market.js';
import { cpuSeconds, postgresCpuSeconds, startServer } from './servers.js';
import { drive } from './work/driver.js';
import { asBytes, LIST, ONE_JOB, type Asked } from './work/works.js';

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, rounds: { type: 'string', default: '3' } },
});

const SETTINGS = ['shared_buffers=256MB', 'max_wal_size=4GB', 'checkpoint_timeout=30min'];
const SEARCH = `query Search($text: String!) { jobs(filter: {search: $text}, first: 20) { nodes { id title } totalCount } }`;
const EDIT = `mutation Edit($id: ID!, $title: String!) { updateJob(id: $id, input: {title: $title}) { job { id version } } }`;
const WORDS = ['roof', 'kitchen', 'leak', 'fence', 'window'];
const READERS = 200;

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
  const market = await seedMarket(sql, { jobs: 20_000, bids: 60_000, people: 4_000 }, 'no password');
  const rows = await sql<{ id: string }[]>`select id from jobs where status = 'open' order by id limit 500`;
  const open = rows.map(({ id }) => Number(id.slice('job_1'.length)));
  await databases.catchUp();
  const requests = Array.from({ length: 4_000 }, (_, n) => asBytes(ask(market, open, n)));
  const next = (n: number) => requests[n % requests.length]!;
  const spent = () => ({
    primary: postgresCpuSeconds(databases.pids.primary),
    replica: databases.pids.replica === undefined ? 0 : postgresCpuSeconds(databases.pids.replica),
  });

  async function measure(environment: Record<string, string>): Promise<Record<string, number>> {
    const database = { environment: { DATABASE_URL: databases.url, ...environment } };
    const server = await startServer('product', database);
    try {
      // Long enough for the server to find out that it's the only one, and for its statements to be prepared.
      await drive({ port: server.port, connections: 16, seconds: 6, next });
      const [before, cpu] = [spent(), cpuSeconds(server.pid)];
      const { answered, refused, seconds } = await drive({
        port: server.port,
        connections: 16,
        seconds: Number(options.seconds),
        next,
      });
      const after = spent();
      const perRequest = (used: number) => Math.round((used / answered) * 1e6);
      return {
        server: perRequest(cpuSeconds(server.pid) - cpu),
        primary: perRequest(after.primary - before.primary),
        replica: perRequest(after.replica - before.replica),
        'per second': Math.round(answered / seconds),
        refused,
      };
    } finally {
      await server.stop();
    }
  }

  for (let round = 1; round <= Number(options.rounds); round += 1) {
    console.table({
      'without a replica': await measure({}),
      'with a replica': await measure({ DATABASE_REPLICA_URL: databases.replicaUrl }),
    });
  }
  console.log('Microseconds of CPU per request.');
} finally {
  await sql.end({ timeout: 5 });
  await databases.remove();
}
