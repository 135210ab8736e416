/** Replays don't wait for new events or for other replays, and each event is sent once. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { JobId, WebhookEndpointId } from '../../../../src/market/rules/ids.js';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { enqueueNextBatch } from '../../../../src/market/store/webhooks/webhook-fan-out.js';
import { replay } from '../../../../src/market/store/webhooks/webhook-replay.js';
import { selectWebhookEndpoint } from '../../../../src/market/store/webhooks/webhooks.js';
import type { Db } from '../../../../src/platform/db/database.js';
import { until } from '../../../platform/security/until.js';
import { openWebhookLog, type WebhookLog } from './webhook-log.js';

let log: WebhookLog;
beforeAll(async () => {
  log = await openWebhookLog();
});
afterAll(() => log.close());

let owner: Viewer;
let job: JobId;
let endpoint: WebhookEndpointId;
let first: number;
beforeEach(async () => {
  owner = await log.homeowner();
  job = await log.job(owner);
  endpoint = await log.endpoint(owner);
  first = await log.event(job, 'job.published');
  await log.fanOut();
});

async function replayAll(tx: Db): Promise<number> {
  const [row] = await selectWebhookEndpoint(tx, { id: endpoint });
  const { replayedCount } = await replay(tx, owner, row!.endpoint, { after: '0', until: null });
  return replayedCount;
}

const chain = async () => (await log.deliveries(endpoint)).map(({ position, previous }) => [previous, position]);
const waitingTasks = async () => {
  const rows = await log.sql`select d.id from webhook_deliveries d join tasks t on t.id = d.id
    where d.endpoint_id = ${endpoint} and d.status = 'waiting'`;
  return rows.length;
};

it('a replay doesn’t wait for the fan-out, and skips the events that the fan-out is enqueuing', async () => {
  const second = await log.event(job, 'job.updated');
  await log.db.inTransaction(async (tx) => {
    await enqueueNextBatch(tx, { waits: false });
    expect(await log.db.inTransaction(replayAll)).toBe(1);
  });
  expect(await chain()).toEqual([
    [null, first],
    [first, second],
  ]);
  expect(await waitingTasks()).toBe(2);
});

it('the fan-out doesn’t wait for a replay', async () => {
  await log.sql`delete from webhook_deliveries where endpoint_id = ${endpoint}`;
  const second = await log.db.inTransaction(async (tx) => {
    expect(await replayAll(tx)).toBe(1);
    const position = await log.event(job, 'job.updated');
    await log.fanOut();
    expect((await chain()).map(([, one]) => one)).toEqual([position]);
    return position;
  });
  expect((await chain()).map(([, one]) => one)).toEqual([first, second]);
});

it('an event that the fan-out and a replay enqueue at the same time is sent once', async () => {
  await log.sql`delete from webhook_deliveries where endpoint_id = ${endpoint}`;
  let step: Promise<boolean> | undefined;
  await log.db.inTransaction(async (tx) => {
    await replayAll(tx);
    // As if the endpoint had just switched to the other cursor, which is behind.
    await log.sql`update webhook_endpoints set waits_for_matching = true where id = ${endpoint}`;
    await log.sql`update webhook_cursor set matched_position = ${first - 1}`;
    await log.matchUpTo(first);
    step = enqueueNextBatch(log.db, { waits: true });
    await until(async () => {
      const held = await log.sql`select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like '%/* insertDeliveries */%'`;
      return held.length > 0;
    });
  });
  expect(await step).toBe(true);
  expect(await chain()).toEqual([[null, first]]);
  expect(await waitingTasks()).toBe(1);
});

it('a delivery that is being sent can end during a replay', async () => {
  await log.sql`update tasks set leased_until = now() + interval '30 seconds' where key = ${endpoint}`;
  await log.db.inTransaction(async (tx) => {
    expect(await replayAll(tx)).toBe(1);
    // The queue has two connections, so it must not wait for a replay.
    await log.sql.begin(async (queue) => {
      await queue`set local lock_timeout = 1000`;
      await queue`delete from tasks where key = ${endpoint}`;
      await queue`update webhook_deliveries set status = 'delivered', ended_at = now() where endpoint_id = ${endpoint}`;
    });
  });
  expect(await log.deliveries(endpoint)).toMatchObject([{ status: 'delivered', position: first }]);
});

it('two replays at the same time send each event once', async () => {
  for (let at = 0; at < 30; at += 1) await log.event(job, 'job.updated');
  await log.fanOut();
  await log.sql`delete from webhook_deliveries where endpoint_id = ${endpoint} and position % 2 = 0`;
  const counts = await Promise.all([log.db.inTransaction(replayAll), log.db.inTransaction(replayAll)]);
  expect(counts).toEqual([31, 31]);
  expect(await chain()).toHaveLength(31);
  expect(await waitingTasks()).toBe(31);
});

it('an event from just before the endpoint is replayed, and the fan-out doesn’t send it again', async () => {
  const before = await log.event(job, 'job.updated');
  endpoint = await log.endpoint(owner);
  const after = await log.event(job, 'job.updated');
  expect(await log.db.inTransaction(replayAll)).toBe(2);
  await log.fanOut();
  expect(await chain()).toEqual([
    [null, first],
    [first, before],
    [before, after],
  ]);
});

it('a replay skips the events that wait for matching', async () => {
  await log.matchUpTo(first);
  await log.fanOut();
  await log.sql`update webhook_endpoints set waits_for_matching = true where id = ${endpoint}`;
  const second = await log.event(job, 'job.updated');
  await log.fanOut();
  expect(await log.db.inTransaction(replayAll)).toBe(1);
  expect(await chain()).toEqual([[null, first]]);
  await log.matchUpTo(second);
  await log.fanOut();
  expect(await chain()).toHaveLength(2);
});
