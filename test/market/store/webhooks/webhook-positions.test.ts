/** Each delivery has the position of the one before it, so a receiver can tell that it missed one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventType } from '../../../../src/market/rules/events.js';
import type { JobId, WebhookEndpointId } from '../../../../src/market/rules/ids.js';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { deleteExpired } from '../../../../src/market/store/housekeeping.js';
import { enqueueNextBatch } from '../../../../src/market/store/webhooks/webhook-fan-out.js';
import fc from '../../../setup/random/property.js';
import { openWebhookLog, type WebhookLog } from './webhook-log.js';

let log: WebhookLog;
beforeAll(async () => {
  log = await openWebhookLog();
});
afterAll(() => log.close());

const chain = async (endpoint: WebhookEndpointId) =>
  (await log.deliveries(endpoint)).map(({ position, previous }) => [previous, position]);

async function deleteOldDeliveries(): Promise<void> {
  await log.sql`update webhook_deliveries set created_at = now() - interval '31 days'`;
  await log.sql`update tasks set created_at = now() - interval '31 days'`;
  await deleteExpired(log.db, (_, error) => {
    throw error;
  });
}

describe('a delivery', () => {
  it('has its event’s position and the previous delivery’s, within a step and across steps', async () => {
    const owner = await log.homeowner();
    const job = await log.job(owner);
    const endpoint = await log.endpoint(owner);
    const first = await log.event(job, 'job.published');
    const second = await log.event(job, 'job.updated');
    await log.fanOut();
    const third = await log.event(job, 'job.awarded');
    await log.fanOut();
    expect(await chain(endpoint)).toEqual([
      [null, first],
      [first, second],
      [second, third],
    ]);
  });

  it('doesn’t count events that its endpoint doesn’t get', async () => {
    const owner = await log.homeowner();
    const other = await log.homeowner();
    const [job, foreign] = [await log.job(owner), await log.job(other)];
    const published = await log.endpoint(owner, ['job.published']);
    const updated = await log.endpoint(owner, ['job.updated']);
    const all: number[] = [];
    for (const type of ['job.published', 'job.updated', 'job.updated', 'job.published'] as const) {
      all.push(await log.event(job, type));
      await log.event(foreign, type);
    }
    await log.fanOut();
    expect(await chain(published)).toEqual([
      [null, all[0]],
      [all[0], all[3]],
    ]);
    expect(await chain(updated)).toEqual([
      [null, all[1]],
      [all[1], all[2]],
    ]);
  });

  it('follows the last job event or account event', async () => {
    const owner = await log.homeowner();
    const job = await log.job(owner);
    const endpoint = await log.endpoint(owner, [], ['webhook.failing']);
    const account = await log.accountEvent(owner, 'webhook.failing');
    const ofJob = await log.event(job, 'job.published');
    const accountAgain = await log.accountEvent(owner, 'webhook.failing');
    await log.fanOut();
    expect(await chain(endpoint)).toEqual([
      [null, account],
      [account, ofJob],
      [ofJob, accountAgain],
    ]);
  });

  it('is inserted in order in a step that takes several statements', async () => {
    const owner = await log.homeowner();
    const job = await log.job(owner);
    const endpoint = await log.endpoint(owner, [], ['webhook.failing']);
    const account = await log.accountEvent(owner, 'webhook.failing');
    for (let at = 0; at < 250; at += 1)
      await log.sql`insert into events (id, job_id, sequence, type, homeowner_id)
        values (${newId('event')}, ${job}, ${at + 1}, 'job.updated', ${owner.homeownerId})`;
    const last = await log.event(job, 'job.updated');
    await log.fanOut();
    const all = Array.from({ length: last - account + 1 }, (_, at) => account + at);
    expect(await chain(endpoint)).toEqual(all.map((position, at) => [all[at - 1] ?? null, position]));
  });

  it('ignores test events', async () => {
    const owner = await log.homeowner();
    const job = await log.job(owner);
    const endpoint = await log.endpoint(owner);
    const first = await log.event(job, 'job.published');
    await log.fanOut();
    await log.sql`insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status)
      values (${newId('webhookDelivery')}, ${endpoint}, ${newId('event')}, 'webhook.test', 'waiting')`;
    const second = await log.event(job, 'job.updated');
    await log.fanOut();
    expect((await chain(endpoint)).at(-1)).toEqual([first, second]);
  });

  it('follows one that was deleted after a month', async () => {
    const owner = await log.homeowner();
    const job = await log.job(owner);
    const endpoint = await log.endpoint(owner);
    await log.event(job, 'job.published');
    const last = await log.event(job, 'job.updated');
    await log.fanOut();
    await deleteOldDeliveries();
    expect(await chain(endpoint)).toEqual([]);
    const next = await log.event(job, 'job.awarded');
    await log.fanOut();
    expect(await chain(endpoint)).toEqual([[last, next]]);
    // A second cleanup doesn't move the last position back.
    await log.sql`update webhook_deliveries set position = 1 where endpoint_id = ${endpoint}`;
    await deleteOldDeliveries();
    const [row] = await log.sql`select last_position from webhook_endpoints where id = ${endpoint}`;
    expect(Number(row!.last_position)).toBe(last);
  });

  it('isn’t inserted again, and doesn’t get a second task, if its event is read again', async () => {
    const owner = await log.homeowner();
    const job = await log.job(owner);
    const endpoint = await log.endpoint(owner);
    for (let at = 0; at < 3; at += 1) await log.event(job, 'job.updated');
    await log.fanOut();
    const before = await log.deliveries(endpoint);
    await log.sql`update webhook_cursor set position = 0, matched_position = 0`;
    await log.fanOut();
    expect(await log.deliveries(endpoint)).toEqual(before);
    const tasks = await log.sql`select id from tasks where key = ${endpoint} order by id`;
    expect(tasks.map(({ id }) => id)).toEqual(before.map(({ id }) => id).toSorted());
  });
});

const TYPES = ['job.published', 'job.updated', 'job.awarded'] as const satisfies EventType[];

/** What happens next. Numbers choose among the owners and endpoints. */
const anyAction = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('event' as const), owner: fc.nat(1), type: fc.constantFrom(...TYPES) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('account event' as const), owner: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('step' as const), waits: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('match' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('endpoint' as const), owner: fc.nat(1), types: fc.subarray([...TYPES]) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), at: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clean up' as const) }) },
);
type Action = typeof anyAction extends fc.Arbitrary<infer S> ? S : never;

class History {
  readonly #endpoints: { id: WebhookEndpointId; owner: number; types: readonly string[]; expected: number[] }[] = [];
  readonly #found = new Map<WebhookEndpointId, Map<string, [previous: number | null, position: number]>>();
  #last = 0;

  constructor(
    readonly owners: readonly Viewer[],
    readonly jobs: readonly JobId[],
  ) {}

  async take(action: Action): Promise<void> {
    switch (action.kind) {
      case 'event':
        return this.#expect(action.owner, action.type, await log.event(this.jobs[action.owner]!, action.type));
      case 'account event':
        return this.#expect(action.owner, FAILING, await log.accountEvent(this.owners[action.owner]!, FAILING));
      case 'step':
        return void (await enqueueNextBatch(log.db, action));
      case 'match':
        return log.matchUpTo(this.#last);
      case 'endpoint': {
        const id = await log.endpoint(this.owners[action.owner]!, action.types, [FAILING]);
        return void this.#endpoints.push({ ...action, id, expected: [] });
      }
      case 'wait': {
        const id = this.#endpoints[action.at]?.id ?? '';
        return void (await log.sql`update webhook_endpoints set waits_for_matching = true where id = ${id}`);
      }
      case 'clean up':
        await this.finish();
        return deleteOldDeliveries();
    }
  }

  #expect(owner: number, type: string, position: number): void {
    this.#last = position;
    for (const { owner: other, types, expected } of this.#endpoints)
      if (other === owner && (types.length === 0 || types.includes(type) || type === FAILING)) expected.push(position);
  }

  async finish(): Promise<void> {
    await log.matchUpTo(this.#last);
    await log.fanOut();
    for (const { id, expected } of this.#endpoints) {
      const found = this.#found.get(id) ?? new Map();
      this.#found.set(id, found);
      for (const { id: delivery, position, previous } of await log.deliveries(id))
        found.set(delivery, [previous, position]);
      expect([...found.values()]).toEqual(expected.map((position, at) => [expected[at - 1] ?? null, position]));
    }
  }
}

const FAILING = 'webhook.failing';

it('has the position of the one before it, in any history of events, steps, searches, and cleanups', async () => {
  const property = async (actions: Action[]) => {
    const owners = [await log.homeowner(), await log.homeowner()];
    const history = new History(owners, await Promise.all(owners.map((owner) => log.job(owner))));
    for (const action of actions) await history.take(action);
    await history.finish();
    await log.sql`update webhook_endpoints set deleted_at = now() where deleted_at is null`;
  };
  await fc.assert(fc.asyncProperty(fc.array(anyAction, { minLength: 10, maxLength: 60 }), property), { numRuns: 25 });
});
