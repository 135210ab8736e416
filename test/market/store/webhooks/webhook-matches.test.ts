/** The endpoints of contractors with saved searches get matches, and wait until events have been compared. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobId, WebhookDeliveryId, WebhookEndpointId } from '../../../../src/market/rules/ids.js';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { webhookBody } from '../../../../src/market/webhooks/message.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { readPendingDelivery } from '../../../../src/market/store/webhooks/webhook-attempts.js';
import { selectFanOutState, enqueueNextBatch } from '../../../../src/market/store/webhooks/webhook-fan-out.js';
import { insertWebhookEndpoint, waitForMatching } from '../../../../src/market/store/webhooks/webhooks.js';
import { openWebhookLog, type WebhookLog } from './webhook-log.js';

let log: WebhookLog;
let hanna: Viewer;
let carl: Viewer;
beforeAll(async () => {
  log = await openWebhookLog();
  [hanna, carl] = [await log.homeowner(), await log.contractor()];
});
afterAll(() => log.close());

let job: JobId;
let endpoint: WebhookEndpointId;
beforeEach(async () => {
  await log.fanOut();
  await log.sql`update webhook_endpoints set deleted_at = now() where deleted_at is null`;
  await log.sql`delete from saved_searches`;
  job = await log.job(hanna);
  endpoint = await log.endpoint(carl);
});

const positions = async (id: WebhookEndpointId) => (await log.deliveries(id)).map(({ position }) => position);
const waits = async (id: WebhookEndpointId) =>
  (await log.sql`select waits_for_matching from webhook_endpoints where id = ${id}`)[0]?.waits_for_matching as boolean;
const isBehind = async () => (await selectFanOutState(log.db, {}))[0]?.isBehind;

async function save(contractor: Viewer): Promise<string> {
  const id = await log.savedSearch(contractor);
  await waitForMatching(log.db, contractor);
  return id;
}

async function matchAndFanOut(contractor: Viewer, id: JobId): Promise<number> {
  const position = await log.event(id, 'job.published');
  await log.match(contractor, id, position);
  await log.matchUpTo(position);
  await log.fanOut();
  return position;
}

describe('a job that matched a saved search', () => {
  it('is sent to the contractor who saved the search, and to nobody else', async () => {
    const dora = await log.contractor();
    const hers = await log.endpoint(dora);
    await save(carl);
    const position = await matchAndFanOut(carl, job);
    expect(await positions(endpoint)).toEqual([position]);
    expect(await positions(hers)).toEqual([]);
  });

  it('is sent only if the endpoint gets its type', async () => {
    const other = await log.endpoint(carl, ['job.awarded']);
    await save(carl);
    await matchAndFanOut(carl, job);
    expect(await positions(other)).toEqual([]);
  });

  it('sends only the event that matched, not the job’s other events', async () => {
    await save(carl);
    const position = await matchAndFanOut(carl, job);
    await log.matchUpTo(await log.event(job, 'job.expired', 'cancelled'));
    await log.fanOut();
    expect(await positions(endpoint)).toEqual([position]);
  });

  const GONE = {
    'is hidden, because its homeowner is suspended': () =>
      log.sql`update users set suspended_at = now() where id = ${hanna.userId}`,
    'is closed': async () => {
      await log.sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx`update jobs set status = 'cancelled' where id = ${job}`;
      });
    },
  };
  for (const [name, lose] of Object.entries(GONE)) {
    it(`isn’t sent if it ${name}`, async () => {
      await save(carl);
      const position = await log.event(job, 'job.published');
      await log.match(carl, job, position);
      await log.matchUpTo(position);
      await lose();
      await log.fanOut();
      expect(await positions(endpoint)).toEqual([]);
      await log.sql`update users set suspended_at = null`;
    });

    it(`is skipped if it ${name} when it’s sent`, async () => {
      await save(carl);
      await matchAndFanOut(carl, job);
      const [{ id } = { id: '' }] = await log.deliveries(endpoint);
      const body = async () => {
        const delivery = await readPendingDelivery(log.db, id as WebhookDeliveryId);
        return delivery && webhookBody(delivery);
      };
      expect(JSON.parse((await body()) ?? '')).toMatchObject({ type: 'job.published', data: { job_id: job } });
      await lose();
      expect(await body()).toBeUndefined();
      await log.sql`update users set suspended_at = null`;
    });
  }
});

describe('an endpoint of a contractor with a saved search', () => {
  it('waits until events have been compared, while others don’t', async () => {
    const hers = await log.endpoint(hanna);
    await save(carl);
    const first = await log.event(job, 'job.published');
    const second = await log.event(await log.job(hanna), 'job.published');
    await log.match(carl, job, first);
    await log.fanOut();
    expect([await positions(hers), await positions(endpoint)]).toEqual([[first, second], []]);
    expect(await isBehind()).toBe(false);
    await log.matchUpTo(first);
    expect(await isBehind()).toBe(true);
    await log.fanOut();
    expect(await positions(endpoint)).toEqual([first]);
    expect(await isBehind()).toBe(false);
  });

  it('doesn’t get ahead of the others, even if events have been compared', async () => {
    await save(carl);
    const position = await log.event(job, 'job.published');
    await log.match(carl, job, position);
    await log.matchUpTo(position);
    while (await enqueueNextBatch(log.db, { waits: true })) continue;
    expect(await positions(endpoint)).toEqual([]);
    await log.fanOut();
    expect(await positions(endpoint)).toEqual([position]);
  });

  it('gets every event once if the contractor saves the search between an event and its match', async () => {
    await log.sql`insert into bids (id, job_id, contractor_id, amount, status, job_created_at)
      values (${newId('bid')}, ${job}, ${carl.contractorId}, 5, 'pending', now())`;
    const first = await log.event(job, 'job.published');
    await log.fanOut();
    const second = await log.event(job, 'job.expired');
    await save(carl);
    await log.fanOut();
    expect(await positions(endpoint)).toEqual([first]);
    await log.matchUpTo(second);
    await log.fanOut();
    expect(await log.deliveries(endpoint)).toMatchObject([
      { position: first, previous: null },
      { position: second, previous: first },
    ]);
  });

  it('waits from the beginning if it’s created after the search', async () => {
    await save(carl);
    const values = {
      url: 'https://hooks.example.com',
      eventTypes: [],
      accountEventTypes: [],
      secrets: [],
      keyName: '',
    };
    const [ofCarl, ofHanna] = [newId('webhookEndpoint'), newId('webhookEndpoint')];
    await insertWebhookEndpoint(log.db, { ...values, id: ofCarl, userId: carl.userId });
    await insertWebhookEndpoint(log.db, { ...values, id: ofHanna, userId: hanna.userId });
    expect([await waits(ofCarl), await waits(ofHanna)]).toEqual([true, false]);
  });

  it('stops waiting once the searches are deleted and both cursors are at the same position', async () => {
    const search = await save(carl);
    const first = await log.event(job, 'job.published');
    await log.match(carl, job, first);
    await log.sql`delete from saved_searches where id = ${search}`;
    const last = await log.event(job, 'job.updated');
    await log.matchUpTo(first);
    await log.fanOut();
    expect([await waits(endpoint), await positions(endpoint)]).toEqual([true, [first]]);
    await log.matchUpTo(last);
    await log.fanOut();
    expect(await waits(endpoint)).toBe(false);
  });

  it('keeps waiting if another search is saved at the moment when it would stop', async () => {
    const search = await save(carl);
    await log.sql`delete from saved_searches where id = ${search}`;
    const last = await log.event(job, 'job.published');
    await log.matchUpTo(last);
    await log.db.inTransaction(async (tx) => {
      await waitForMatching(tx, carl);
      await log.fanOut();
    });
    expect(await waits(endpoint)).toBe(true);
  });
});

it('the second cursor moves along with the first one while no endpoint waits', async () => {
  await log.matchUpTo(await log.event(job, 'job.published'));
  expect(await isBehind()).toBe(true);
  await log.fanOut();
  const [cursor] = await log.sql`select position = matched_position as together from webhook_cursor`;
  expect([cursor!.together, await isBehind()]).toEqual([true, false]);
});
