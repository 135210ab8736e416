/** What type-graphql's decorators ask for is done, or refused at start. */
import { Authorized, Field, getMetadataStorage, ObjectType, Query, Resolver, UseMiddleware } from 'type-graphql';
import { afterEach, expect, it } from 'vitest';
import { AccountResolver } from '../../src/graphql/resolvers/accounts.js';
import { UserResolver } from '../../src/graphql/resolvers/people.js';
import { createSchema } from '../../src/graphql/schema.js';
import { openTestApp } from '../app.js';
import { admin } from '../cast.js';

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

it('calls a middleware of a resolver, in front of Apollo, behind it and by graphql-js', async () => {
  const calls: string[] = [];
  const notes = async ({ info }: { info: { fieldName: string } }, next: () => Promise<unknown>) => {
    calls.push(info.fieldName);
    return next();
  };
  UseMiddleware(notes)(AccountResolver.prototype, 'viewer');
  UseMiddleware(notes)(UserResolver.prototype, 'tokens');
  const app = await openTestApp();
  try {
    const { token } = await admin(app);
    const asked = '{ viewer { user { tokens { balance } } }';
    // Apollo answers a document once, and known-documents.ts from then on; graphql-js executes introspection.
    for (const document of [`${asked} }`, `${asked} }`, `${asked} __schema { queryType { name } } }`]) {
      calls.length = 0;
      const { data } = await app.graphql(document, { token });
      expect(data?.viewer).toEqual({ user: { tokens: { balance: 0 } } });
      expect(calls).toEqual(['viewer', 'tokens']);
    }
  } finally {
    await app.close();
  }
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
  expect(createSchema).toThrow(
    `These would do nothing: ${name} on Guarded.secret. Who may call an operation is written in the operation, ` +
      'and who may read a field in its readBy in src/rules/entities/.',
  );
});

it('refuses @UseMiddleware on a class of plain fields', () => {
  @UseMiddleware(pass)
  @ObjectType()
  class Guarded {
    @Field(() => String, { simple: true })
    secret!: string;
  }
  expect(Guarded).toBeDefined();
  expect(createSchema).toThrow('@UseMiddleware on Guarded.');
});
