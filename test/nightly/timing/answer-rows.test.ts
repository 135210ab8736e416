/** How many bytes of each result stay in old space, where they live until a full collection. */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { connect, named } from '../../../src/platform/db/database.js';
import { freshDatabase } from '../../setup/postgres.js';

const ANSWERS = 4_000;
const BYTES_STAYING_MAX = 2_000;
const LONG = named(
  'long',
  `select json_agg(json_build_array(n, md5(n::text), md5((n + $1::int)::text))) from generate_series(1, 40) n`,
);

const oldSpace = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;

test('almost nothing of a response stays in old space', async () => {
  // Otherwise, optimized code for the driver sometimes hides the effect.
  setFlagsFromString('--no-opt');
  const database = await freshDatabase();
  const db = connect(database.connection, { poolSize: 2 });
  const read = async (answers: number) => {
    for (let n = 0; n < answers; n += 1) await db.send(LONG, [n]);
  };
  let before = 0;
  let moved = 0;
  let collections = 0;
  // A young-space collection adds to old space, and an old-space collection frees some.
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
    const now = oldSpace();
    moved += Math.max(0, now - (before || now));
    before = now;
  });
  await read(ANSWERS / 4);
  observer.observe({ entryTypes: ['gc'] });
  await read(ANSWERS);
  observer.disconnect();
  await db.close();
  await database.drop();
  expect(collections).toBeGreaterThan(2);
  expect(moved / ANSWERS).toBeLessThan(BYTES_STAYING_MAX);
});
