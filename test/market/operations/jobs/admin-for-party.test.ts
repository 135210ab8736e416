/**
 * Effects pay, refund, and credit the job's people, whoever calls. Here, an admin may do things for Olive that normally
 * only she can do, so the caller and the payer differ.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { callRest, type OperationKey } from '../../../story/calls.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, type People } from '../../../story/journey.js';

vi.mock('../../../../src/market/rules/lifecycle.js', async (original) => {
  const { JOB_TRANSITIONS, OTHER_JOB_ACTIONS, ...lifecycle } =
    await original<typeof import('../../../../src/market/rules/lifecycle.js')>();
  const forAdmins = <Row extends object>(row: Row) => ({ ...row, actor: 'admin' });
  const transitions = {
    ...JOB_TRANSITIONS,
    publish: forAdmins(JOB_TRANSITIONS.publish),
    cancel: forAdmins(JOB_TRANSITIONS.cancel),
    approve: forAdmins(JOB_TRANSITIONS.approve),
  };
  const others = { ...OTHER_JOB_ACTIONS, update: forAdmins(OTHER_JOB_ACTIONS.update) };
  const actions = { ...transitions, ...others };
  return {
    ...lifecycle,
    JOB_TRANSITIONS: transitions,
    OTHER_JOB_ACTIONS: others,
    JOB_ACTIONS: actions,
    JOB_ACTION_LIST: Object.values(actions),
  };
});

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

async function balances(): Promise<Record<'owner' | 'admin', number>> {
  const of = async (userId: string) => {
    const [row] = await app.sql<{ balance: number }[]>`select balance from token_balances where user_id = ${userId}`;
    return row?.balance ?? 0;
  };
  return { owner: await of(people.owner.userId), admin: await of(people.admin.userId) };
}

async function byAdmin(key: OperationKey, job: string, body: object = {}) {
  const answer = await callRest(app, key, { by: people.admin, job, body });
  expect([key, answer.status, answer.body]).toMatchObject([key, 200, {}]);
  return answer.body;
}

test("an admin publishes, edits, and cancels for Olive: she pays and is refunded, and the admin isn't", async () => {
  const before = await balances();
  const { id } = await givenJob(app, 'draft', people);
  const published = await byAdmin('publish', id);
  expect(published).toMatchObject({ tokens_charged: 5, remaining_balance: before.owner - 5 });
  expect(await balances()).toEqual({ ...before, owner: before.owner - 5 });
  await byAdmin('update', id, { urgency: 'priority' });
  expect(await balances()).toEqual({ ...before, owner: before.owner - 15 });
  await byAdmin('cancel', id);
  expect(await balances()).toEqual(before);
  const moved = await app.sql`select user_id, reason from token_transfers where job_id = ${id} order by created_at`;
  expect(moved.map(({ user_id, reason }) => [user_id, reason])).toEqual([
    [people.owner.userId, 'publish'],
    [people.owner.userId, 'urgency_raise'],
    [people.owner.userId, 'publish_refund'],
  ]);
});

test("an admin can't publish what Olive can't pay for, however many tokens the admin has", async () => {
  const { id } = await givenJob(app, 'draft', people);
  await app.sql`update token_balances set balance = 1000 where user_id = ${people.admin.userId}`;
  await app.sql`update token_balances set balance = 4 where user_id = ${people.owner.userId}`;
  const refused = await callRest(app, 'publish', { by: people.admin, job: id });
  expect(refused.body.details).toMatchObject({ code: 'INSUFFICIENT_TOKENS', required: 5, available: 4 });
  await app.sql`update token_balances set balance = 1000 where user_id = ${people.owner.userId}`;
});

test('an admin approves the work for Olive: Ava is credited and rated', async () => {
  const { id } = await givenJob(app, 'in_review', people);
  await byAdmin('approve', id, { rating: 5 });
  const [ava] =
    await app.sql`select completed_jobs, rating_count from contractors where id = ${people.awardee.profileId}`;
  expect(ava).toEqual({ completed_jobs: 1, rating_count: 1 });
});
