/**
 * A plugin added to Apollo sees every step of every call. That holds for plans and for graphql-js, and for a document's
 * first and later calls.
 */
import type { ApolloServerPlugin, BaseContext, GraphQLRequestListener } from '@apollo/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { gather, givenJob, type People } from '../../story/journey.js';
import { BY_A_PLAN, BY_GRAPHQL_JS, planned } from '../../setup/plans.js';

vi.mock('../../../src/platform/graphql/executor/plan.js', async (original) => {
  const { observed } = await import('../../setup/plans.js');
  return observed(await original());
});
vi.mock('../../../src/platform/graphql/hooks.js', async (original) => ({
  ...(await original<typeof import('../../../src/platform/graphql/hooks.js')>()),
  OTHER_PLUGINS: [listener],
}));

/** The steps that the plugin has seen since the last check. */
const heard = vi.hoisted((): string[] => []);
const listener = vi.hoisted((): ApolloServerPlugin => {
  const hears = (hook: string) => async () => void heard.push(hook);
  const requestListener: GraphQLRequestListener<BaseContext> = {
    didResolveSource: hears('didResolveSource'),
    didResolveOperation: hears('didResolveOperation'),
    responseForOperation: async () => (heard.push('responseForOperation'), null),
    executionDidStart: async () => {
      heard.push('executionDidStart');
      return {
        willResolveField: ({ info }) => {
          heard.push(`willResolveField ${info.parentType.name}.${info.fieldName}`);
          return (error) => void heard.push(`didResolveField ${info.fieldName}${error ? ': an error' : ''}`);
        },
        executionDidEnd: hears('executionDidEnd'),
      };
    },
    didEncounterErrors: async ({ errors }) => void heard.push(`didEncounterErrors ${errors.length}`),
    willSendResponse: hears('willSendResponse'),
  };
  return { requestDidStart: async () => (heard.push('requestDidStart'), requestListener) };
});

let app: TestApp;
let people: People;
let open: { readonly id: string };
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
  open = await givenJob(app, 'open', people);
});
afterAll(() => app.close());

async function hearing(query: string, variables: object): Promise<string[]> {
  heard.length = 0;
  await app.graphql(query, { token: people.owner.token, variables });
  // Fields run in parallel, in no particular order.
  return heard.toSorted();
}

const READ =
  'query ($id: ID!) { job(id: $id) { __typename id title homeowner { id user { email } } bids { totalCount } } }';
const CHANGE = 'mutation ($id: ID!) { publishJob(id: $id) { tokensCharged } }';

describe.each([
  ['a read', READ],
  ['a refused change', CHANGE],
])('a plugin with %s', (_name, document) => {
  it('gets the same calls from either executor', async () => {
    const expected = await hearing(`${document} ${BY_GRAPHQL_JS}`, { id: open.id });
    const own = `${document} ${BY_A_PLAN}`;
    for (let call = 1; call <= 3; call += 1) expect(await hearing(own, { id: open.id })).toEqual(expected);
    expect(planned.runs.get(own)).toBe(3);
  });
});

it('hears about fields, errors, and the end', async () => {
  expect(await hearing(`${CHANGE} ${BY_A_PLAN} `, { id: open.id })).toEqual(
    [
      'didEncounterErrors 1',
      'didResolveField publishJob: an error',
      'didResolveOperation',
      'didResolveSource',
      'executionDidEnd',
      'executionDidStart',
      'requestDidStart',
      'responseForOperation',
      'willResolveField Mutation.publishJob',
      'willSendResponse',
    ].toSorted(),
  );
  expect(await hearing(`${READ} ${BY_A_PLAN} `, { id: open.id })).toEqual(
    expect.arrayContaining(['willResolveField Job.title', 'didResolveField title', 'willResolveField User.email']),
  );
});
