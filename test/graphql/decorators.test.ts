/** Every type-graphql decorator has an effect. */
import { getMetadataStorage } from 'type-graphql';
import { expect, it } from 'vitest';
import '../../src/graphql/schema.js';

it('has no decorator without effect: without an authChecker, or on a field that is read without a resolver', () => {
  const { authorizedResolver, authorizedFields, middlewares, resolverMiddlewares } = getMetadataStorage();
  expect([...authorizedResolver, ...authorizedFields, ...middlewares, ...resolverMiddlewares]).toEqual([]);
});
