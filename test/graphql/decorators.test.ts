/** What type-graphql's decorators ask for is done, or refused at start. */
import { Authorized, Field, getMetadataStorage, ObjectType, Query, Resolver, UseMiddleware } from 'type-graphql';
import { afterEach, expect, it } from 'vitest';
import { createSchema } from '../../src/graphql/schema.js';

const storage = getMetadataStorage();
const LISTS = [
  'queries',
  'fields',
  'objectTypes',
  'authorizedFields',
  'authorizedResolver',
  'middlewares',
  'resolverMiddlewares',
] as const;
const before = LISTS.map((list) => [list, storage[list].length] as const);
afterEach(() => {
  for (const [list, length] of before) storage[list].length = length;
});

const pass = async (_: unknown, next: () => Promise<unknown>) => next();

it('starts without them', () => {
  expect(createSchema).not.toThrow();
});

it('starts with a middleware of a resolver, which type-graphql calls', () => {
  @Resolver()
  class Guarded {
    @Query(() => String)
    @UseMiddleware(pass)
    answer(): string {
      return 'anybody reads this';
    }
  }
  expect(Guarded).toBeDefined();
  expect(createSchema).not.toThrow();
});

it('refuses @Authorized on a method', () => {
  @Resolver()
  class Guarded {
    @Query(() => String)
    @Authorized('admin')
    answer(): string {
      return 'anybody reads this';
    }
  }
  expect(Guarded).toBeDefined();
  expect(createSchema).toThrow('@Authorized on Guarded.answer');
});

it('refuses @Authorized on a class', () => {
  @Authorized('admin')
  @Resolver()
  class Guarded {}
  expect(Guarded).toBeDefined();
  expect(createSchema).toThrow('@Authorized on Guarded');
});

it.each([
  ['@Authorized', Authorized('admin')],
  ['@UseMiddleware', UseMiddleware(pass)],
])('refuses %s on a plain field', (name, decorator) => {
  @ObjectType()
  class Guarded {
    @Field(() => String, { simple: true })
    @decorator
    secret!: string;
  }
  expect(Guarded).toBeDefined();
  expect(createSchema).toThrow(`${name} on Guarded.secret`);
});
