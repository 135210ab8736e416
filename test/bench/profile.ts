/**
 * Where the product spends its time: profiles one of the bench's reads, and prints the time per package, file, and
 * function.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from './database.js';
import { drive } from './work/driver.js';
import { addJobs, seedMarket } from '../../src/market/store/seed/seed.js';
import { startServer } from './servers.js';
import { asBytes, WORKS } from './work/works.js';

const { values: options } = parseArgs({
  options: {
    work: { type: 'string', default: 'list' },
    server: { type: 'string', default: 'product' },
    lines: { type: 'string', default: '40' },
  },
});
const work = WORKS.find(({ name }) => name === options.work);
if (!work) throw new Error(`--work takes one of ${WORKS.map(({ name }) => name).join(', ')}.`);
if (options.server !== 'product' && options.server !== 'floor') throw new Error('--server is product or floor.');

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const folder = mkdtempSync(join(tmpdir(), 'marketplace-profile-'));
const database = await openDatabase();
try {
  const market = await seedMarket(database.sql, { jobs: 10_000, bids: 50_000, people: 2_000 }, 'no password');
  const count = work.stock ? 30_000 : 400;
  if (work.stock) await addJobs(database.sql, market, { from: 10_001, count, ...work.stock });
  const requests = Array.from({ length: count }, (_, n) => asBytes(work.ask(market, 10_001 + n, n)));
  const next = (from: number) => (n: number) => (work.stock ? requests[from + n] : requests[n % count]);
  const server = await startServer(options.server, database, { flags: ['--cpu-prof', `--cpu-prof-dir=${folder}`] });
  const warm = await drive({ port: server.port, connections: work.connections, seconds: 3, next: next(0) });
  const measured = await drive({
    port: server.port,
    connections: work.connections,
    seconds: 6,
    next: next(warm.answered + work.connections),
  });
  await server.stop();
  console.log(
    `${work.name}: ${Math.round(measured.answered / measured.seconds)} a second, ${measured.refused} refused`,
  );
  for (const file of readdirSync(folder)) report(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile);
} finally {
  await database.stop();
  rmSync(folder, { recursive: true });
}

function report({ nodes, samples, timeDeltas }: Profile): void {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const places = new Map<string, number>();
  const functions = new Map<string, number>();
  const add = (to: Map<string, number>, what: string, microseconds: number) =>
    to.set(what, (to.get(what) ?? 0) + microseconds);
  let total = 0;
  for (const [at, id] of samples.entries()) {
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(id) ?? {};
    if (functionName === '(idle)') continue;
    const microseconds = timeDeltas[at] ?? 0;
    total += microseconds;
    const file = url.replace(/^.*?\/(?=node_modules\/|dist\/|rivals\/)/, '');
    add(functions, `${functionName || '(no name)'} ${file}:${lineNumber + 1}`, microseconds);
    add(places, /^node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? (file || functionName), microseconds);
  }
  for (const table of [places, functions]) {
    console.log('');
    for (const [what, spent] of [...table].toSorted(([, a], [, b]) => b - a).slice(0, Number(options.lines)))
      console.log(`${((100 * spent) / total).toFixed(1).padStart(5)} %  ${what}`);
  }
}
