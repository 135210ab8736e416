/**
 * Receives Stripe's events. `settle.ts` decides what they change. A signature of the exact bytes of the body replaces
 * a session.
 */
import { orUnavailable, settleEvent } from '../market/operations/purchases/provider-calls.js';
import type { Services } from '../market/operations/services.js';
import { refuse } from '../market/rules/errors.js';
import { inWords } from '../platform/errors.js';
import type { Exchange } from '../platform/http/exchange.js';
import type { Pages } from '../platform/http/pages/pages.js';
import { NotSigned, type PaymentReport, type Payments } from '../platform/payments/payments.js';
import { PAYMENT_PROVIDER } from '../platform/service-limits.js';

const PATH = '/v1/payments/stripe';
const BUDGET = 'paymentEvents';

export function openStripeWebhook(services: Services): Pages {
  const { payments, db, rateLimits, metrics } = services;

  async function assertWithinRate({ client }: Exchange): Promise<void> {
    const { allowed, retryAfterSeconds } = await rateLimits.consume(services.budget(BUDGET), client.address);
    if (allowed) return;
    metrics.recordRateLimit(BUDGET);
    throw refuse('RATE_LIMITED', {
      message: `Too many events. Try again in ${inWords(retryAfterSeconds)}.`,
      details: { retryAfter: retryAfterSeconds, limit: BUDGET },
    });
  }

  return {
    handles: (path) => path === PATH,
    async send(exchange) {
      exchange.route = `POST ${PATH}`;
      if (exchange.method !== 'POST') throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: ['POST'] } });
      const { readEvent } = payments.provider ?? {};
      if (!readEvent) throw refuse('NOT_CONFIGURED', { message: 'Stripe isn’t set up on this server.' });
      await assertWithinRate(exchange);
      const body = await exchange.body(PAYMENT_PROVIDER.eventBytesMax);
      const report = signedReport(readEvent, body, exchange.header('stripe-signature') ?? '');
      if (report) await orUnavailable(settleEvent(services, db.of(exchange.client), report));
      exchange.sendJson(200, { received: true });
    },
  };
}

/** Undefined if the event is irrelevant. */
function signedReport(
  readEvent: NonNullable<Payments['readEvent']>,
  body: Buffer,
  signature: string,
): PaymentReport | undefined {
  try {
    return readEvent(body, signature);
  } catch (error) {
    if (!(error instanceof NotSigned)) throw error;
    const message = 'The Stripe-Signature header is missing or wrong, or the event was signed over 5 minutes ago.';
    throw refuse('VALIDATION_FAILED', { message });
  }
}
