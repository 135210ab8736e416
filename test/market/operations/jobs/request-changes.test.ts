/** Olive sends the work back for changes, through both APIs, at most three times per job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDatabase } from '../../../setup/database/checker.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { everythingOn, eventsSince, must } from '../../../story/awards.js';
import { APIS, callRest, outcomeOf, restOutcome } from '../../../story/calls.js';
import { gather, givenJob, propose, PROPOSED, type GivenJob, type People } from '../../../story/journey.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(async () => {
  expect(await checkDatabase(app.sql)).toEqual([]);
  await app.close();
});

const CHANGES = { reason: 'It’s almost done.', items: ['Seal the joint.', 'Remove the old faucet.'] };

/** Work in progress on which Olive has requested changes. */
async function sentBack(): Promise<GivenJob> {
  const job = await givenJob(app, 'in_review', people);
  await must(app, 'requestChanges', people.owner, job, undefined, CHANGES);
  return { ...job, state: 'in_progress' };
}

const timelineOf = async (who: keyof People, job: GivenJob): Promise<Json[]> =>
  (await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: people[who].token })).body.data;

describe('a request for changes', () => {
  test.each(APIS)('through %s sends the work back to Ava, who reads what to change', async (api) => {
    const job = await givenJob(app, 'in_review', people);
    const [row] = await app.sql<[{ events: number; version: number }]>`
      select event_count as events, version from jobs where id = ${job.id}`;
    const asked = { by: people.owner, job: job.id, body: CHANGES };
    expect(await outcomeOf(app, api, 'requestChanges', asked)).toMatchObject({ ok: true, status: 200 });
    const [after] = await app.sql`select status, version, change_request_count as requests from jobs
      where id = ${job.id}`;
    expect(after).toEqual({ status: 'in_progress', version: row.version + 1, requests: 1 });
    expect(await eventsSince(app, job, row.events)).toEqual([
      { type: 'job.changes_requested', from: 'in_review', to: 'in_progress', data: CHANGES },
    ]);
    for (const who of ['owner', 'awardee', 'admin'] as const)
      expect((await timelineOf(who, job)).at(-1)).toMatchObject({ type: 'job.changes_requested', data: CHANGES });
    expect((await timelineOf('bidder', job)).at(-1)).toMatchObject({ type: 'job.changes_requested', data: {} });
  });

  test('needs a reason, and may have no checklist', async () => {
    const job = await givenJob(app, 'in_review', people);
    const answer = await callRest(app, 'requestChanges', { by: people.owner, job: job.id, body: { reason: 'Rust.' } });
    expect(answer.body).toMatchObject({ status: 'in_progress' });
    expect((await timelineOf('awardee', job)).at(-1)).toMatchObject({ data: { reason: 'Rust.' } });
  });

  test('leads to another submission, and an approval then credits Ava once', async () => {
    const before = (await app.rest('GET', `/v1/contractors/${people.awardee.profileId}`, people.awardee)).body;
    const job = await sentBack();
    await must(app, 'submitForReview', people.awardee, job, undefined, { completion_notes: 'Sealed.' });
    await must(app, 'approve', people.owner, job, undefined, { rating: 5 });
    const after = (await app.rest('GET', `/v1/contractors/${people.awardee.profileId}`, people.awardee)).body;
    expect(after.completed_jobs).toBe(before.completed_jobs + 1);
  });
});

describe('from then on', () => {
  test.each(APIS)('through %s, Olive can’t cancel, and can’t change the requirements', async (api) => {
    const job = await sentBack();
    const before = await everythingOn(app, job);
    const asked = { by: people.owner, job: job.id };
    expect(await outcomeOf(app, api, 'cancel', asked)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    expect(
      await outcomeOf(app, api, 'update', {
        ...asked,
        body: { requirements: 'A new roof', desired_completion_date: '2030-06-20' },
      }),
    ).toMatchObject({ status: 400, code: 'FIELD_NOT_EDITABLE', blocked: ['requirements'] });
    expect(await everythingOn(app, job)).toEqual(before);
    expect(
      await outcomeOf(app, api, 'update', { ...asked, body: { desired_completion_date: '2030-06-20' } }),
    ).toMatchObject({ ok: true });
  });

  test('the completion date keeps its base from the check-in', async () => {
    const job = await sentBack();
    const body = { desired_completion_date: '2030-07-16' };
    const late = await callRest(app, 'update', { by: people.owner, job: job.id, body });
    expect(restOutcome(late)).toMatchObject({ code: 'COMPLETION_DATE_SHIFT_TOO_LARGE' });
  });

  test.each(APIS)('Olive can dispute the work in progress through %s, and Ava can settle the dispute', async (api) => {
    const job = await sentBack();
    const asked = { by: people.owner, job: job.id, body: { reason: 'Nothing happens.' } };
    expect(await outcomeOf(app, api, 'dispute', asked)).toMatchObject({ ok: true });
    const { body: dispute } = await app.rest('GET', `/v1/jobs/${job.id}/dispute`, { token: people.awardee.token });
    expect(dispute).toMatchObject({ reason: 'Nothing happens.', ending: null });
    await propose(app, people, job);
    await must(app, 'resolveDispute', people.owner, job, undefined, { resolution: PROPOSED });
    const [row] = await app.sql`select status from jobs where id = ${job.id}`;
    expect(row).toEqual({ status: 'completed' });
  });

  test('both actions are listed as they are', async () => {
    const allowed = async (job: GivenJob) => {
      const { body } = await app.rest('GET', `/v1/jobs/${job.id}/actions`, { token: people.owner.token });
      return body.data.filter((one: Json) => one.allowed).map(({ action }: Json) => action);
    };
    expect(await allowed(await givenJob(app, 'in_progress', people))).toEqual(['cancel', 'update']);
    expect(await allowed(await sentBack())).toEqual(['dispute', 'update']);
  });

  test('Ada can still complete the job', async () => {
    const job = await sentBack();
    const body = { reason: 'Both agreed by phone.' };
    const { body: completed } = await callRest(app, 'complete', { by: people.admin, job: job.id, body });
    expect(completed.status).toBe('completed');
  });
});

describe('a refusal changes nothing, and comes in the fixed order', () => {
  test.each(APIS)('without requested changes, work in progress can’t be disputed through %s', async (api) => {
    const job = await givenJob(app, 'in_progress', people);
    const before = await everythingOn(app, job);
    const asked = { by: people.owner, job: job.id, body: { reason: 'Too slow.' } };
    expect(await outcomeOf(app, api, 'dispute', asked)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    const { body } = await callRest(app, 'dispute', asked);
    expect(body).toMatchObject({
      error: 'Only a job in review can be disputed.',
      details: { from_state: 'in_progress', allowed_operations: ['cancelJob', 'updateJob'] },
    });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test.each(APIS)('a fourth request is refused through %s, and the work can be approved', async (api) => {
    const job = await givenJob(app, 'in_review', people);
    for (let request = 1; request <= 3; request += 1) {
      await must(app, 'requestChanges', people.owner, job, undefined, CHANGES);
      await must(app, 'submitForReview', people.awardee, job);
    }
    const before = await everythingOn(app, job);
    const asked = { by: people.owner, job: job.id, body: CHANGES };
    expect(await outcomeOf(app, api, 'requestChanges', asked)).toMatchObject({
      status: 400,
      code: 'INVALID_TRANSITION',
    });
    const { body } = await callRest(app, 'requestChanges', asked);
    expect(body).toMatchObject({
      error: 'You have already requested changes 3 times. Approve or dispute the work.',
      details: { from_state: 'in_review', allowed_operations: ['approveJob', 'disputeJob', 'extendDeadline'] },
    });
    expect(await everythingOn(app, job)).toEqual(before);
    await must(app, 'approve', people.owner, job, undefined, {});
  });

  test.each(APIS)('through %s: the role, the input, whose job it is, its version, and its state', async (api) => {
    const job = await givenJob(app, 'in_progress', people);
    const before = await everythingOn(app, job);
    const ask = (by: People['owner'] | undefined, body: object, version?: number) =>
      outcomeOf(app, api, 'requestChanges', { by, job: job.id, body, ...(version !== undefined && { version }) });
    const tooMany = { reason: 'All of it.', items: Array.from({ length: 21 }, () => 'One.') };
    expect(await ask(undefined, CHANGES)).toMatchObject({ status: 401 });
    expect(await ask(people.awardee, tooMany)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask(people.other, tooMany)).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['items'] });
    for (const other of [people.other, people.admin, people.bidder])
      expect(await ask(other, CHANGES)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask(people.owner, CHANGES, 1)).toMatchObject({ status: 412, code: 'STALE_VERSION' });
    expect(await ask(people.owner, CHANGES)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    expect(await everythingOn(app, job)).toEqual(before);
  });

  test.each([
    [{}, 'reason'],
    [{ reason: '   ' }, 'reason'],
    [{ reason: 'x'.repeat(5_001) }, 'reason'],
    [{ ...CHANGES, items: ['x'.repeat(201)] }, 'items'],
    [{ ...CHANGES, items: ['  '] }, 'items'],
    [{ ...CHANGES, items: 'Seal the joint.' }, 'items'],
  ])('names the field that needs attention: %j', async (body, field) => {
    const job = await givenJob(app, 'in_review', people);
    const answer = await callRest(app, 'requestChanges', { by: people.owner, job: job.id, body });
    expect(restOutcome(answer)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(Object.keys(answer.body.details.fields)[0]).toMatch(new RegExp(`^${field}`));
  });
});
