/** A contractor's CRM keeps up with the market through webhooks, even if it loses some events. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { award, bidOf, must } from '../story/awards.js';
import { gather, givenJob, giveTokens, type People } from '../story/journey.js';
import { until } from '../platform/security/until.js';
import { openCrm, type Crm } from './crm.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' });
  people = await gather(app);
});
afterAll(() => app.close());

let crm: Crm;
afterEach(() => crm.close());

async function deliveries(): Promise<Json[]> {
  const path = `/v1/webhooks/${crm.webhookId}/deliveries?per_page=100`;
  return (await app.rest('GET', path, { token: people.admin.token })).body.data;
}

/** The CRM gets the events that `work` causes, but doesn't store them. */
async function forgetting(work: () => Promise<unknown>): Promise<void> {
  await isUpToDate();
  crm.isForgetful = true;
  await work();
  await isUpToDate();
  crm.isForgetful = false;
}

async function isUpToDate(): Promise<void> {
  const newEvents = () => app.sql`select from events where position is null
    union all select from events where position > (select least(position, matched_position) from webhook_cursor)`;
  await until(async () => (await newEvents()).length === 0);
  await until(async () => (await deliveries()).every(({ status }) => status !== 'waiting'));
}

it('recovers every event and status of its jobs after it lost some', async () => {
  const { awardee } = people;
  crm = await openCrm(app, awardee);
  const job = await givenJob(app, 'open', people);
  await forgetting(async () => {
    await award(app, people, job, job.bids.awardee!);
    await must(app, 'checkIn', awardee, job);
  });
  expect(crm.statusOf(job.id)).not.toBe('in_progress');

  await must(app, 'submitForReview', awardee, job, undefined, { completion_notes: 'Done.' });
  await isUpToDate();
  const { data } = (await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: awardee.token })).body;
  const since = data.slice(data.findIndex(({ type }: Json) => type === 'bid.submitted'));
  await until(async () => since.every(({ id }: Json) => crm.events().some((event) => event.id === id)));
  expect(crm.events().filter(({ position }) => BigInt(position) >= BigInt(since[0].position))).toEqual(since);
  expect(crm.statusOf(job.id)).toBe('in_review');
  // On a busy machine, a replayed event can arrive so late that the CRM asks for it again.
  expect(crm.replays).not.toHaveLength(0);
});

it('asks only once for an event that its contractor can no longer see', async () => {
  const { awardee, owner } = people;
  crm = await openCrm(app, awardee);
  const first = await givenJob(app, 'open', people);
  await forgetting(() => must(app, 'update', owner, first, undefined, { title: 'Mend the whole roof' }));
  await must(app, 'withdraw', awardee, first, first.bids.awardee!);
  const second = await givenJob(app, 'draft', people);
  await must(app, 'publish', owner, second);
  await bidOf(app, awardee, second);
  await until(async () => crm.replays.length === 1);
  await must(app, 'update', owner, second, undefined, { title: 'Mend the other roof' });
  await until(async () => crm.events().at(-1)?.type === 'job.updated');
  await isUpToDate();
  // The CRM replays a gap when it sees it for the second time.
  for (let time = 0; time < 2; time += 1) await crm.fillGaps();
  expect(crm.events().map(({ job_id, type }) => [job_id, type])).not.toContainEqual([first.id, 'job.updated']);
  expect(crm.replays).toHaveLength(1);
});

it('finds its leads with a saved search, and recovers those that it lost', async () => {
  const { stranger, owner, admin } = people;
  await giveTokens(app, admin, owner, 1_000);
  crm = await openCrm(app, stranger);
  const body = { name: 'Leads', filter: { categories: ['roofing'], search: 'gutter' }, alert: 'off' };
  expect((await app.rest('POST', '/v1/saved-searches', { token: stranger.token, body })).status).toBe(201);
  const publish = async (title: string): Promise<string> => {
    const job = await givenJob(app, 'draft', people, { fields: { title } });
    await must(app, 'publish', owner, job);
    return job.id;
  };
  const first = await publish('Mend the gutter');
  await publish('Mend the roof');
  await until(() => crm.events().length === 1);
  let second = '';
  await forgetting(async () => {
    second = await publish('Clean the gutter');
  });
  const third = await publish('Paint the gutter');
  await until(() => crm.events().length === 3);
  expect(crm.events().map(({ job_id, type }) => [job_id, type])).toEqual(
    [first, second, third].map((job) => [job, 'job.published']),
  );
  expect(crm.replays).not.toHaveLength(0);
});
