/**
 * `npm run bench:files`: counts the product's files that one warmed-up call enters, using V8's precise coverage, and
 * the lines in src. Code that only runs when a file loads doesn't count. Neither does code that doesn't run before the
 * response in each of ten calls, such as timers. `-- --list` prints the file names.
 */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { addJobs, seedMarket } from '../../src/market/store/seed/seed.js';
import { openDatabase } from './database.js';
import { bidNumber, ownerOf, personOfContractor, personOfHomeowner, seededId } from './market/market.js';
import { startServer } from './servers.js';
import { AWARD, bearer, LIST } from './work/works.js';

const { values: options } = parseArgs({ options: { list: { type: 'boolean', default: false } } });

const SIZE = { jobs: 200, bids: 1_000, people: 100 };
const WARM_UP_CALLS = 50;
const MEASURED_CALLS = 10;
/** Long enough for the work that a call leaves until after its response. */
const PAUSE_MS = 50;
const CALLS = WARM_UP_CALLS + MEASURED_CALLS;
const PRODUCT = join(import.meta.dirname, '../..');
const DIST = `${pathToFileURL(join(PRODUCT, 'dist')).href}/`;

interface Request {
  readonly person: number;
  readonly path: string;
  readonly body?: object;
}

interface FunctionCoverage {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

const database = await openDatabase();
try {
  const market = await seedMarket(database.sql, SIZE, 'no password');
  const [restJobs, graphqlJobs] = [SIZE.jobs + 1, SIZE.jobs + 1 + CALLS];
  await addJobs(database.sql, market, { from: restJobs, count: 2 * CALLS, state: 'open', bids: 5 });
  const server = await startServer('product', database, { flags: ['--inspect=0'] });
  const profiler = await openProfiler(server.debuggerUrl ?? '');
  const owner = (row: number) => personOfHomeowner(ownerOf(row, market));
  const bid = (row: number) => seededId('bid', bidNumber(row, 3));

  const calls: Readonly<Record<string, (n: number) => Request>> = {
    'REST award': (n) => {
      const row = restJobs + n;
      return { person: owner(row), path: `/v1/jobs/${seededId('job', row)}/award`, body: { bid_id: bid(row) } };
    },
    'GraphQL award': (n) => {
      const row = graphqlJobs + n;
      const variables = { id: seededId('job', row), bidId: bid(row) };
      return { person: owner(row), path: '/graphql', body: { query: AWARD, variables } };
    },
    'REST job': () => ({ person: owner(4), path: `/v1/jobs/${seededId('job', 4)}` }),
    'GraphQL list': () => ({ person: personOfContractor(0), path: '/graphql', body: { query: LIST } }),
  };
  for (const [name, requestOf] of Object.entries(calls)) {
    const files = await filesEntered(requestOf, server.port, profiler);
    console.log(`${name.padEnd(15)}${String(files.length).padStart(6)} files`);
    if (options.list) console.log(files.map((file) => `  ${file}`).join('\n'));
  }
  profiler.close();
  await server.stop();
} finally {
  await database.stop();
}
console.log(`${'src'.padEnd(15)}${String(linesOf(join(PRODUCT, 'src'))).padStart(6)} lines`);

async function filesEntered(requestOf: (n: number) => Request, port: number, profiler: Profiler): Promise<string[]> {
  for (let n = 0; n < WARM_UP_CALLS; n += 1) await send(requestOf(n), port);
  const times = new Map<string, number>();
  for (let n = WARM_UP_CALLS; n < CALLS; n += 1) {
    await sleep(PAUSE_MS);
    await profiler.entered();
    await send(requestOf(n), port);
    for (const file of await profiler.entered()) times.set(file, (times.get(file) ?? 0) + 1);
  }
  return [...times]
    .filter(([, entered]) => entered === MEASURED_CALLS)
    .map(([file]) => file)
    .toSorted();
}

async function send({ person, path, body }: Request, port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: bearer(person), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok || text.includes('"errors"')) throw new Error(`${path} was answered with ${answer.status}: ${text}`);
}

interface Profiler {
  /** The built files with a function that was called since the last check. */
  entered(): Promise<string[]>;
  close(): void;
}

async function openProfiler(debuggerUrl: string): Promise<Profiler> {
  const socket = new WebSocket(debuggerUrl, { perMessageDeflate: false });
  await once(socket, 'open');
  let id = 0;
  const call = async (method: string, params: object = {}) => {
    socket.send(JSON.stringify({ id: (id += 1), method, params }));
    const [message] = (await once(socket, 'message')) as [Buffer];
    return JSON.parse(message.toString()).result;
  };
  await call('Profiler.enable');
  await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    entered: async () => {
      const { result } = await call('Profiler.takePreciseCoverage');
      return (result as { url: string; functions: FunctionCoverage[] }[])
        .filter(({ url, functions }) => url.startsWith(DIST) && functions.some(wasCalled))
        .map(({ url }) => url.slice(DIST.length));
    },
    close: () => socket.close(),
  };
}

/** The function around a whole file runs when the file loads. */
function wasCalled({ functionName, ranges: [range] }: FunctionCoverage): boolean {
  return range !== undefined && range.count > 0 && !(functionName === '' && range.startOffset === 0);
}

function linesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .reduce((sum, name) => sum + readFileSync(join(folder, name), 'utf8').split('\n').length - 1, 0);
}
