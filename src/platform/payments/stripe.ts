/** Payments with Stripe Checkout, through Stripe's SDK. Only this file uses Stripe's types. */
import { Stripe } from 'stripe';
import { PAYMENT_PROVIDER } from '../service-limits.js';
import {
  NotSigned,
  PaymentRefused,
  PaymentsUnavailable,
  type Checkout,
  type Dispute,
  type Payments,
  type PaymentReport,
  type Refund,
} from './payments.js';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** The URL of a server that replaces Stripe's API in tests. */
  readonly apiUrl?: string | undefined;
  /** A call is `failed` if Stripe couldn't be reached or rejected the key. Any other refusal counts as `answered`. */
  readonly recordCall: (outcome: CallOutcome) => void;
  readonly recordEvent: (outcome: EventOutcome) => void;
}

export const CALL_OUTCOMES = ['answered', 'failed'] as const;
type CallOutcome = (typeof CALL_OUTCOMES)[number];

export const EVENT_OUTCOMES = ['accepted', 'not_signed'] as const;
type EventOutcome = (typeof EVENT_OUTCOMES)[number];

/** A checkout's payment and charge show whether the payment failed, and where the receipt is. */
const WITH_CHARGE = 'payment_intent.latest_charge';

export function createStripePayments({
  secretKey,
  webhookSecret,
  apiUrl,
  recordCall,
  recordEvent,
}: StripeSettings): Payments {
  const { timeoutMs, retriesMax, signatureSeconds } = PAYMENT_PROVIDER;
  const stripe = new Stripe(secretKey, {
    timeout: timeoutMs,
    maxNetworkRetries: retriesMax,
    telemetry: false,
    ...(apiUrl !== undefined && hostOf(apiUrl)),
  });
  const livemode = /^[rs]k_live_/.test(secretKey);
  const answer = async <T>(call: Promise<T>): Promise<T> => {
    try {
      const answered = await call.catch(rethrow);
      recordCall('answered');
      return answered;
    } catch (error) {
      recordCall(error instanceof PaymentsUnavailable ? 'failed' : 'answered');
      throw error;
    }
  };

  return {
    name: 'stripe',
    livemode,
    createCheckout: async ({ id, title, amount, currency, returnUrl, expiresAt }) => {
      const params: Stripe.Checkout.SessionCreateParams = {
        mode: 'payment',
        client_reference_id: id,
        line_items: [
          {
            quantity: 1,
            price_data: { currency: currency.toLowerCase(), unit_amount: amount, product_data: { name: title } },
          },
        ],
        // The buyer pays exactly this amount, in this currency.
        adaptive_pricing: { enabled: false },
        success_url: returnUrl,
        cancel_url: returnUrl,
        expires_at: Math.floor(expiresAt.getTime() / 1_000),
      };
      return checkoutOf(await answer(stripe.checkout.sessions.create(params, { idempotencyKey: id })));
    },
    findCheckout: async ({ sessionId }) =>
      checkoutOf(await answer(stripe.checkout.sessions.retrieve(sessionId, { expand: [WITH_CHARGE] }))),
    findByPayment: async (paymentId) => {
      const query = { payment_intent: paymentId, limit: 1, expand: [`data.${WITH_CHARGE}`] };
      const [session] = (await answer(stripe.checkout.sessions.list(query))).data;
      return session && isOurs(session) ? checkoutOf(session) : undefined;
    },
    refund: async ({ key, orderId, paymentId, amount }) => {
      // Stripe forgets idempotency keys after a day, so look for the refund of an earlier call first.
      const earlier = await answer(stripe.refunds.list({ payment_intent: paymentId, limit: REFUNDS_LISTED }));
      const found = earlier.data.find(({ metadata }) => metadata?.[KEY] === key);
      const params = { payment_intent: paymentId, amount, metadata: { [KEY]: key, order: orderId } };
      const refund = found ?? (await answer(stripe.refunds.create(params, { idempotencyKey: key })));
      return refundOf(refund, livemode);
    },
    readEvent: (body, signature) => {
      let event: Stripe.Event;
      try {
        event = stripe.webhooks.constructEvent(body, signature, webhookSecret, signatureSeconds);
      } catch (error) {
        // The SDK throws different kinds of errors for signatures that it can't read.
        recordEvent('not_signed');
        throw new NotSigned(String(error));
      }
      recordEvent('accepted');
      return reportOf(event);
    },
  };
}

/** The metadata field with a refund's own key. It identifies our refund, and nothing else is read from metadata. */
const KEY = 'refund';
const REFUNDS_LISTED = 100;

/** The events that the webhook endpoint needs. All others are ignored. */
function reportOf(event: Stripe.Event): PaymentReport | undefined {
  // A connected account's money isn't ours.
  if (event.account !== undefined) return undefined;
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.expired':
      return isOurs(event.data.object) ? checkoutOf(event.data.object) : undefined;
    case 'checkout.session.async_payment_failed':
      return isOurs(event.data.object) ? { ...checkoutOf(event.data.object), outcome: 'failed' } : undefined;
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return refundOf(event.data.object, event.livemode);
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
      return disputeOf(event.data.object);
    default:
      return undefined;
  }
}

/** A buyer can give a payment link any order's ID, and the payment could be for anything. */
function isOurs({ payment_link }: Stripe.Checkout.Session): boolean {
  return payment_link === null;
}

function checkoutOf(session: Stripe.Checkout.Session): Checkout {
  const { payment_intent: payment } = session;
  const charge = typeof payment === 'object' ? payment?.latest_charge : undefined;
  return {
    about: 'checkout',
    sessionId: session.id,
    orderId: session.client_reference_id,
    url: session.url,
    outcome: outcomeOf(session),
    amount: session.amount_total,
    currency: session.currency,
    livemode: session.livemode,
    paymentId: idOf(payment),
    ...(typeof charge === 'object' && { receiptUrl: charge?.receipt_url ?? null }),
  };
}

function outcomeOf({ status, payment_status, payment_intent }: Stripe.Checkout.Session): Checkout['outcome'] {
  if (status === 'complete' && payment_status === 'paid') return 'paid';
  if (status === 'expired') return 'expired';
  if (status !== 'complete') return 'open';
  const isOver = typeof payment_intent === 'object' && FAILED_PAYMENTS.includes(payment_intent?.status ?? '');
  return isOver ? 'failed' : 'waiting';
}

/** The statuses of a payment that fails after its checkout is complete. Nobody can pay in that checkout again. */
const FAILED_PAYMENTS = ['requires_payment_method', 'canceled'];

function refundOf(refund: Stripe.Refund, livemode: boolean): Refund {
  const { metadata, payment_intent, status, amount, currency } = refund;
  const isRefused = status === 'failed' || status === 'canceled';
  return {
    about: 'refund',
    key: metadata?.[KEY] ?? null,
    paymentId: idOf(payment_intent),
    outcome: status === 'succeeded' ? 'done' : isRefused ? 'refused' : 'waiting',
    amount,
    currency,
    livemode,
  };
}

/** Undefined for an inquiry, which isn't a chargeback yet. A refund can still prevent one. */
function disputeOf({ id, payment_intent, status, livemode }: Stripe.Dispute): Dispute | undefined {
  if (status.startsWith('warning_')) return undefined;
  const outcome = status === 'lost' ? 'lost' : OPEN_DISPUTES.includes(status) ? 'open' : 'closed';
  return { about: 'dispute', disputeId: id, paymentId: idOf(payment_intent), outcome, livemode };
}

const OPEN_DISPUTES = ['needs_response', 'under_review'];

function idOf(object: string | { readonly id: string } | null): string | null {
  return typeof object === 'string' ? object : (object?.id ?? null);
}

/** Distinguishes a refusal, which would happen again, from a failure that may be temporary. */
function rethrow(error: unknown): never {
  const { StripeInvalidRequestError, StripeCardError, StripeError, StripeIdempotencyError } = Stripe.errors;
  const isRefused = error instanceof StripeInvalidRequestError || error instanceof StripeCardError;
  const isOtherCall = error instanceof StripeIdempotencyError && error.statusCode === 400;
  if (isRefused || isOtherCall) throw new PaymentRefused(error.message, { cause: error });
  if (error instanceof StripeError) throw new PaymentsUnavailable(error.message, { cause: error });
  throw error;
}

function hostOf(url: string) {
  const { protocol, hostname, port } = new URL(url);
  const isPlain = protocol === 'http:';
  return {
    protocol: isPlain ? ('http' as const) : ('https' as const),
    host: hostname,
    port: port || (isPlain ? 80 : 443),
  };
}
