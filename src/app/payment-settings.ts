/** How this server sells tokens, according to its configuration. */
import type { Config } from './config.js';
import { REPORT_SOURCES, SETTLEMENTS } from '../market/rules/purchases.js';
import type { PaymentSettings } from '../market/operations/services.js';
import { createLocalPayments } from '../platform/payments/local.js';
import type { Payments } from '../platform/payments/payments.js';
import { createStripePayments } from '../platform/payments/stripe.js';
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
  return {
    provider: providerOf(config, ownOrigin),
    packs: config.TOKEN_PACKS,
    currency: config.CURRENCY,
    returnOrigins: config.CORS_ORIGINS,
    recordReport: (source, settlement) => {
      countSettlement(settlement);
      if (settlement === 'changed') countChange(source);
    },
  };
}

function providerOf(config: Config, ownOrigin: () => string): Payments | undefined {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: apiUrl } = config;
  if (secretKey !== undefined && webhookSecret !== undefined)
    return createStripePayments({ secretKey, webhookSecret, apiUrl });
  return config.paysLocally ? createLocalPayments(ownOrigin) : undefined;
}
