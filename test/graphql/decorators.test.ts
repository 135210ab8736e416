/** What type-graphql's decorators ask for is done. */
import { graphql, isObjectType } from 'graphql';
import {
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
import { expect, it } from 'vitest';
import { callPlainResolversDirectly } from '../../src/graphql/plain-resolvers.js';
import { createSchema } from '../../src/graphql/schema.js';

it('has no decorator that does nothing: without an authChecker, or on a field that is read without a resolver', () => {
  createSchema();
  const { authorizedResolver, authorizedFields, middlewares, resolverMiddlewares } = getMetadataStorage();
  expect([...authorizedResolver, ...authorizedFields, ...middlewares, ...resolverMiddlewares]).toEqual([]);
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
