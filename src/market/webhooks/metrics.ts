/** The metrics of webhook deliveries. */
import type { Metrics } from '../../platform/telemetry/metrics.js';

export interface WebhookMetrics {
  /** Records the end of an attempt, or a skipped event. */
  recordOutcome(outcome: 'delivered' | 'failed' | 'given_up' | 'skipped', seconds: number): void;
  trackRequest<T>(request: () => Promise<T>): Promise<T>;
}

export function createWebhookMetrics(metrics: Pick<Metrics, 'gauge' | 'histogram'>): WebhookMetrics {
  let requests = 0;
  const recordOutcome = metrics.histogram(
    'webhook_attempt_seconds',
    'How long attempts to send an event to a webhook took, by outcome: delivered, failed (will be retried), given_up ' +
      '(after the last attempt), or skipped (the owner can no longer see the event).',
    'outcome',
  );
  metrics.gauge('webhook_requests_in_flight', 'Requests to webhooks that are in progress.', () => requests);
  return {
    recordOutcome,
    async trackRequest(request) {
      requests += 1;
      try {
        return await request();
      } finally {
        requests -= 1;
      }
    },
  };
}
