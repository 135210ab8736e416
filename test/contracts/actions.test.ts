import { expect, it } from 'vitest';
import { createSchema } from '../../src/graphql/schema.js';
import { ROUTES } from '../../src/rest/routes.js';
import { BID_TRANSITION_LIST } from '../../src/rules/bids.js';
import { JOB_ACTION_LIST, JOB_CREATION } from '../../src/rules/lifecycle.js';

const mutations = Object.keys(createSchema().getMutationType()?.getFields() ?? {});
const routes = ROUTES.map(({ operation }) => operation.name);
const operations = [JOB_CREATION, ...JOB_ACTION_LIST, ...BID_TRANSITION_LIST].map(({ operation }) => operation);

it.each(operations)('%s has one mutation and one route', (operation) => {
  expect(mutations).toContain(operation);
  expect(routes.filter((name) => name === operation)).toEqual([operation]);
});
