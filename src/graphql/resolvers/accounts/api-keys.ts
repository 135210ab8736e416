import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Resolver } from 'type-graphql';
import { createApiKey, listApiKeys, revokeApiKey } from '../../../market/operations/sessions/api-keys.js';
import { perform, performWithin } from '../../../platform/call/operation.js';
import type { Context } from '../../context.js';
import { Input, inputOf } from '../../types/field.js';
import { ApiKeyConnection, Viewer } from '../../types/account.js';
import { Connection, PageArgs } from '../../types/connection.js';
import { CreateApiKeyPayload, RevokeApiKeyPayload } from '../../types/payloads.js';
import { mutationOptions } from '../field-options.js';

const CreateApiKeyInput = inputOf('CreateApiKeyInput', createApiKey.input, 'The key’s name, expiry, and access.');

@Resolver(() => Viewer)
export class ApiKeyResolver {
  @Mutation(() => CreateApiKeyPayload, mutationOptions(createApiKey))
  createApiKey(@Input(CreateApiKeyInput) input: object, @Ctx() { caller }: Context) {
    return perform(createApiKey, input, caller);
  }

  @Mutation(() => RevokeApiKeyPayload, mutationOptions(revokeApiKey))
  revokeApiKey(@Arg('id', () => ID, { description: 'The API key.' }) id: string, @Ctx() { caller }: Context) {
    return perform(revokeApiKey, { id }, caller).then((apiKey) => ({ apiKey }));
  }

  @FieldResolver(() => ApiKeyConnection, {
    nullable: true,
    description: 'Your active API keys, newest first. You can’t read them with an API key.',
  })
  async apiKeys(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await performWithin(listApiKeys, page, caller));
  }
}
