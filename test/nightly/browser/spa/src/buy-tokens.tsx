/** Offers the pack of tokens that an error named. The user pays on another page, which leads back to this one. */
import { BUY_TOKENS, TOKEN_PACKS } from './documents';
import { Form } from './form';
import { useGraph } from './graph';

export function BuyTokens({ pack: id }: { pack: string }) {
  const graph = useGraph();
  const { data } = graph.useRead(TOKEN_PACKS, {});
  const send = graph.useWrite();
  const pack = data?.catalog?.tokenPacks.find((one) => one.id === id);
  const buy = async () => {
    const { buyTokens } = await send(BUY_TOKENS, { pack: id, returnUrl: location.href });
    if (buyTokens?.checkoutUrl) location.assign(buyTokens.checkoutUrl);
  };
  return pack && <Form name={`Buy ${pack.tokens} tokens for ${priceOf(pack)}`} send={buy} />;
}

/** `amount` is in the currency’s smallest unit, such as cents. */
function priceOf({ amount, currency }: { amount: number; currency: string }): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}
