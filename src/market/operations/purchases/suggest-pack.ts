/** Tells people who don't have enough tokens which pack to buy. */
import { smallestPack } from '../../rules/purchases.js';
import type { Viewer } from '../../rules/viewer.js';
import { selectBalance } from '../../store/ledger/ledger.js';
import type { Db } from '../../../platform/db/database.js';
import type { Refusal } from '../../../platform/errors.js';
import type { PaymentSettings } from '../services.js';

/** Adds the ID of the smallest pack that covers the missing tokens and any debt. Admins can't buy tokens. */
export async function suggestPack(
  { provider, packs }: Pick<PaymentSettings, 'provider' | 'packs'>,
  { code, details }: Refusal,
  { viewer, db }: { readonly viewer: Viewer | null; readonly db: Db },
): Promise<void> {
  if (code !== 'INSUFFICIENT_TOKENS' || !provider || !viewer || viewer.role === 'admin') return;
  const [account] = await selectBalance(db, { userId: viewer.userId });
  const missing = Number(details.required) - Number(details.available) + (account?.debt ?? 0);
  details.pack = smallestPack(packs, missing)?.id ?? null;
}
