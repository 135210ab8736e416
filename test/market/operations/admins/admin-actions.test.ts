/** Admins' actions on others are recorded in the same transaction, and admins can look them up. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../../src/market/operations/index.js';
import type { UserId } from '../../../../src/market/rules/ids.js';
import { isWrite } from '../../../../src/platform/call/operation.js';
import type { Operation } from '../../../../src/market/operations/operation.js';
import { recordAdminAction } from '../../../../src/market/store/accounts/admin-actions.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { callRest } from '../../../story/calls.js';
import type { Person } from '../../../story/cast.js';
import { happyCall } from '../../../story/happy-calls.js';
import { gather, givenJob, laterDeadline, type People } from '../../../story/journey.js';
import { bought, OWN_APP } from '../purchases/buyer.js';
import { byGraphql, byRest, invalid } from '../../../apis/refused.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({ PAYMENTS: 'local', ...OWN_APP });
  people = await gather(app);
});
afterAll(() => app.close());

const post = (path: string, body: object = {}, headers = {}) =>
  app.rest('POST', `/v1${path}`, { token: people.admin.token, body, headers });
const rows = () => app.sql`select * from admin_actions order by created_at, id`;

/** Each operation as an admin calls it. Returns the job concerned, if any. */
const CALLS: Readonly<Record<string, () => Promise<string | null>>> = {
  verifyContractor: () => onUser(`/contractors/${people.stranger.profileId}/verify`, { reason: 'Papers seen.' }),
  unverifyContractor: () => onUser(`/contractors/${people.stranger.profileId}/unverify`, { reason: 'A complaint.' }),
  adjustTokens: () => onUser('/tokens/adjustments', { user_id: people.stranger.userId, amount: 5, reason: 'A gift.' }),
  refundPurchase: async () => {
    const id = await bought(app, people.stranger);
    await fetch(`${app.url}/checkout/${id}`, { method: 'POST', body: new URLSearchParams({ choice: 'pay' }) });
    return onUser(`/purchases/${id}/refund`, { tokens: 20, reason: 'Bought twice.' });
  },
  sendPasswordReset: () => onUser(`/users/${people.stranger.userId}/password-reset`),
  settleEmailUndo: async () => {
    const address = `former.${newId('user')}@example.test`.toLowerCase();
    await app.sql`update users set email_undo = 'pending', email_undo_address = ${address}
      where id = ${people.stranger.userId}`;
    return onUser(`/users/${people.stranger.userId}/email-undo`, { keep: 'current', reason: 'The stronger proof.' });
  },
  suspendUser: () =>
    onUser(`/users/${people.stranger.userId}/suspend`, { reason: 'Asks for money.', until: '2999-01-01T00:00:00Z' }),
  restoreUser: () => onUser(`/users/${people.stranger.userId}/restore`, { reason: 'A mistake.' }),
  endUserSessions: () => onUser(`/users/${people.stranger.userId}/end-sessions`, { reason: 'A stolen phone.' }),
  resendEmailVerification: async () => {
    await app.sql`update users set email_verified = false where id = ${people.stranger.userId}`;
    return onUser(`/users/${people.stranger.userId}/email/verification`);
  },
  reachDecision: () => onJob('reachDecision'),
  finalizeAppeal: () => onJob('finalizeAppeal'),
  completeJob: () => onJob('complete'),
  extendDeadline: async () => {
    const { id } = await givenJob(app, 'decision_reached', people);
    const until = laterDeadline({ state: 'decision_reached' });
    expect((await post(`/jobs/${id}/extend-deadline`, { until })).status).toBe(200);
    return id;
  },
};

async function onUser(path: string, body?: object): Promise<null> {
  expect((await post(path, body)).status).toBeLessThan(300);
  return null;
}

async function onJob(key: 'reachDecision' | 'finalizeAppeal' | 'complete'): Promise<string> {
  const states = { reachDecision: 'escalated', finalizeAppeal: 'appealed', complete: 'open' } as const;
  const job = await givenJob(app, states[key], people);
  expect((await callRest(app, key, happyCall(key, people, job))).status).toBe(200);
  return job.id;
}

describe("an admin's action on others", () => {
  it('is recorded once: who did what, to whom, when, and why', async () => {
    const ofAdmins = Object.values<Operation<unknown, unknown>>(OPERATIONS)
      .filter((one) => isWrite(one) && Array.isArray(one.allows) && one.allows.includes('admin'))
      .map(({ name }) => name);
    // The test clock concerns nobody.
    expect(Object.keys(CALLS).toSorted()).toEqual(ofAdmins.filter((name) => name !== 'advanceClock').toSorted());
    const reasons: Readonly<Record<string, string>> = {
      verifyContractor: 'Papers seen.',
      unverifyContractor: 'A complaint.',
      restoreUser: 'A mistake.',
      endUserSessions: 'A stolen phone.',
      adjustTokens: 'A gift.',
      refundPurchase: 'Bought twice.',
      settleEmailUndo: 'The stronger proof.',
      suspendUser: 'Asks for money.',
      completeJob: 'The reason of complete.',
    };
    const details: Readonly<Record<string, object>> = {
      suspendUser: { until: new Date('2999-01-01T00:00:00Z') },
      adjustTokens: { amount: 5 },
      refundPurchase: { amount: -20 },
      reachDecision: { decision: 'The decision of reachDecision.' },
      finalizeAppeal: { decision: 'The final decision of finalizeAppeal.' },
      extendDeadline: { until: expect.any(Date) },
      completeJob: { decision: 'no_credit' },
      settleEmailUndo: { decision: 'current' },
    };
    for (const [action, call] of Object.entries(CALLS)) {
      await app.sql`alter table admin_actions disable trigger user`;
      await app.sql`delete from admin_actions`;
      await app.sql`alter table admin_actions enable trigger user`;
      const jobId = await call();
      // An appeal and an extension need an admin's earlier decision, which is recorded too.
      expect(
        (await rows()).filter((row) => row.action !== 'reachDecision' || row.action === action),
        action,
      ).toEqual([
        {
          id: expect.stringMatching(/^act_\w{27}$/),
          admin_id: people.admin.userId,
          action,
          user_id: jobId ? people.owner.userId : people.stranger.userId,
          job_id: jobId,
          other_user_id: jobId && action !== 'completeJob' ? people.awardee.userId : null,
          reason: reasons[action] ?? null,
          until: null,
          amount: null,
          decision: null,
          ...details[action],
          created_at: expect.any(Date),
        },
      ]);
    }
  });

  it('leaves no record if it was refused, changed nothing, was replayed, or was a dry run', async () => {
    const { userId, profileId } = people.bidder;
    const before = await rows();
    await post(`/contractors/${profileId}/unverify`, { reason: 'Never verified.' });
    expect((await post('/tokens/adjustments', { user_id: userId, amount: -900, reason: 'x' })).status).toBe(400);
    expect((await post(`/contractors/${profileId}/verify`, {}, { 'Dry-Run': 'true' })).body.verified).toBe(true);
    expect(await rows()).toEqual(before);
    const credit = { user_id: userId, amount: 1, reason: 'x', external_reference: 'once' };
    for (const headers of [{ 'Idempotency-Key': 'a' }, { 'Idempotency-Key': 'a' }, {}])
      expect((await post('/tokens/adjustments', credit, headers)).status).toBe(201);
    expect(await rows()).toHaveLength(before.length + 1);
  });

  it('is recorded by a transaction that succeeds, and not by one that fails', async () => {
    const { admin, bidder } = people;
    const act = (action: string, fails = false) =>
      app.services.db.inTransaction(async (tx) => {
        await recordAdminAction(
          tx,
          { userId: admin.userId as UserId },
          { action, subjectId: bidder.userId, reason: 'A test.' },
        );
        if (fails) throw new Error('This transaction fails.');
      });
    await act('endsByItself');
    await expect(act('fails', true)).rejects.toThrow('fails');
    const recorded = (await rows()).filter(({ reason }) => reason === 'A test.');
    expect(recorded.map(({ action, admin_id: adminId, user_id: userId }) => [action, adminId, userId])).toEqual([
      ['endsByItself', admin.userId, bidder.userId],
    ]);
  });

  it("isn't carried out if it can't be recorded", async () => {
    const { profileId, userId } = people.bidder;
    await app.sql.unsafe(`alter table admin_actions add constraint none check (user_id <> '${userId}') not valid`);
    expect((await post(`/contractors/${profileId}/verify`)).status).toBe(500);
    await app.sql`alter table admin_actions drop constraint none`;
    const contractor = await app.rest('GET', `/v1/contractors/${profileId}`, { token: people.admin.token });
    expect(contractor.body.verified).toBe(false);
  });
});

describe('the list', () => {
  const LIST = `query ($filter: AdminActionFilter) { adminActions(filter: $filter, first: 50) { totalCount nodes {
    id action adminId userId jobId reason createdAt admin { email } user { email } job { id title } } } }`;
  const read = (person: Person, query = '') => app.rest('GET', `/v1/admin-actions${query}`, { token: person.token });

  it('is newest first, by admin, by person, and by operation, the same in both APIs', async () => {
    const job = await onJob('complete');
    const all = (await rows()).toReversed();
    const { body } = await read(people.admin);
    expect(body.data.map(({ id }: Json) => id)).toEqual(all.map(({ id }) => id));
    expect(body.data[0]).toMatchObject({ action: 'completeJob', job_id: job, user_id: people.owner.userId });
    expect((await read(people.admin, `/${body.data[0].id}`)).body).toEqual(body.data[0]);
    const { adminId, userId, action } = {
      adminId: people.admin.userId,
      userId: people.owner.userId,
      action: 'completeJob',
    };
    const other = newId('user');
    for (const [query, filter, count] of [
      [`?admin_id=${adminId}`, { adminId }, all.length],
      [`?admin_id=${other}`, { adminId: other }, 0],
      [`?user_id=${userId}`, { userId }, all.filter((row) => row.user_id === userId).length],
      [`?action=${action}&user_id=${userId}`, { action, userId }, all.filter((row) => row.action === action).length],
    ] as const) {
      const listed = (await read(people.admin, query)).body.data;
      const { data } = await app.graphql(LIST, { token: people.admin.token, variables: { filter } });
      expect([listed.length, data.adminActions.totalCount]).toEqual([count, count]);
      expect(data.adminActions.nodes.map(({ id }: Json) => id)).toEqual(listed.map(({ id }: Json) => id));
    }
    const { data } = await app.graphql(LIST, { token: people.admin.token });
    expect(data.adminActions.nodes[0]).toMatchObject({
      admin: { email: people.admin.email },
      user: { email: people.owner.email },
      job: { id: job },
    });
    expect(byRest(await read(people.admin, '?admin_id=x'))).toEqual(invalid('admin_id'));
    // The name of the REST route isn't the name of the operation.
    const misspelled = await read(people.admin, '?action=complete-job');
    expect(misspelled.body.details.fields.action.replace('must be one of ', '').split(', ')).toEqual(
      Object.keys(CALLS).toSorted(),
    );
    const variables = { filter: { action: 'complete-job' } };
    expect(byGraphql(await app.graphql(LIST, { token: people.admin.token, variables }))).toEqual(invalid('action'));
  });

  it('lists a decision for both parties and for its job, page by page', async () => {
    const job = await givenJob(app, 'escalated', people);
    expect((await callRest(app, 'reachDecision', happyCall('reachDecision', people, job))).status).toBe(200);
    const [decided] = await app.sql`select id from admin_actions where job_id = ${job.id}`;
    const { owner, awardee, bidder, admin } = people;
    const ids = async (query: string) => (await read(admin, query)).body.data.map(({ id }: Json) => id);
    expect(await ids(`?job_id=${job.id}`)).toEqual([decided?.id]);
    for (const { userId } of [owner, awardee]) {
      expect((await ids(`?user_id=${userId}`))[0]).toBe(decided?.id);
      expect(await ids(`?user_id=${userId}&job_id=${job.id}`)).toEqual([decided?.id]);
      // Together, the pages are the whole list.
      const whole = await ids(`?user_id=${userId}`);
      const pages = await Promise.all(
        whole.map((_: string, at: number) => ids(`?user_id=${userId}&per_page=1&page=${at + 1}`)),
      );
      expect(pages.flat()).toEqual(whole);
      const { data } = await app.graphql(LIST, { token: admin.token, variables: { filter: { userId } } });
      expect(data.adminActions.nodes.map(({ id }: Json) => id)).toEqual(whole);
      expect(data.adminActions.totalCount).toBe(whole.length);
    }
    expect(await ids(`?user_id=${bidder.userId}&job_id=${job.id}`)).toEqual([]);
    const { body } = await read(admin, `/${decided?.id}`);
    expect(body).toMatchObject({ decision: expect.stringContaining('decision'), until: null, amount: null });
    await expect(app.sql`update admin_actions set decision = 'x' where id = ${decided?.id ?? ''}`).rejects.toThrow();
    await expect(
      app.sql`update admin_actions set other_user_id = 'x' where id = ${decided?.id ?? ''}`,
    ).rejects.toThrow();
    await app.sql`update admin_actions set decision = null where id = ${decided?.id ?? ''}`;
    expect((await read(admin, `/${decided?.id}`)).body.decision).toBe(null);
  });

  it('shows whether a completion gave credit, the same in both APIs', async () => {
    const { id } = await givenJob(app, 'in_review', people);
    const body = { reason: 'The owner is away.', credit_contractor: true };
    expect((await post(`/jobs/${id}/complete`, body)).status).toBe(200);
    const { data: listed } = (await read(people.admin, `?job_id=${id}`)).body;
    expect(listed).toMatchObject([{ action: 'completeJob', decision: 'credit' }]);
    const { data } = await app.graphql(
      'query ($id: ID!) { adminActions(filter: { jobId: $id }, first: 2) { nodes { id decision } } }',
      { token: people.admin.token, variables: { id } },
    );
    expect(data.adminActions.nodes).toEqual([{ id: listed[0].id, decision: 'credit' }]);
  });

  it("doesn't show an erased reason", async () => {
    await app.sql`update admin_actions set reason = null where action = 'completeJob'`;
    const { body } = await read(people.admin, '?action=completeJob');
    expect(body.data.map(({ reason }: Json) => reason)).toEqual(body.data.map(() => null));
  });

  it('is only for admins', async () => {
    const [{ id } = { id: '' }] = await rows();
    const FORBIDDEN = { status: 403, code: 'FORBIDDEN', fields: [] };
    for (const person of [people.owner, people.awardee]) {
      for (const path of ['', `/${id}`]) expect(byRest(await read(person, path))).toEqual(FORBIDDEN);
      expect(byGraphql(await app.graphql(LIST, { token: person.token }))).toEqual(FORBIDDEN);
      const node = await app.graphql(`{ node(id: "${id}") { id } }`, { token: person.token });
      expect(byGraphql(node)).toEqual(FORBIDDEN);
    }
  });
});
