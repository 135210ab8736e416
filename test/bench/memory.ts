/**
 * The server's memory over time, under a steady mix of reads and writes. Measures the resident memory every minute. At
 * the end, it must not exceed the first minutes' value. Memory that the next garbage collection would free doesn't
 * count.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from './database.js';
import { openLine } from './work/driver.js';
import { addJobs, seedMarket } from '../../src/market/store/seed/seed.js';
import { startServer } from './servers.js';
import { asBytes, WORKS, type Work } from './work/works.js';
import { keepFigures } from './report/summary.js';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '150' },
    product: { type: 'string' },
    try: { type: 'boolean', default: false },
  },
});
const minutes = Number(options.minutes);
/** Requests per second, of all kinds together. */
const rate = Number(options.rate);
const MIXTURE = ['list', 'job', 'viewer', 'rest-list', 'rest-job', 'publish', 'award', 'check-in'];
const CONNECTIONS = 16;

const works = MIXTURE.map((name) => WORKS.find((work) => work.name === name)).filter(
  (work): work is Work => work !== undefined,
);
const database = await openDatabase();
try {
  const market = await seedMarket(database.sql, { jobs: 10_000, bids: 50_000, people: 2_000 }, 'no password');
  const rowsOfEach = Math.ceil((minutes * 60 * rate) / works.length) + CONNECTIONS;
  let nextRow = 10_001;
  const firstRows = new Map<Work, number>();
  for (const work of works) {
    if (!work.stock) continue;
    firstRows.set(work, nextRow);
    for (let made = 0; made < rowsOfEach; made += 5_000)
      await addJobs(database.sql, market, {
        from: nextRow + made,
        count: Math.min(5_000, rowsOfEach - made),
        ...work.stock,
      });
    nextRow += rowsOfEach;
  }
  const server = await startServer('product', database, { product: options.product });
  const lines = await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => openLine(server.port, n)));
  const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1_024;
  let asked = 0;
  let refused = 0;
  const began = Date.now();
  const ends = began + minutes * 60_000;

  async function keepAsking(at: number): Promise<void> {
    const line = lines[at];
    for (let n = at; Date.now() < ends && line; n += CONNECTIONS) {
      const due = began + (n * 1_000) / rate;
      if (due > Date.now()) await wait(due - Date.now());
      const work = works[n % works.length] as Work;
      const turn = Math.floor(n / works.length);
      const answer = await line.ask(asBytes(work.ask(market, (firstRows.get(work) ?? 0) + turn, turn)));
      asked += 1;
      if (answer.refused) refused += 1;
    }
  }

  const samples: number[] = [];
  const asking = Promise.all(lines.map((_, at) => keepAsking(at)));
  for (let minute = 1; minute <= minutes; minute += 1) {
    await wait(began + minute * 60_000 - Date.now());
    samples.push(Math.round(resident() * 10) / 10);
    console.log(`minute ${minute}: ${samples.at(-1)} MB resident, ${asked} answered, ${refused} refused`);
  }
  await asking;
  for (const line of lines) line.close();
  await server.stop();
  const tenth = Math.max(1, Math.floor(samples.length / 10));
  const [early, late] = [Math.max(...samples.slice(0, tenth)), Math.max(...samples.slice(-tenth))];
  console.log(`The most in the first ${tenth} minutes: ${early} MB; in the last: ${late} MB.`);
  if (!options.try)
    keepFigures('memory.json', { node: process.version, minutes, rate, asked, refused, megabytes: samples });
} finally {
  await database.stop();
}
