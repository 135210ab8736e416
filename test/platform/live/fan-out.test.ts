/** The fan-out offers each batch to all of a server's streams. */
import { expect, it } from 'vitest';
import type { Db } from '../../../src/platform/db/database.js';
import { createFanOut } from '../../../src/platform/live/fan-out.js';

it('a stream that fails to receive a batch reads it itself, and the others receive it', async () => {
  const heard: unknown[] = [];
  const entries = ['broken', 'whole'].map((key, at) => ({ key, event: { position: String(at + 2) } }));
  const fanOut = createFanOut<(typeof entries)[number]>({} as Db, {
    queries: { readBatch: () => Promise.resolve(entries), keysOf: ({ key }) => [key] },
    metrics: { recordBatch: () => {} },
    onFailure: (error) => heard.push(error),
  });
  const failure = new Error('This event is unreadable.');
  const subscriber = (key: string) => ({ key, readerId: null, onGap: () => heard.push(`${key}: gap`), end: () => {} });
  fanOut.advanceTo(1n);
  const onBatch = () => {
    throw failure;
  };
  fanOut.join({ ...subscriber('broken'), onBatch });
  fanOut.join({ ...subscriber('whole'), onBatch: (batch) => heard.push(batch) });
  fanOut.advanceTo(3n);
  await expect.poll(() => heard).toEqual([failure, 'broken: gap', [entries[1]]]);
  expect(fanOut.cursor).toBe(3n);
  await fanOut.close();
});
