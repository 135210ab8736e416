// How many bytes of each answer the driver leaves in old space, where they stay until all of it is collected.
// Arguments: the connection as JSON. To be run with --no-opt: what compilers make of the driver's code hides it, now
// and then.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import postgres from 'postgres';

const ANSWERS = 4_000;
const LONG = `select json_agg(json_build_array(n, md5(n::text), md5((n + $1::int)::text))) from generate_series(1, 40) n`;

const sql = postgres({ ...JSON.parse(process.argv[2]), max: 2, fetch_types: false });
const read = async (answers) => {
  for (let n = 0; n < answers; n += 1) await sql.unsafe(LONG, [n], { prepare: true }).values();
};

const oldSpace = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space').space_used_size;
let before;
let moved = 0;
let collections = 0;
/** What a collection of young space adds to old space; one of old space takes away. */
const observer = new PerformanceObserver((list) => {
  collections += list.getEntries().length;
  const now = oldSpace();
  moved += Math.max(0, now - (before ?? now));
  before = now;
});

await read(ANSWERS / 4);
observer.observe({ entryTypes: ['gc'] });
await read(ANSWERS);
observer.disconnect();
await sql.end();
console.log(JSON.stringify({ collections, bytesAnAnswer: Math.round(moved / ANSWERS) }));
