import type { Metrics } from '../../platform/telemetry/metrics.js';
import { MAIL_BUDGETS, type MailBudget } from '../rules/rate-limits.js';
import type { MailOutcome } from '../rules/people/mail-kinds.js';

export interface MailMetrics {
  /** A `failed` email is tried again. */
  recordOutcome(outcome: MailOutcome | 'failed', seconds: number): void;
  recordDropped(limit: MailBudget): void;
}

export function createMailMetrics(metrics: Pick<Metrics, 'counter' | 'histogram'>): MailMetrics {
  return {
    recordOutcome: metrics.histogram(
      'mail_seconds',
      'How long attempts to send an email took, by outcome: sent, failed (will be retried), given_up (after the last ' +
        'attempt), refused (the recipient was rejected), or nobody (no email was needed anymore).',
      'outcome',
    ),
    recordDropped: metrics.counter(
      'mails_dropped_total',
      'Emails dropped by a rate limit, by limit.',
      'limit',
      MAIL_BUDGETS,
    ),
  };
}
