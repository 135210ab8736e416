import { expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.js';
import { ROUTES } from '../../src/rest/routes.js';
import { refusalsOf } from '../../src/rest/openapi/responses.js';
import { BID_ACTION_LIST } from '../../src/market/rules/bids.js';
import { JOB_ACTION_LIST, JOB_CREATION, type Action } from '../../src/market/rules/lifecycle.js';
import { codesOfMutation } from '../story/documented.js';

const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});

/** Each operation, with its row's method and path. */
const actions: readonly (readonly [operation: string, address: string])[] = [
  [JOB_CREATION.operation, 'POST /jobs'],
  ...JOB_ACTION_LIST.map((row) => [row.operation, addressOf(row, '/jobs/{}')] as const),
  ...BID_ACTION_LIST.map((row) => [row.operation, addressOf(row, '/jobs/{}/bids/{}')] as const),
];

function addressOf({ method, path }: Action, resource: string): string {
  return `${method ?? 'POST'} ${path === '' ? resource : `${resource}/${path}`}`;
}

it.each(actions)('%s has one route, %s', (operation, address) => {
  const routes = ROUTES.filter((route) => route.operation.name === operation);
  expect(routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)).toEqual([address]);
});

const OF_BODIES = ['MALFORMED_REQUEST', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

it.each(ROUTES.filter((route) => mutations.includes(route.operation.name)))(
  '$operation.name lists as many codes in its mutation as in REST, except for those about a body',
  (route) => {
    const byRest = [...refusalsOf(route).values()].flat().filter((code) => !OF_BODIES.includes(code));
    expect(codesOfMutation(route.operation.name).toSorted()).toEqual(byRest.toSorted());
  },
);
