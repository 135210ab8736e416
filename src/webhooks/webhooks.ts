/**
 * Sends events to webhooks. One instance at a time, which locks a cursor in the database, inserts the deliveries of new
 * events; every instance sends deliveries that are due (`sender.ts`). New positions and a timer start both.
 */
import type { Live } from '../live/live.js';
import { readEvent } from '../live/readable.js';
import type { Logger } from 'pino';
import type { AddressRules } from '../security/public-addresses.js';
import type { Sealer } from '../security/sealing.js';
import { connect, type Connection } from '../store/database.js';
import type { DatabaseWatch } from '../store/database-watch.js';
import { hasWebhookEndpoints, insertCursor, stepCursor, type ReadsEvent } from '../store/webhook-fan-out.js';
import { resealWebhookSecrets } from '../store/webhooks.js';
import type { WebhookMetrics } from './metrics.js';
import { createPoster } from './post.js';
import { createSender } from './sender.js';
import { POOLS, WEBHOOKS } from '../rules/limits.js';

export interface Webhooks {
  close(): Promise<void>;
}

interface WebhookParts {
  readonly connection: Connection;
  readonly preparedStatements: boolean;
  readonly live: Pick<Live, 'onEvents'>;
  readonly webhookAddresses: AddressRules;
  readonly sealer: Sealer;
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
  readonly databaseWatch: Pick<DatabaseWatch, 'awaySince' | 'onOpen'>;
}

const readsEvent: ReadsEvent = (receiver, event) => readEvent(receiver, event, 'mine') !== undefined;

export async function openWebhooks(parts: WebhookParts): Promise<Webhooks> {
  const { connection, preparedStatements, live, sealer, metrics, log, databaseWatch } = parts;
  const pool = connect(connection, { ...POOLS.webhooks, preparedStatements }, { onOpen: databaseWatch.onOpen });
  const db = pool.of({ address: 'webhooks' });
  const poster = createPoster({ addresses: parts.webhookAddresses });
  const isAway = () => databaseWatch.awaySince !== undefined;
  const logFailure = (what: string) => (error: unknown) => {
    if (!isAway()) log.warn({ err: error }, what);
  };
  const sender = createSender({
    db,
    poster,
    sealer,
    metrics,
    log,
    onFailure: logFailure('sending webhooks failed; retrying'),
  });
  await insertCursor(db, {});
  const resealCount = await resealWebhookSecrets(db, sealer.keyName, (sealedSecret, id) => {
    const secret = sealer.open(sealedSecret, id);
    return secret === undefined ? undefined : sealer.seal(secret, id);
  });
  if (resealCount > 0)
    log.info({ endpoints: resealCount }, 'secrets of webhooks were encrypted under the present JWT_SECRET');

  const fanOut = coalesce(async (mayGoOn) => {
    while (mayGoOn() && (await stepCursor(db, readsEvent))) sender.wake();
  }, logFailure('queueing events for webhooks failed; retrying'));

  /** False while no user has an endpoint: the fan-out would only move the cursor. */
  let hasEndpoints = false;
  const look = async () => {
    if (isAway()) return;
    hasEndpoints = await hasWebhookEndpoints(db);
    fanOut.wake();
    if (hasEndpoints) sender.wake();
  };
  const looking = setInterval(
    () => void look().catch(logFailure('looking for due webhooks failed; retrying')),
    WEBHOOKS.lookEveryMs,
  );
  const stopHearing = live.onEvents(() => hasEndpoints && fanOut.wake());
  await look();

  return {
    async close() {
      clearInterval(looking);
      stopHearing();
      await fanOut.close();
      await sender.close(WEBHOOKS.finishWithinMs);
      poster.close();
      await pool.close();
    },
  };
}

/** Runs one at a time, and once more if `wake` was called meanwhile. */
function coalesce(work: (mayGoOn: () => boolean) => Promise<void>, onFailure: (error: unknown) => void) {
  let running: Promise<void> | undefined;
  const state = { isClosed: false, isWoken: false };
  async function run(): Promise<void> {
    while (state.isWoken && !state.isClosed) {
      state.isWoken = false;
      await work(() => !state.isClosed).catch(onFailure);
    }
  }
  return {
    wake(): void {
      state.isWoken = true;
      running ??= run().finally(() => {
        running = undefined;
        // `wake` may have been called just when it had ended.
        if (state.isWoken && !state.isClosed) this.wake();
      });
    },
    async close(): Promise<void> {
      state.isClosed = true;
      await running;
    },
  };
}
