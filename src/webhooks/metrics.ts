/** The metrics of webhooks. */
export type WebhookOutcome = 'delivered' | 'failed' | 'given_up' | 'skipped';

export interface WebhookMetrics {
  /** An attempt ended, or none was needed. */
  recordWebhookAttempt(outcome: WebhookOutcome, seconds: number): void;
  /** Counts a request while it is under way. */
  webhookInFlight<T>(request: () => Promise<T>): Promise<T>;
}
