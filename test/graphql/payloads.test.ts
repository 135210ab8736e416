/**
 * Each mutation has its own payload, named after it. The payload has the changed object, its edge in a list, and the
 * current viewer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getNamedType, isObjectType } from 'graphql';
import { schema } from '../../src/graphql/schema.js';
import { contractor, homeowner, type Person } from '../story/cast.js';
import { openTestApp, type TestApp } from '../setup/app.js';

let app: TestApp;
let hanna: Person;
let carl: Person;
beforeAll(async () => {
  app = await openTestApp();
  hanna = await homeowner(app, 'Hanna');
  carl = await contractor(app, 'Carl');
});
afterAll(() => app.close());

const mutations = Object.values(schema.getMutationType()!.getFields());
/** Nobody is signed in before or after these mutations. */
const ABOUT_SESSIONS = [
  'signUpHomeowner',
  'signUpContractor',
  'logIn',
  'refreshSession',
  'logOut',
  'requestPasswordReset',
  'resetPassword',
  'verifyEmail',
  'undoEmailChange',
];

describe.each(mutations)('$name', ({ name, type: answered }) => {
  const type = getNamedType(answered);

  it('returns a type named after it', () => {
    expect(type.name).toBe(`${name[0]!.toUpperCase()}${name.slice(1)}Payload`);
  });

  it('returns the viewer, if there is one', () => {
    const viewer = isObjectType(type) ? type.getFields().viewer : undefined;
    expect(viewer && String(viewer.type)).toBe(ABOUT_SESSIONS.includes(name) ? undefined : 'Viewer');
  });

  it('is the only null field if it is refused', () => {
    expect(String(answered)).toBe(type.name);
  });
});

const DRAFT = `mutation {
  createJob(input: { title: "A sink", description: "It drips.", category: "plumbing", urgency: STANDARD,
    addressLine1: "1 Main", city: "Austin", state: "TX", budgetMin: 100 }) {
    job { id } jobEdge { cursor node { id title } } viewer { id user { id } tokens { available } }
  }
}`;

async function draft() {
  const { data, errors } = await app.graphql(DRAFT, { token: hanna.token });
  expect(errors).toBeUndefined();
  return data.createJob;
}

it('a new job is returned as an edge whose cursor has its place in the list', async () => {
  const [older, newer] = [await draft(), await draft()];
  expect(newer.jobEdge.node).toEqual({ id: newer.job.id, title: 'A sink' });
  const list = await app.graphql('{ jobs(first: 1) { edges { cursor node { id title } } } }', { token: hanna.token });
  expect(list.data.jobs.edges).toEqual([newer.jobEdge]);
  const next = await app.graphql('query ($after: String) { jobs(first: 1, after: $after) { nodes { id } } }', {
    token: hanna.token,
    variables: { after: newer.jobEdge.cursor },
  });
  expect(next.data.jobs.nodes).toEqual([{ id: older.job.id }]);
});

it('a new bid is returned as an edge whose cursor has its place in the list', async () => {
  const { job } = await draft();
  await app.graphql('mutation ($id: ID!) { publishJob(id: $id) { tokensCharged } }', {
    token: hanna.token,
    variables: { id: job.id },
  });
  const { data, errors } = await app.graphql(
    `mutation ($id: ID!) {
      submitBid(jobId: $id, input: { amount: 5, guaranteedView: true }) {
        bid { id } bidEdge { cursor node { id amount } } viewer { tokens { balance held available } }
      }
    }`,
    { token: carl.token, variables: { id: job.id } },
  );
  expect(errors).toBeUndefined();
  const list = await app.graphql('query ($id: ID!) { job(id: $id) { bids { edges { cursor node { id amount } } } } }', {
    token: hanna.token,
    variables: { id: job.id },
  });
  expect(list.data.job.bids.edges).toEqual([data.submitBid.bidEdge]);
  const { balance } = data.submitBid.viewer.tokens;
  expect(data.submitBid.viewer.tokens).toEqual({ balance, held: 5, available: balance - 5 });
});

it('a publication shows the remaining tokens, for real and as a dry run', async () => {
  const { job, viewer } = await draft();
  expect(viewer.id).toBe(hanna.userId.replace('usr_', 'vwr_'));
  expect(viewer.user.id).toBe(hanna.userId);
  const publish = (headers: Record<string, string>) =>
    app.graphql(
      'mutation ($id: ID!) { publishJob(id: $id) { job { status } tokensCharged remainingBalance viewer { tokens ' +
        '{ available } } } }',
      { token: hanna.token, variables: { id: job.id }, headers },
    );
  for (const headers of [{ 'dry-run': 'true' }, { 'dry-run': 'false' }]) {
    const { publishJob } = (await publish(headers)).data;
    expect(publishJob).toEqual({
      job: { status: 'OPEN' },
      tokensCharged: 5,
      remainingBalance: viewer.tokens.available - 5,
      viewer: { tokens: { available: viewer.tokens.available - 5 } },
    });
  }
});

it('a deleted draft is named, so caches can remove it', async () => {
  const { job } = await draft();
  const { data } = await app.graphql('mutation ($id: ID!) { deleteJob(id: $id) { deletedJobId job { title } } }', {
    token: hanna.token,
    variables: { id: job.id },
  });
  expect(data.deleteJob).toEqual({ deletedJobId: job.id, job: { title: 'A sink' } });
});

it('identifiers are passed as ID', () => {
  const named = (input: string, field: string) => {
    const type = schema.getType(input);
    return String(type && 'getFields' in type && (type.getFields()[field] as { type: unknown }).type);
  };
  expect(named('AwardJobInput', 'bidId')).toBe('ID!');
  expect(named('AdjustTokensInput', 'userId')).toBe('ID!');
  expect(named('JobFilter', 'homeownerId')).toBe('ID');
});

it("a completed mutation is reported as completed, even if part of its result can't be read", async () => {
  const { token } = await homeowner(app, 'Hilda');
  const { job } = (await app.graphql(DRAFT, { token })).data.createJob;
  const { status, data, errors } = await app.graphql(
    'mutation ($id: ID!) { publishJob(id: $id) { tokensCharged job { bids(first: 0) { totalCount } } } }',
    { token, variables: { id: job.id } },
  );
  expect([status, data]).toEqual([200, { publishJob: { tokensCharged: 5, job: null } }]);
  expect(errors).toMatchObject([{ path: ['publishJob', 'job', 'bids'], extensions: { code: 'VALIDATION_FAILED' } }]);
});

it("a secret that is shown once is shown, even if part of its result can't be read", async () => {
  const { data } = await app.graphql(
    'mutation { createApiKey(input: { name: "Export" }) { secret viewer { apiKeys(first: 0) { totalCount } } } }',
    { token: hanna.token },
  );
  expect(data).toEqual({ createApiKey: { secret: expect.stringMatching(/^jmk_/), viewer: { apiKeys: null } } });
});

it('of several mutations, the completed ones return results, and a refused one is null', async () => {
  const { data, errors } = await app.graphql(
    `mutation {
      done: createJob(input: { title: "A door", description: "It creaks." }) { job { title } }
      refused: createJob(input: { title: "", description: "" }) { job { title } }
    }`,
    { token: hanna.token },
  );
  expect(data).toEqual({ done: { job: { title: 'A door' } }, refused: null });
  expect(errors).toMatchObject([{ path: ['refused'], extensions: { code: 'VALIDATION_FAILED' } }]);
});
