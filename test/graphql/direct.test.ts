/** What type-graphql's decorators ask for, and a direct call of a resolver would not do, is refused at start. */
import { Authorized, getMetadataStorage, Query, Resolver, UseMiddleware } from 'type-graphql';
import { afterEach, expect, it } from 'vitest';
import { createSchema } from '../../src/graphql/schema.js';

const storage = getMetadataStorage();
const LISTS = ['queries', 'authorizedFields', 'authorizedResolver', 'middlewares', 'resolverMiddlewares'] as const;
const before = LISTS.map((list) => [list, storage[list].length] as const);
afterEach(() => {
  for (const [list, length] of before) storage[list].length = length;
});

const pass = async (_: unknown, next: () => Promise<unknown>) => next();

it('starts without them', () => {
  expect(createSchema).not.toThrow();
});

it.each([
  ['a method', '@Authorized on Guarded.answer', Authorized('admin')],
  ['a method', '@UseMiddleware on Guarded.answer', UseMiddleware(pass)],
])('on %s: %s', (_where, named, decorator) => {
  @Resolver()
  class Guarded {
    @Query(() => String)
    @decorator
    answer(): string {
      return 'anybody reads this';
    }
  }
  expect(Guarded).toBeDefined();
  expect(createSchema).toThrow(named);
});

it.each([
  ['a class', '@Authorized on Guarded', Authorized('admin')],
  ['a class', '@UseMiddleware on Guarded', UseMiddleware(pass)],
])('on %s: %s', (_where, named, decorator) => {
  @decorator
  @Resolver()
  class Guarded {}
  expect(Guarded).toBeDefined();
  expect(createSchema).toThrow(named);
});
