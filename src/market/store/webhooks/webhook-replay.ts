/**
 * Enqueues past events for an endpoint, in batches. Doesn't lock the endpoint, and skips the events that the fan-out is
 * about to enqueue, so neither one waits for the other.
 */
import { and, eq, sql } from 'drizzle-orm';
import { EVENT_TYPES } from '../../rules/events.js';
import type { UserId, WebhookEndpointId } from '../../rules/ids.js';
import { WEBHOOKS } from '../../rules/market-limits.js';
import type { Viewer } from '../../rules/viewer.js';
import type { DeliveredType } from '../../rules/webhooks.js';
import { pipelined, type Db } from '../../../platform/db/database.js';
import { asArray, builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { listOwnEvents } from '../events/event-log.js';
import { accountEvents } from '../tables/events.js';
import { webhookCursor, webhookEndpoints } from '../tables/webhooks.js';
import { enqueueAgain } from './enqueue-deliveries.js';
import type { WebhookEndpoint } from './webhooks.js';

interface Range {
  readonly after: string;
  /** The last position to include. Null for no limit. */
  readonly until: string | null;
}

export interface ReplayedEvents {
  readonly replayedCount: number;
  /** The last position that was read. Null if no events are left. */
  readonly nextAfter: string | null;
}

/** Only the events up to this position have deliveries. The fan-out enqueues the next ones. */
const selectEnqueuedUpTo = statement(
  'selectEnqueuedUpTo',
  {
    position: sql<string>`(case when ${webhookEndpoints.waitsForMatching} then ${webhookCursor.matchedPosition}
      else ${webhookCursor.position} end)::text`,
  },
  ($: Placeholders<{ id: WebhookEndpointId }>, fields) =>
    builder
      .select(fields)
      .from(webhookEndpoints)
      .innerJoin(webhookCursor, sql`true`)
      .where(eq(webhookEndpoints.id, $('id'))),
);

const BATCH = WEBHOOKS.replayBatchEvents;

/** One extra row shows that there are more. */
const selectAccountEventsOf = statement(
  'selectAccountEventsOf',
  {
    id: accountEvents.id,
    type: accountEvents.type,
    position: accountEvents.position,
    occurredAt: accountEvents.occurredAt,
  },
  ($: Placeholders<Range & { userId: UserId; types: string }>, fields) =>
    builder
      .select(fields)
      .from(accountEvents)
      .where(
        and(
          eq(accountEvents.userId, $('userId')),
          sql`${accountEvents.type} = any(${$('types')}::text[]) and ${accountEvents.position} > ${$('after')}::bigint
            and (${$('until')}::bigint is null or ${accountEvents.position} <= ${$('until')}::bigint)`,
        ),
      )
      .orderBy(accountEvents.position)
      .limit(BATCH + 1),
);

/** Reads the next events that the owner receives: all job events, and account events of the endpoint's types. */
async function readBatch(tx: Db, viewer: Viewer, { accountEventTypes }: WebhookEndpoint, { after, until }: Range) {
  const [ofJobs, ofAccount] = await pipelined(
    listOwnEvents(tx, viewer, { size: BATCH, after: [after], upTo: until ?? undefined }),
    selectAccountEventsOf(tx, { userId: viewer.userId, types: asArray(accountEventTypes), after, until }),
  );
  const inOrder = [...ofJobs.rows, ...ofAccount].toSorted(
    (one, other) => Number(one.position) - Number(other.position),
  );
  const batch = inOrder.slice(0, BATCH);
  return { batch, last: batch.at(-1)?.position ?? after, hasNext: ofJobs.hasNext || inOrder.length > BATCH };
}

/** The viewer must be the endpoint's owner. */
export async function replay(tx: Db, viewer: Viewer, endpoint: WebhookEndpoint, range: Range): Promise<ReplayedEvents> {
  const [enqueuedUpTo] = await selectEnqueuedUpTo(tx, { id: endpoint.id });
  const isNew = ({ position, occurredAt }: { position: string | null; occurredAt: Date }) =>
    Number(position) > Number(enqueuedUpTo?.position) && occurredAt >= endpoint.createdAt;
  const ofJobs = endpoint.eventTypes.length === 0 ? EVENT_TYPES : endpoint.eventTypes;
  const types = new Set<DeliveredType>([...ofJobs, ...endpoint.accountEventTypes]);
  let { after } = range;
  let replayedCount = 0;
  for (let read = 0; read < WEBHOOKS.replayEventsMax; read += BATCH) {
    const { batch, last, hasNext } = await readBatch(tx, viewer, endpoint, { ...range, after });
    const events = batch.filter((event) => types.has(event.type) && !isNew(event));
    await enqueueAgain(tx, endpoint.id, events);
    replayedCount += events.length;
    if (!hasNext) return { replayedCount, nextAfter: null };
    after = last;
  }
  return { replayedCount, nextAfter: after };
}
