/** Hanna's dispute with Carl ends when one of them accepts a proposal or a decision, through both APIs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../../src/market/store/new-id.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { APIS, callRest, outcomeOf, restOutcome } from '../../../story/calls.js';
import { contractor } from '../../../story/cast.js';
import { gather, givenJob, PROPOSED, propose, type GivenJob, type People } from '../../../story/journey.js';
import { copiesOf } from '../../../story/scenes.js';

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

type Who = 'owner' | 'awardee';

const disputeOf = async (id: string): Promise<Json> =>
  (await app.rest('GET', `/v1/jobs/${id}/dispute`, { token: people.admin.token })).body;

const say = (by: Who, job: GivenJob, resolution: string) =>
  callRest(app, 'resolveDispute', { by: people[by], job: job.id, body: { resolution } });

const accept = (by: Who, { id }: GivenJob, proposalId: string) =>
  callRest(app, 'acceptResolution', { by: people[by], job: id, body: { proposal_id: proposalId } });

/** A disputed job whose awardee has a stake on it and has made a proposal. */
async function withProposal(): Promise<{ job: GivenJob; ava: People['awardee']; proposalId: string }> {
  const ava = await contractor(app, 'Ava');
  const cast = { ...people, awardee: ava };
  const job = await givenJob(app, 'disputed', cast, { offers: { awardee: { guaranteed_view: true } } });
  return { job, ava, proposalId: (await propose(app, cast, job)).id };
}

describe("the owner accepts the contractor's proposal", () => {
  test.each(APIS)('through %s: the job is completed without credit, and the stake is released', async (api) => {
    const { job, ava, proposalId } = await withProposal();
    const tokens = async () => (await app.rest('GET', '/v1/tokens', { token: ava.token })).body;
    expect(await tokens()).toMatchObject({ held: 5 });
    const asked = { by: people.owner, job: job.id, body: { proposal_id: proposalId } };
    expect(await outcomeOf(app, api, 'acceptResolution', asked)).toMatchObject({ ok: true, status: 200 });
    expect(await tokens()).toMatchObject({ held: 0 });
    const { body: profile } = await app.rest('GET', `/v1/contractors/${ava.profileId}`, { token: ava.token });
    expect(profile).toMatchObject({ completed_jobs: 0, rating_count: 0 });
    expect(await disputeOf(job.id)).toMatchObject({
      proposal: null,
      ending: { how: 'agreement', text: PROPOSED, by: people.owner.userId },
    });
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: ava.token });
    expect(body.data.at(-1)).toMatchObject({
      type: 'job.resolution_accepted',
      actor_id: people.owner.userId,
      from_status: 'disputed',
      to_status: 'completed',
      data: { proposal_id: proposalId },
    });
    expect(await outcomeOf(app, api, 'acceptResolution', asked)).toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  test('and can read its ID next to its text; both belong to the same event', async () => {
    const { job, proposalId } = await withProposal();
    const query = `query($id: ID!, $proposal: ID!) { job(id: $id) { dispute { proposal { id resolution } } }
      node(id: $proposal) { __typename id ... on DisputeProposal { resolution proposedBy } } }`;
    const variables = { id: job.id, proposal: proposalId };
    const { data, errors } = await app.graphql(query, { token: people.owner.token, variables });
    expect(errors).toBeUndefined();
    expect(data.job.dispute.proposal).toEqual({ id: proposalId, resolution: PROPOSED });
    expect(data.node).toMatchObject({ __typename: 'DisputeProposal', id: proposalId, resolution: PROPOSED });
    const [event] = await app.sql`select id from events where job_id = ${job.id} and type = 'job.resolution_proposed'`;
    expect(proposalId.slice(4)).toBe(String(event?.id).slice(4));
    const others = await app.graphql(query, { token: people.bidder.token, variables });
    expect(others.data.node).toBeNull();
    expect(others.errors?.find(({ path }) => path?.[0] === 'node')?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('a proposal can be accepted only as it stands', () => {
  test.each(APIS)(
    'a proposal that changed by one period is rejected through %s, and the job stays disputed',
    async (api) => {
      const job = await givenJob(app, 'disputed', people);
      const first = (await propose(app, people, job)).id;
      expect((await say('awardee', job, `${PROPOSED}.`)).status).toBe(200);
      const asked = { by: people.owner, job: job.id, body: { proposal_id: first } };
      expect(await outcomeOf(app, api, 'acceptResolution', asked)).toMatchObject({
        status: 412,
        code: 'STALE_VERSION',
        fields: ['proposal_id'],
      });
      const { proposal } = await disputeOf(job.id);
      expect(proposal.resolution).toBe(`${PROPOSED}.`);
      expect((await accept('owner', job, proposal.id)).body.status).toBe('completed');
    },
  );

  test("if one party accepts while the other counters, one comes first, and the old text isn't accepted", async () => {
    const [job] = await copiesOf(app, await givenJob(app, 'disputed', people), 1);
    const { id } = await propose(app, people, job!);
    const [accepted, countered] = await Promise.all([
      accept('owner', job!, id),
      say('awardee', job!, 'Half of the price.'),
    ]);
    const outcomes = [accepted, countered].map((answer) => restOutcome(answer).code);
    expect([
      [null, 'INVALID_TRANSITION'],
      ['STALE_VERSION', null],
    ]).toContainEqual(outcomes);
    const { ending, proposal } = await disputeOf(job!.id);
    expect(outcomes[0] === null ? ending.text : proposal.resolution).toBe(
      outcomes[0] === null ? PROPOSED : 'Half of the price.',
    );
  });
});

describe('who can accept, and when, is checked in a fixed order', () => {
  test.each(APIS)('by %s', async (api) => {
    const job = await givenJob(app, 'disputed', people);
    const ask = (by: keyof People, body: object, version?: number) =>
      outcomeOf(app, api, 'acceptResolution', {
        by: people[by],
        job: job.id,
        body,
        ...(version !== undefined && { version }),
      });
    const unknown = { proposal_id: newId('proposal') };
    expect(await ask('owner', unknown)).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    const standing = { proposal_id: (await propose(app, people, job)).id };
    expect(await ask('owner', { proposal_id: newId('event') })).toMatchObject({ status: 400, fields: ['proposal_id'] });
    expect(await ask('admin', standing)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask('bidder', standing)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    // It's their own proposal, whatever version or proposal they send.
    expect(await ask('awardee', standing)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask('awardee', unknown, 99)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask('owner', unknown)).toMatchObject({ status: 412, code: 'STALE_VERSION', fields: ['proposal_id'] });
    expect(await ask('owner', standing, 99)).toMatchObject({ status: 412, code: 'STALE_VERSION', fields: [] });
    expect(
      (await callRest(app, 'resolveDispute', { by: people.owner, job: job.id, body: { resolution: PROPOSED } })).body
        .status,
    ).toBe('completed');
  });

  test('availableActions agrees: the proposer waits, the other can accept, nobody can without a proposal', async () => {
    const job = await givenJob(app, 'disputed', people);
    const foretold = async (by: Who) => {
      const { body } = await app.rest('GET', `/v1/jobs/${job.id}/actions`, { token: people[by].token });
      return body.data.find(({ action }: Json) => action === 'accept_resolution');
    };
    const nobody = { allowed: false, reason: 'INVALID_TRANSITION', message: expect.stringMatching(/Propose a/) };
    expect([await foretold('owner'), await foretold('awardee')]).toMatchObject([nobody, nobody]);
    await propose(app, people, job);
    expect([await foretold('owner'), await foretold('awardee')]).toMatchObject([
      { allowed: true, reason: null },
      { allowed: false, reason: 'FORBIDDEN', message: expect.stringMatching(/^You made the current proposal/) },
    ]);
    const refused = await accept('awardee', job, newId('proposal'));
    expect(refused.body.error).toBe((await foretold('awardee')).message);
    expect((await say('owner', job, 'Nothing is paid back.')).status).toBe(200);
    expect([await foretold('owner'), await foretold('awardee')]).toMatchObject([
      { allowed: false, reason: 'FORBIDDEN' },
      { allowed: true },
    ]);
  });
});

describe('the contractor accepts the decision', () => {
  test.each(APIS)('through %s: the job is completed without credit, and cannot be rated', async (api) => {
    const job = await givenJob(app, 'decision_reached', people);
    const ask = (by: keyof People) => outcomeOf(app, api, 'acceptDecision', { by: people[by], job: job.id });
    const credit = async () =>
      (await app.rest('GET', `/v1/contractors/${people.awardee.profileId}`, { token: people.owner.token })).body;
    const before = await credit();
    for (const other of ['owner', 'admin', 'bidder'] as const)
      expect(await ask(other), other).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await ask('awardee')).toMatchObject({ ok: true });
    expect(await ask('awardee')).toMatchObject({ status: 400, code: 'INVALID_TRANSITION' });
    expect(await credit()).toEqual(before);
    expect(await disputeOf(job.id)).toMatchObject({
      appeal: null,
      ending: { how: 'decision_accepted', text: 'The decision of reachDecision.', by: people.awardee.userId },
    });
    const { body } = await app.rest('GET', `/v1/jobs/${job.id}/events`, { token: people.owner.token });
    expect(body.data.at(-1)).toMatchObject({ type: 'job.decision_accepted', to_status: 'completed' });
    const late = await callRest(app, 'review', { by: people.owner, job: job.id, body: { rating: 5 } });
    expect(restOutcome(late)).toMatchObject({ code: 'INVALID_TRANSITION' });
    expect(late.body.error).toBe('Only a job that you approved can be rated.');
  });
});
