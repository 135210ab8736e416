/**
 * Asks the payment provider about purchases that have waited for long: for a checkout, a payment, a refund, or a
 * receipt. Webhooks usually come first.
 */
import { PaymentRefused, PaymentsUnavailable } from '../../../platform/payments/payments.js';
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
    (error) => services.log.warn({ err: error }, 'looking for purchases to ask about failed'),
  );
  return {
    wake: looking.wake,
    close: async () => {
      stopping.abort();
      await looking.close();
    },
  };
}

/** Asks the provider about purchases that have waited for long. Returns true if there may be more. */
export async function lookAtPurchases(services: PaymentServices, db: Db, signal: AbortSignal): Promise<boolean> {
  const { provider } = services.payments;
  if (!provider) return false;
  const due = await claimPurchases(db, { provider: provider.name, livemode: provider.livemode });
  for (const { id } of due) {
    if (signal.aborted) return false;
    try {
      await callProvider(services, db, id, 'lookup');
    } catch (error) {
      services.log.warn({ err: error, purchaseId: id }, 'asking the payment provider about a purchase failed');
      if (error instanceof PaymentRefused) services.payments.recordReport('lookup', 'mismatch');
      // It will be asked again. If it can't be reached, the others wait, too.
      if (error instanceof PaymentsUnavailable) return false;
    }
  }
  return due.length === PURCHASES.atOnce;
}
