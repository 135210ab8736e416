/**
 * Sends each delivery to its endpoint and records the outcome. `message.ts` signs it. The retry schedule is in
 * `WEBHOOKS`.
 */
import type { Logger } from 'pino';
import type { TaskEnd, TaskKind } from '../../platform/queue/queue.js';
import type { WebhookDeliveryId } from '../rules/ids.js';
import { TASKS, WEBHOOKS } from '../rules/market-limits.js';
import type { AddressRules } from '../../platform/security/public-addresses.js';
import type { Encryptor } from '../../platform/security/encryption.js';
import type { Db } from '../../platform/db/database.js';
import type { Replica } from '../../platform/db/stale-reads.js';
import type { Task } from '../../platform/queue/tasks.js';
import {
  isEndpointActive,
  readPendingDelivery,
  recordAttempt,
  skipDelivery,
  type PausedEndpoint,
  type PendingDelivery,
} from '../store/webhooks/webhook-attempts.js';
import { logAccountEvents, type NewAccountEvent } from '../store/events/account-events.js';
import { pauseWebhookEndpoint } from '../store/webhooks/webhooks.js';
import { webhookBody, webhookMessage, decryptSecrets } from './message.js';
import type { WebhookMetrics } from './metrics.js';
import { createPoster } from './post.js';

interface WebhookTaskOptions {
  readonly webhookAddresses: AddressRules;
  readonly encryptor: Encryptor;
  readonly webhookMetrics: WebhookMetrics;
  readonly replica?: Pick<Replica, 'bringUpToDate'> | undefined;
  readonly log: Pick<Logger, 'warn'>;
}

export function webhookTasks({
  webhookAddresses,
  encryptor,
  webhookMetrics,
  replica,
  log,
}: WebhookTaskOptions): TaskKind {
  const post = createPoster({ addresses: webhookAddresses });

  async function run(db: Db, task: Task, stop: AbortSignal): Promise<TaskEnd> {
    const id = task.id as WebhookDeliveryId;
    const delivery = await readPendingDelivery(db, id);
    if (!delivery) return { outcome: 'done' };
    if (!delivery.isActive) return { outcome: 'not run' };
    const body = webhookBody(delivery);
    if (body === undefined) {
      webhookMetrics.recordOutcome('skipped', 0);
      return { outcome: 'done', write: (tx) => skipDelivery(tx, { id }) };
    }
    const secrets = decryptSecrets(delivery, encryptor, Date.now());
    if (secrets) return send(delivery, body, secrets, task, stop);
    await db.inTransaction(async (tx) => {
      const paused = await pauseWebhookEndpoint(tx, { id: delivery.endpointId, pausedReason: 'secret_unreadable' });
      await logAccountEvents(tx, paused.map(pausedEvent));
      tx.afterCommit(() => logPauses(paused));
    });
    return { outcome: 'not run' };
  }

  async function send(
    delivery: PendingDelivery,
    body: string,
    secrets: readonly string[],
    { attempts }: Task,
    stop: AbortSignal,
  ): Promise<TaskEnd> {
    await replica?.bringUpToDate([delivery.receiver.userId]);
    const startedAt = new Date();
    const beganMs = performance.now();
    const message = webhookMessage(delivery, body, secrets, startedAt.getTime());
    const answer = await webhookMetrics.trackRequest(() => post(message, stop));
    // The endpoint may not have received the delivery, so it's sent again.
    if (answer === 'stopped') return { outcome: 'not run' };
    const durationMs = Math.round(performance.now() - beganMs);
    // After this many failed attempts, the queue ends the task.
    const isLast = attempts === WEBHOOKS.retryAfterSeconds.length;
    const status = answer.error === null ? 'delivered' : isLast ? 'failed' : 'waiting';
    webhookMetrics.recordOutcome(METRIC_OF[status], durationMs / 1000);
    return {
      outcome: status === 'delivered' ? 'done' : 'failed',
      isSlow: durationMs >= WEBHOOKS.slowMs,
      write: async (tx) => {
        const endpoint = await recordAttempt(tx, {
          ...answer,
          id: delivery.id,
          status,
          startedAt: startedAt.toISOString(),
          durationMs,
          isGone: answer.responseStatus === HTTP_GONE,
        });
        if (!endpoint) return;
        await logAccountEvents(tx, [endpoint.isPaused ? pausedEvent(endpoint) : failingEvent(endpoint)]);
        if (endpoint.isPaused) tx.afterCommit(() => logPauses([endpoint]));
      },
    };
  }

  function logPauses(endpoints: readonly PausedEndpoint[]): void {
    for (const { id: webhook, userId: user, pausedReason: reason } of endpoints)
      log.warn({ webhook, user, reason }, 'a webhook endpoint was paused: its owner must resume it');
  }

  return { limits: TASKS.webhook, mayRun: isEndpointActive, retryAfterSeconds: WEBHOOKS.retryAfterSeconds, run };
}

function pausedEvent({ id, userId, pausedReason }: PausedEndpoint): NewAccountEvent {
  return { type: 'webhook.paused', userId, data: { webhookId: id, reason: pausedReason } };
}

function failingEvent({ id, userId, failingSince }: PausedEndpoint & { failingSince: Date | null }): NewAccountEvent {
  return { type: 'webhook.failing', userId, data: { webhookId: id, failingSince: failingSince?.toISOString() } };
}

const METRIC_OF = { delivered: 'delivered', waiting: 'failed', failed: 'given_up' } as const;

const HTTP_GONE = 410;
