/** The metrics of emails. */
import type { Metrics } from '../../platform/telemetry/metrics.js';
import { MAIL_BUDGETS, type MailBudget } from '../rules/rate-limits.js';
import type { MailOutcome } from '../rules/people/mail-kinds.js';

export interface MailMetrics {
  /** A `failed` email is tried again. */
  recordOutcome(outcome: MailOutcome | 'failed', seconds: number): void;
  recordDropped(limit: MailBudget): void;
  recordNotification(decision: NotificationDecision, count: number): void;
}

/** Whether a notification is emailed now, in the digest, in the digest because of the day's limit, or not at all. */
export const NOTIFICATION_DECISIONS = ['now', 'later', 'beyond_limit', 'not_emailed'] as const;
export type NotificationDecision = (typeof NOTIFICATION_DECISIONS)[number];

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
    recordNotification: metrics.counter(
      'notification_emails_total',
      'Notifications by how they’re emailed: now, later (in the digest), beyond_limit (in the digest, because the ' +
        'person has reached the daily limit of emails), or not_emailed.',
      'decision',
      NOTIFICATION_DECISIONS,
    ),
  };
}
