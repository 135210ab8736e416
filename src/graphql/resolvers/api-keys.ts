import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Resolver } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import { perform, performWithin } from '../../operations/operation.js';
import type { Context } from '../context.js';
import { Input, inputOf } from '../inputs.js';
import { ApiKeyConnection, CreateApiKeyPayload, RevokeApiKeyPayload } from '../types/api-keys.js';
import { Connection, PageArgs } from '../types/connection.js';
import { Viewer } from '../types/viewer.js';
import { of } from './says.js';

const { createApiKey, listApiKeys, revokeApiKey, readMe } = OPERATIONS;

const CreateApiKeyInput = inputOf('CreateApiKeyInput', createApiKey.input, 'What the key is for, and until when.');

const VIEWER = { nullable: true, description: 'Whoever is logged in, as they are now.' };

@Resolver(() => CreateApiKeyPayload)
export class CreateApiKeyResolver {
  @Mutation(() => CreateApiKeyPayload, of(createApiKey))
  createApiKey(@Input(CreateApiKeyInput) input: object, @Ctx() { caller }: Context) {
    return perform(createApiKey, input, caller);
  }

  @FieldResolver(() => Viewer, VIEWER)
  viewer(@Ctx() { caller }: Context) {
    return performWithin(readMe, {}, caller);
  }
}

@Resolver(() => RevokeApiKeyPayload)
export class RevokeApiKeyResolver {
  @Mutation(() => RevokeApiKeyPayload, of(revokeApiKey))
  async revokeApiKey(@Arg('id', () => ID, { description: 'The API key.' }) id: string, @Ctx() { caller }: Context) {
    return { apiKey: await perform(revokeApiKey, { id }, caller) };
  }

  @FieldResolver(() => Viewer, VIEWER)
  viewer(@Ctx() { caller }: Context) {
    return performWithin(readMe, {}, caller);
  }
}

@Resolver(() => Viewer)
export class ViewerApiKeysResolver {
  @FieldResolver(() => ApiKeyConnection, {
    nullable: true,
    description: 'One’s API keys that work, newest first. Not to be read with an API key.',
  })
  async apiKeys(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await performWithin(listApiKeys, page, caller));
  }
}
