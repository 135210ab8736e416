/** Payments without a provider, for development. The buyer chooses the outcome on a page of this server. */
import type { Checkout, OpenedOrder, Order, Payments } from './payments.js';

/** The path of the checkout page, before the purchase's ID. */
export const LOCAL_CHECKOUT_PATH = '/checkout/';

export function createLocalPayments(origin: () => string): Payments {
  return {
    name: 'local',
    livemode: false,
    createCheckout: async (order) => {
      const url = `${origin()}${LOCAL_CHECKOUT_PATH}${order.id}`;
      return localCheckout({ ...order, sessionId: `local_${order.id}`, paymentId: null }, 'open', url);
    },
    // "Pay later" sets the payment's ID. The payment arrives when the server next asks.
    findCheckout: async (order) => {
      if (order.paymentId !== null) return localCheckout(order, 'paid');
      return localCheckout(order, order.expiresAt.getTime() <= Date.now() ? 'expired' : 'open');
    },
    findByPayment: async () => undefined,
    refund: async ({ key, paymentId, amount, currency }) => {
      return { about: 'refund', key, paymentId, outcome: 'done', amount, currency, livemode: false };
    },
  };
}

export function localPaymentOf({ id }: Pick<Order, 'id'>): string {
  return `local_payment_${id}`;
}

/** The buyer's choice on the local page, in the form of a provider's report. */
export function localCheckout(order: OpenedOrder, outcome: Checkout['outcome'], url: string | null = null): Checkout {
  const { id: orderId, sessionId, amount, currency, paymentId } = order;
  return {
    about: 'checkout',
    sessionId,
    orderId,
    url,
    outcome,
    amount,
    currency,
    livemode: false,
    paymentId: outcome === 'paid' ? localPaymentOf(order) : paymentId,
    receiptUrl: null,
  };
}
