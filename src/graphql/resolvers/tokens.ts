import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { adjustTokens, auditTokens } from '../../operations/tokens/tokens.js';
import { perform } from '../../operations/operation.js';
import type { Context } from '../context.js';
import { Input, inputOf } from '../inputs.js';
import { AdjustTokensPayload } from '../types/payloads.js';
import { TokenAudit } from '../types/tokens.js';
import { mutationOptions, queryOptions } from './field-options.js';

const AdjustTokensInput = inputOf(
  'AdjustTokensInput',
  adjustTokens.input,
  'Whose tokens to correct, by how many, and why.',
);

@Resolver()
export class TokenResolver {
  @Mutation(() => AdjustTokensPayload, mutationOptions(adjustTokens))
  adjustTokens(@Input(AdjustTokensInput) input: object, @Ctx() { caller }: Context) {
    return perform(adjustTokens, input, caller).then((transfer) => ({ transfer }));
  }

  @Query(() => TokenAudit, { ...queryOptions(auditTokens), nullable: true })
  auditTokens(@Ctx() { caller }: Context) {
    return perform(auditTokens, {}, caller);
  }
}
