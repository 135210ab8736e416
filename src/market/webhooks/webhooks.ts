/**
 * Enqueues webhook deliveries for new events, and on a timer. One server at a time locks the cursors, and inserts the
 * deliveries along with their tasks.
 */
import type { Logger } from 'pino';
import type { Live } from '../../platform/live/live.js';
import { type Queue, repeat, type Repeated } from '../../platform/queue/queue.js';
import { WEBHOOKS } from '../rules/market-limits.js';
import type { Encryptor } from '../../platform/security/encryption.js';
import type { DatabaseWatch } from '../../platform/db/database-watch.js';
import { insertCursor, selectFanOutState, enqueueNextBatch } from '../store/webhooks/webhook-fan-out.js';
import { reencryptWebhookSecrets } from '../store/webhooks/webhooks.js';

interface WebhookOptions {
  readonly queue: Pick<Queue, 'db' | 'wake'>;
  readonly live: Pick<Live, 'onEvents'>;
  readonly encryptor: Encryptor;
  readonly log: Logger;
  readonly databaseWatch: Pick<DatabaseWatch, 'problem'>;
}

export async function openWebhooks({
  queue,
  live,
  encryptor,
  log,
  databaseWatch,
}: WebhookOptions): Promise<Pick<Repeated, 'close'>> {
  const { db } = queue;
  await insertCursor(db, {});
  const reencryptedCount = await reencryptWebhookSecrets(db, encryptor.keyName, (encryptedSecret, id) => {
    const secret = encryptor.decrypt(encryptedSecret, id);
    return secret === undefined ? undefined : encryptor.encrypt(secret, id);
  });
  if (reencryptedCount > 0)
    log.info({ endpoints: reencryptedCount }, 'webhook secrets were encrypted again with the current JWT_SECRET');

  /** While there are no endpoints, new events don't wake the fan-out. The timer still moves the cursor. */
  let hasEndpoints = false;
  const fanOut = repeat(
    async () => {
      const [state] = await selectFanOutState(db, {});
      hasEndpoints = state?.hasEndpoints === true;
      if (!state?.isBehind) return false;
      // The second cursor can't move past the first one.
      const moved = [await enqueueNextBatch(db, { waits: false }), await enqueueNextBatch(db, { waits: true })];
      const isMore = moved.includes(true);
      if (isMore) queue.wake();
      return isMore;
    },
    WEBHOOKS.pollEveryMs,
    (error) => {
      if (!databaseWatch.problem) log.warn({ err: error }, 'queueing events for webhooks failed; retrying');
    },
  );
  const stopListening = live.onEvents(() => hasEndpoints && fanOut.wake());

  return {
    async close() {
      stopListening();
      await fanOut.close();
    },
  };
}
