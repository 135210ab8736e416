/**
 * Asks the payment provider about purchases that have waited too long for a checkout, a payment, a refund, or a
 * receipt. Usually, a webhook reports the change first.
 */
import { repeat, type Repeated } from '../../../platform/queue/queue.js';
import type { Db } from '../../../platform/db/database.js';
import { PURCHASES } from '../../rules/market-limits.js';
import { claimPurchases } from '../../store/ledger/purchases.js';
import type { Services } from '../services.js';
import { callProvider, type PaymentServices } from './provider-calls.js';

export function openPurchaseLookups(services: PaymentServices & Pick<Services, 'db'>): Repeated {
  const db = services.db.of({ address: 'purchases' });
  const stopping = new AbortController();
  const looking = repeat(
    () => lookAtPurchases(services, db, stopping.signal),
    PURCHASES.everyMs,
    (error) => services.log.warn({ err: error }, 'could not find the purchases that are due for a lookup'),
  );
  return {
    wake: looking.wake,
    close: async () => {
      stopping.abort();
      await looking.close();
    },
  };
}

const FAILURES_IN_A_ROW_MAX = 3;

/** Asks the provider about the purchases that are due. Returns true if more may be due. */
export async function lookAtPurchases(services: PaymentServices, db: Db, signal: AbortSignal): Promise<boolean> {
  const { provider } = services.payments;
  if (!provider) return false;
  const due = await claimPurchases(db, { provider: provider.name, livemode: provider.livemode });
  let failures = 0;
  for (const { id } of due) {
    if (signal.aborted) return false;
    try {
      await callProvider(services, db, id, 'lookup');
      failures = 0;
    } catch (error) {
      services.log.warn({ err: error, purchaseId: id }, 'asking the payment provider about a purchase failed');
      // One failure doesn't stop the other lookups. After several in a row, the provider is probably down, so the rest
      // wait.
      failures += 1;
      if (failures === FAILURES_IN_A_ROW_MAX) return false;
    }
  }
  return due.length === PURCHASES.atOnce;
}
