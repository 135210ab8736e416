/** What type-graphql's decorators ask for is done, or refused at start. */
import { graphql, isObjectType } from 'graphql';
import {
  Authorized,
  buildSchemaSync,
  Ctx,
  Field,
  FieldResolver,
  getMetadataStorage,
  ObjectType,
  Query,
  Resolver,
  Root,
  UseMiddleware,
} from 'type-graphql';
import { afterEach, expect, it } from 'vitest';
import { callPlainResolversDirectly } from '../../src/graphql/plain-resolvers.js';
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

it('calls a plain resolver directly, and one with a middleware or other parameters by type-graphql', async () => {
  const heard: string[] = [];
  const hears = async ({ info }: { info: { fieldName: string } }, next: () => Promise<unknown>) => {
    heard.push(info.fieldName);
    return next();
  };
  interface Tool {
    name: string;
  }
  @ObjectType('Tool')
  class ToolType {
    @Field(() => String, { simple: true })
    name!: string;
  }
  @Resolver(() => ToolType)
  class ToolResolver {
    readonly sign = '!';
    @Query(() => ToolType)
    tool(): Tool {
      return { name: 'Saw' };
    }
    @FieldResolver(() => String)
    plain(@Root() { name }: Tool, @Ctx() { owner }: { owner: string }): string {
      return `${owner}’s ${name}${this.sign}`;
    }
    @FieldResolver(() => String)
    @UseMiddleware(hears)
    guarded(@Root() { name }: Tool, @Ctx() { owner }: { owner: string }): string {
      return `${owner}’s ${name}`;
    }
    @FieldResolver(() => String)
    swapped(@Ctx() { owner }: { owner: string }, @Root() { name }: Tool): string {
      return `${name} of ${owner}`;
    }
    @FieldResolver(() => String)
    part(@Root('name') name: string, @Ctx('owner') owner: string): string {
      return `${owner}: ${name}`;
    }
  }
  const schema = buildSchemaSync({ resolvers: [ToolResolver], validate: false });
  const type = schema.getType('Tool');
  const resolvers = () => (isObjectType(type) ? Object.values(type.getFields()).map(({ resolve }) => resolve) : []);
  const before = resolvers();
  callPlainResolversDirectly(schema);
  const after = resolvers();
  expect(after.filter((resolve, at) => resolve !== before[at])).toHaveLength(1);
  const source = '{ tool { name plain guarded swapped part } }';
  expect(await graphql({ schema, source, contextValue: { owner: 'Carla' } })).toEqual({
    data: {
      tool: { name: 'Saw', plain: 'Carla’s Saw!', guarded: 'Carla’s Saw', swapped: 'Saw of Carla', part: 'Carla: Saw' },
    },
  });
  expect(heard).toEqual(['guarded']);
});
