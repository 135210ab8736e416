/** The interface to a payment provider. Amounts are in the currency's smallest unit. */

export interface Order {
  /** The order's own ID. It's sent as the idempotency key, so an order never has two checkouts. */
  readonly id: string;
  readonly title: string;
  readonly amount: number;
  readonly currency: string;
  /** The page that the checkout returns the buyer to. */
  readonly returnUrl: string;
  readonly expiresAt: Date;
}

/** An order whose checkout was opened. */
export interface OpenedOrder extends Order {
  readonly sessionId: string;
  readonly paymentId: string | null;
}

/** The provider's report about a checkout. It isn't trusted until it's compared with the order. */
export interface Checkout {
  readonly about: 'checkout';
  readonly sessionId: string;
  readonly orderId: string | null;
  readonly url: string | null;
  /** While a checkout is `waiting`, the buyer has finished, but the money hasn't arrived. */
  readonly outcome: 'open' | 'waiting' | 'paid' | 'failed' | 'expired';
  readonly amount: number | null;
  readonly currency: string | null;
  readonly livemode: boolean;
  readonly paymentId: string | null;
  /** Undefined if the report doesn't say. */
  readonly receiptUrl?: string | null;
}

export interface RefundRequest {
  /** The refund's own ID. A request with the same key is the same refund. */
  readonly key: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
}

export interface Refund {
  readonly about: 'refund';
  readonly key: string | null;
  readonly paymentId: string | null;
  readonly outcome: 'waiting' | 'done' | 'refused';
  readonly amount: number;
  readonly currency: string;
  readonly livemode: boolean;
}

export interface Dispute {
  readonly about: 'dispute';
  readonly disputeId: string;
  readonly paymentId: string | null;
  readonly outcome: 'open' | 'lost' | 'closed';
  readonly livemode: boolean;
}

export type PaymentReport = Checkout | Refund | Dispute;

export interface Payments {
  readonly name: 'stripe' | 'local';
  /** False if payments move no real money. */
  readonly livemode: boolean;
  createCheckout(this: void, order: Order): Promise<Checkout>;
  findCheckout(this: void, order: OpenedOrder): Promise<Checkout>;
  /** Finds the checkout that a payment belongs to. Undefined if the payment doesn't belong to a checkout. */
  findByPayment(this: void, paymentId: string): Promise<Checkout | undefined>;
  refund(this: void, request: RefundRequest): Promise<Refund>;
  /** Reads an event from the provider. Undefined if the event is irrelevant. Throws `NotSigned`. */
  readEvent?(this: void, body: Buffer, signature: string): PaymentReport | undefined;
}

/** The provider didn't respond, or couldn't handle the call. The same call may succeed later. */
export class PaymentsUnavailable extends Error {}

/** The provider understood the call and refused it. */
export class PaymentRefused extends Error {}

/** The event's signature is wrong or too old. */
export class NotSigned extends Error {}
