/** How this server sells tokens, according to its configuration. */
import type { Config } from './config.js';
import { REPORT_SOURCES, SETTLEMENTS } from '../market/rules/purchases.js';
import type { PaymentSettings } from '../market/operations/services.js';
import { createLocalPayments } from '../platform/payments/local.js';
import type { Payments } from '../platform/payments/payments.js';
import {
  CALL_OUTCOMES,
  createStripePayments,
  EVENT_OUTCOMES,
  type StripeSettings,
} from '../platform/payments/stripe.js';
import type { Metrics } from '../platform/telemetry/metrics.js';

export function paymentSettings(config: Config, metrics: Metrics, ownOrigin: () => string): PaymentSettings {
  const countSettlement = metrics.counter(
    'payment_reports_total',
    'Reports from the payment provider to this instance, by their effect. A mismatch needs an operator.',
    'settlement',
    SETTLEMENTS,
  );
  const countChange = metrics.counter(
    'payment_changes_total',
    'Reports that changed a purchase, by how they arrived. A lookup finds changes that no webhook reported.',
    'source',
    REPORT_SOURCES,
  );
  const recordCall = metrics.counter(
    'payment_calls_total',
    'Calls to Stripe, by outcome: answered, or failed because Stripe couldn’t be reached or rejected the key.',
    'outcome',
    CALL_OUTCOMES,
  );
  const recordEvent = metrics.counter(
    'payment_events_total',
    'Events from Stripe, by outcome: accepted, or not_signed because the signature was wrong or too old.',
    'outcome',
    EVENT_OUTCOMES,
  );
  return {
    provider: providerOf(config, ownOrigin, { recordCall, recordEvent }),
    packs: config.TOKEN_PACKS,
    currency: config.CURRENCY,
    returnOrigins: config.CORS_ORIGINS,
    recordReport: (source, settlement) => {
      countSettlement(settlement);
      if (settlement === 'changed') countChange(source);
    },
  };
}

function providerOf(
  config: Config,
  ownOrigin: () => string,
  recorders: Pick<StripeSettings, 'recordCall' | 'recordEvent'>,
): Payments | undefined {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: apiUrl } = config;
  if (secretKey !== undefined && webhookSecret !== undefined)
    return createStripePayments({ secretKey, webhookSecret, apiUrl, ...recorders });
  return config.paysLocally ? createLocalPayments(ownOrigin) : undefined;
}
