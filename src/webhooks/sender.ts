/**
 * Sends the deliveries that are due. Each instance claims deliveries of a few endpoints at a time and sends to each
 * endpoint by itself, so that no endpoint waits for another. It gives back the deliveries that it has claimed and
 * cannot send soon. Endpoints take turns, and those that fail or are slow share a few places.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { UserId, WebhookEndpointId } from '../rules/ids.js';
import { WEBHOOKS } from '../rules/limits.js';
import { RETRY_AFTER_SECONDS } from '../rules/webhooks.js';
import type { Sealer } from '../security/sealing.js';
import type { Db } from '../store/database.js';
import { asArray } from '../store/statement.js';
import {
  claimDeliveries,
  readClaimed,
  recordAttempt,
  releaseDelivery,
  skipDelivery,
  type ClaimedDelivery,
  type ToSend,
} from '../store/webhook-queue.js';
import { pauseWebhookEndpoint } from '../store/webhooks.js';
import { bodyOf, messageOf, decryptSecrets } from './message.js';
import type { WebhookMetrics } from './metrics.js';
import type { Poster } from './post.js';

export interface Sender {
  /** Sends the deliveries that are due, as far as there are places. */
  wake(): void;
  /** Finishes the requests under way, within so long. */
  close(withinMs: number): Promise<void>;
}

interface SenderParts {
  readonly db: Db;
  readonly poster: Poster;
  readonly sealer: Sealer;
  readonly metrics: WebhookMetrics;
  readonly log: Pick<Logger, 'warn'>;
  onFailure(error: unknown): void;
}

/** The deliveries to one endpoint that this instance has claimed. */
interface Batch {
  readonly claim: string;
  readonly deliveries: ClaimedDelivery[];
  readonly owner: UserId;
  readonly isFaulty: boolean;
}

export function createSender({ db, poster, sealer, metrics, log, onFailure }: SenderParts): Sender {
  const batches = new Map<WebhookEndpointId, Batch>();
  /** Until when each owner's endpoints count as slow, in the order in which the owners were served. */
  const slowUntilByOwner = new Map<UserId, number>();
  const running = new Set<Promise<unknown>>();
  const stop = new AbortController();
  const state = { isClosed: false, isWoken: false };
  let claiming: Promise<void> | undefined;

  function wake(): void {
    state.isWoken = true;
    claiming ??= claimAll().finally(() => (claiming = undefined));
  }

  /** Claims until no delivery is due, or no place is free. */
  async function claimAll(): Promise<void> {
    try {
      while (state.isWoken && !state.isClosed && batches.size < WEBHOOKS.endpointsAtOnce) {
        state.isWoken = false;
        if (await claimSome()) state.isWoken = true;
      }
    } catch (error) {
      onFailure(error);
    }
  }

  async function claimSome(): Promise<boolean> {
    const claim = randomUUID();
    const faulty = [...batches.values()].filter(({ isFaulty }) => isFaulty).length;
    const nowMs = performance.now();
    const slow = [...slowUntilByOwner].filter(([, untilMs]) => untilMs > nowMs).map(([owner]) => owner);
    const claimedDeliveries = await claimDeliveries(db, {
      claim,
      busy: asArray([...batches.keys()]),
      slow: asArray(slow),
      served: asArray([...slowUntilByOwner.keys()]),
      endpointsMax: WEBHOOKS.endpointsAtOnce - batches.size,
      faultyMax: WEBHOOKS.faultyAtOnce - faulty,
    });
    const newBatches = new Map<WebhookEndpointId, Batch>();
    for (const one of claimedDeliveries) {
      const { endpointId, owner, isFaulty } = one;
      const batch = newBatches.get(endpointId) ?? { claim, deliveries: [], owner, isFaulty };
      batch.deliveries.push(one);
      newBatches.set(endpointId, batch);
    }
    for (const [endpoint, batch] of newBatches) begin(endpoint, batch);
    return claimedDeliveries.length > 0;
  }

  function begin(endpoint: WebhookEndpointId, batch: Batch): void {
    batches.set(endpoint, batch);
    recordTurn(batch.owner, slowUntilByOwner.get(batch.owner));
    const senders = Math.min(batch.deliveries.length, WEBHOOKS.requestsPerEndpoint);
    const work = Promise.all(Array.from({ length: senders }, () => sendOneByOne(batch)))
      .catch(onFailure)
      .finally(() => {
        batches.delete(endpoint);
        running.delete(work);
        if (!state.isClosed) wake();
      });
    running.add(work);
  }

  function recordTurn(owner: UserId, slowUntilMs = 0): void {
    slowUntilByOwner.delete(owner);
    slowUntilByOwner.set(owner, slowUntilMs);
    const [oldest] = slowUntilByOwner.keys();
    if (oldest !== undefined && slowUntilByOwner.size > WEBHOOKS.ownersInMemoryMax) slowUntilByOwner.delete(oldest);
  }

  async function sendOneByOne({ claim, deliveries }: Batch): Promise<void> {
    for (let next = deliveries.shift(); next; next = deliveries.shift()) {
      const isQuick = !state.isClosed && (await send(next, claim));
      if (isQuick) continue;
      if (state.isClosed) deliveries.push(next);
      // Other instances may have free places for them, and the claim would expire before their turn here.
      for (const delivery of deliveries.splice(0)) await releaseDelivery(db, { id: delivery.id, claim });
    }
  }

  /** Resolves to true if the endpoint accepted it, and quickly. */
  async function send({ id }: ClaimedDelivery, claim: string): Promise<boolean> {
    const delivery = await readClaimed(db, id, claim);
    if (!delivery) return false;
    const body = bodyOf(delivery);
    if (body === undefined) {
      await skipDelivery(db, { id, claim });
      metrics.recordWebhookAttempt('skipped', 0);
      return true;
    }
    const secrets = decryptSecrets(delivery, sealer, Date.now());
    if (!secrets) return pauseUnreadable(delivery, claim);
    return attempt(delivery, claim, body, secrets);
  }

  async function pauseUnreadable({ id, endpointId }: ToSend, claim: string): Promise<boolean> {
    const [pausedEndpoint] = await pauseWebhookEndpoint(db, { id: endpointId, pausedReason: 'secret_unreadable' });
    if (pausedEndpoint)
      log.warn({ webhook: endpointId, user: pausedEndpoint.userId, reason: 'secret_unreadable' }, PAUSED_MESSAGE);
    await releaseDelivery(db, { id, claim });
    return false;
  }

  async function attempt(delivery: ToSend, claim: string, body: string, secrets: readonly string[]): Promise<boolean> {
    const { id, owner, attemptsMade } = delivery;
    const startedAt = new Date();
    const began = performance.now();
    const message = messageOf(delivery, body, secrets, startedAt.getTime());
    const outcome = await metrics.webhookInFlight(() => poster.post(message, stop.signal));
    if (outcome === 'stopped') {
      // The endpoint may or may not have received it: it is sent again.
      await releaseDelivery(db, { id, claim });
      return false;
    }
    const endedMs = performance.now();
    const durationMs = Math.round(endedMs - began);
    const isSlow = durationMs >= WEBHOOKS.slowMs;
    if (isSlow) recordTurn(owner, endedMs + WEBHOOKS.slowForMs);
    const retryAfterSeconds = RETRY_AFTER_SECONDS[attemptsMade];
    const statusAfterFailure = retryAfterSeconds === undefined ? 'failed' : 'waiting';
    const pausedEndpoint = await recordAttempt(db, {
      ...outcome,
      id,
      claim,
      status: outcome.error === null ? 'delivered' : statusAfterFailure,
      retryAfterSeconds: spreadDelay(retryAfterSeconds ?? 0),
      startedAt: startedAt.toISOString(),
      durationMs,
      isGone: outcome.responseStatus === HTTP_GONE,
    });
    metrics.recordWebhookAttempt(
      outcome.error === null ? 'delivered' : statusAfterFailure === 'failed' ? 'given_up' : 'failed',
      durationMs / 1000,
    );
    if (pausedEndpoint)
      log.warn(
        { webhook: pausedEndpoint.id, user: pausedEndpoint.userId, reason: pausedEndpoint.pausedReason },
        PAUSED_MESSAGE,
      );
    return outcome.error === null && !isSlow;
  }

  return {
    wake,
    async close(withinMs) {
      state.isClosed = true;
      const timer = setTimeout(() => stop.abort(), withinMs);
      await claiming;
      await Promise.all(running);
      clearTimeout(timer);
    },
  };
}

const HTTP_GONE = 410;
const PAUSED_MESSAGE = 'a webhook endpoint was paused: its owner must resume it';

/** Deliveries that failed at the same time are not all retried at the same time. */
function spreadDelay(seconds: number): number {
  return seconds * (0.9 + 0.2 * Math.random());
}
