import { expect, it } from 'vitest';
import { checkApis } from '../../src/apis-check.js';
import { createSchema } from '../../src/graphql/schema.js';
import { ROUTES } from '../../src/rest/routes.js';

const mutations = new Set(Object.keys(createSchema().getMutationType()?.getFields() ?? {}));
const routed = new Set(ROUTES.map(({ operation }) => operation.name));
const without = (names: ReadonlySet<string>, name: string) => new Set([...names].filter((one) => one !== name));

it('lets a server start whose APIs lead to every action of the lifecycle', () => {
  expect(() => checkApis(mutations, routed)).not.toThrow();
});

it('stops a server that lacks a mutation, or a route, and names it', () => {
  expect(() => checkApis(without(mutations, 'awardJob'), routed)).toThrow('awardJob has no mutation');
  expect(() => checkApis(mutations, without(routed, 'withdrawBid'))).toThrow('withdrawBid has no route');
});
