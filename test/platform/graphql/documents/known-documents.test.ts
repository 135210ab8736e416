/** Some requests bypass Apollo, and their responses are the same as Apollo's. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTestApp, type GraphqlAnswer, type Json, type TestApp } from '../../../setup/app.js';
import { gather, givenJob, type GivenJob, type People } from '../../../story/journey.js';

const apollo = vi.hoisted(() => ({ answered: 0 }));
vi.mock('@apollo/server', async (original) => {
  const { ApolloServer, ...others } = await original<typeof import('@apollo/server')>();
  type Request = Parameters<InstanceType<typeof ApolloServer>['executeHTTPGraphQLRequest']>[0];
  class Counting extends ApolloServer {
    override executeHTTPGraphQLRequest(request: Request) {
      apollo.answered += 1;
      return super.executeHTTPGraphQLRequest(request);
    }
  }
  return { ...others, ApolloServer: Counting };
});

let app: TestApp;
let people: People;
let open: GivenJob;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  open = await givenJob(app, 'open', people);
});
afterAll(() => app.close());

interface Sent {
  readonly query: string;
  readonly variables?: object;
  readonly operationName?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response without the parts that differ per call, and whether Apollo sent it. */
async function send({ headers = {}, ...body }: Sent): Promise<{ answer: GraphqlAnswer; byApollo: boolean }> {
  const before = apollo.answered;
  const reply = await app.rest('POST', '/graphql', { token: people.owner.token, headers, body });
  return { answer: { ...reply, ...reply.body }, byApollo: apollo.answered > before };
}

function comparable({ status, headers, data, errors, extensions }: GraphqlAnswer) {
  const ownErrors = errors?.map(({ extensions: { requestId, ...own }, ...error }: Json) => {
    expect(requestId).toBe(headers.get('x-request-id'));
    return { ...error, extensions: own };
  });
  return { status, contentType: headers.get('content-type'), data, errors: ownErrors, extensions };
}

const READ = 'query One($id: ID!) { job(id: $id) { id title homeowner { id user { email } } } }';

describe('a document that Apollo has executed', () => {
  it.each<[string, Sent]>([
    ['that reads', { query: `${READ} # read` }],
    ['that finds nothing', { query: `${READ} # nothing`, variables: { id: `job_${'0'.repeat(27)}` } }],
    ['that is refused', { query: 'mutation ($id: ID!) { publishJob(id: $id) { tokensCharged } } # refused' }],
    ['that is refused in part', { query: '{ viewer { user { id } } users(first: 1) { nodes { id } } }' }],
    [
      'for a client that prefers the other form of JSON',
      {
        query: `${READ} # other form`,
        headers: { accept: 'application/graphql-response+json, application/json;q=0.9' },
      },
    ],
  ])('bypasses Apollo from then on, with the same result: %s', async (_name, sent) => {
    const asked = { variables: { id: open.id }, ...sent };
    const first = await send(asked);
    const second = await send(asked);
    expect([first.byApollo, second.byApollo]).toEqual([true, false]);
    expect(comparable(second.answer)).toEqual(comparable(first.answer));
    expect(second.answer.extensions.cost.requested).toBeGreaterThan(0);
  });

  it('bypasses Apollo for everybody, each with what they may see', async () => {
    const query = `${READ} # everybody`;
    await send({ query, variables: { id: open.id } });
    const before = apollo.answered;
    const stranger = await app.graphql(query, { token: people.other.token, variables: { id: open.id } });
    const nobody = await app.graphql(query, { variables: { id: open.id } });
    expect(apollo.answered).toBe(before);
    expect(stranger.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    expect(JSON.stringify(stranger)).not.toContain(people.owner.email);
    expect(nobody.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  });

  it('makes its changes once per call', async () => {
    const query = 'mutation ($title: String!) { createJob(input: { title: $title, description: "B" }) { job { id } } }';
    for (const title of ['First', 'Second', 'Third']) await send({ query, variables: { title } });
    const made = await app.sql`select title from jobs where title in ('First', 'Second', 'Third') order by created_at`;
    expect(made.map(({ title }) => title)).toEqual(['First', 'Second', 'Third']);
  });
});

describe('Apollo handles', () => {
  const known = `${READ} # known`;
  const page = 'query ($first: Int!) { jobs(first: $first) { nodes { id timeline(first: $first) { nodes { id } } } } }';

  it.each<[string, Sent, string | undefined]>([
    ['a dry run', { query: known, headers: { 'dry-run': 'true' } }, undefined],
    ['variables of a wrong kind', { query: known, variables: { id: { no: 'id' } } }, 'VALIDATION_FAILED'],
    ['variables that are missing', { query: known, variables: {} }, 'VALIDATION_FAILED'],
    ['an operation that is not there', { query: known, operationName: 'Other' }, 'MALFORMED_REQUEST'],
    ['what costs too much', { query: page, variables: { first: 100 } }, 'VALIDATION_FAILED'],
  ])('%s, each time, even for a known document', async (_name, sent, code) => {
    await send({ query: sent.query, variables: { id: open.id, first: 1 } });
    for (let time = 0; time < 2; time += 1) {
      const { answer, byApollo } = await send({ variables: { id: open.id }, ...sent });
      expect(byApollo).toBe(true);
      expect(answer.errors?.[0]?.extensions.code).toBe(code);
    }
  });

  it('a request in the query string', async () => {
    const query = '{ viewer { user { id } } }';
    await send({ query });
    const before = apollo.answered;
    const address = `${app.url}/graphql?${new URLSearchParams({ query }).toString()}`;
    const headers = { authorization: `Bearer ${people.owner.token}`, 'apollo-require-preflight': 'yes' };
    expect((await fetch(address, { headers })).status).toBe(200);
    expect(apollo.answered).toBe(before + 1);
  });
});
