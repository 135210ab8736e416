import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Resolver } from 'type-graphql';
import { buyTokens, listPurchases, refundPurchase } from '../../market/operations/purchases/purchases.js';
import { perform, performWithin } from '../../platform/call/operation.js';
import type { Context } from '../context.js';
import { Viewer } from '../types/account.js';
import { Connection, PageArgs } from '../types/connection.js';
import { Input, inputOf } from '../types/field.js';
import { BuyTokensPayload, RefundPurchasePayload } from '../types/payloads.js';
import { PurchaseConnection } from '../types/purchases.js';
import { mutationOptions } from './field-options.js';

const BuyTokensInput = inputOf('BuyTokensInput', buyTokens.input, 'The pack to buy, and the page to return to.');
const RefundPurchaseInput = inputOf(
  'RefundPurchaseInput',
  refundPurchase.input,
  'The number of tokens to refund, and the reason.',
);

@Resolver()
export class PurchaseResolver {
  @Mutation(() => BuyTokensPayload, mutationOptions(buyTokens))
  buyTokens(@Input(BuyTokensInput) input: object, @Ctx() { caller }: Context) {
    return perform(buyTokens, input, caller);
  }

  @Mutation(() => RefundPurchasePayload, mutationOptions(refundPurchase))
  refundPurchase(
    @Arg('id', () => ID, { description: 'The purchase.' }) id: string,
    @Input(RefundPurchaseInput) input: object,
    @Ctx() { caller }: Context,
  ) {
    return perform(refundPurchase, Object.assign({}, input, { id }), caller).then((purchase) => ({ purchase }));
  }
}

@Resolver(() => Viewer)
export class ViewerPurchasesResolver {
  @FieldResolver(() => PurchaseConnection, { description: 'The account’s token purchases, newest first.' })
  async purchases(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await performWithin(listPurchases, page, caller));
  }
}
