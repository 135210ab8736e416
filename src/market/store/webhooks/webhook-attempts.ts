/** Reads the event and endpoint for a delivery, and records the outcome of each attempt. */
import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { Id, UserId, WebhookDeliveryId, WebhookEndpointId } from '../../rules/ids.js';
import type { BidState, JobState } from '../../rules/states.js';
import { WEBHOOKS } from '../../rules/market-limits.js';
import type { DeliveredType, DeliveryStatus, WebhookPauseReason } from '../../rules/webhooks.js';
import type { Db } from '../../../platform/db/database.js';
import type { EventWithParties } from '../events/event-log.js';
import { eventShape, type EventRow } from '../events/events.js';
import { accountEventShape, type AccountEvent } from '../events/account-event-log.js';
import { mayBeAbsent } from '../../../platform/db/rows.js';
import { builder, statement, type Placeholders } from '../../../platform/db/statement.js';
import { contractors, homeowners, users } from '../tables/accounts.js';
import { accountEvents, events } from '../tables/events.js';
import { jobs } from '../tables/jobs.js';
import { webhookDeliveries, webhookEndpoints, type StoredSecret } from '../tables/webhooks.js';
import { forReceiver, isMatchOf, jobVisibility, type Receiver } from './webhook-fan-out.js';

export interface PendingDelivery {
  readonly id: WebhookDeliveryId;
  readonly endpointId: WebhookEndpointId;
  readonly eventId: Id<'event' | 'accountEvent'>;
  readonly eventType: DeliveredType;
  readonly previousPosition: string | null;
  readonly createdAt: Date;
  /** False if the endpoint is paused or deleted. */
  readonly isActive: boolean;
  readonly url: string;
  readonly secrets: readonly StoredSecret[];
  readonly receiver: Receiver;
  /** Null for account events and test deliveries. */
  readonly event: EventWithParties | null;
  readonly accountEvent: AccountEvent | null;
}

const selectPendingDelivery = statement(
  'selectPendingDelivery',
  {
    delivery: {
      id: webhookDeliveries.id,
      endpointId: webhookDeliveries.endpointId,
      eventId: webhookDeliveries.eventId,
      eventType: webhookDeliveries.eventType,
      previousPosition: webhookDeliveries.previousPosition,
      createdAt: webhookDeliveries.createdAt,
    },
    isActive: sql<boolean>`${webhookEndpoints.status} = 'active' and ${webhookEndpoints.deletedAt} is null`,
    url: webhookEndpoints.url,
    secrets: webhookEndpoints.secrets,
    receiver: {
      userId: users.id,
      role: users.userType,
      homeownerId: mayBeAbsent(homeowners.id),
      contractorId: mayBeAbsent(contractors.id),
    },
    event: mayBeAbsent(eventShape),
    accountEvent: mayBeAbsent(accountEventShape),
    jobHomeownerId: mayBeAbsent(events.homeownerId),
    ...jobVisibility,
    isMatch: isMatchOf(sql`"users"."id"`).as('is_match'),
    ownBids: sql<BidState[]>`(select coalesce(json_agg(b.status), '[]') from bids b
        where b.job_id = "events"."job_id" and b.contractor_id = "contractors"."id")`.as('own_bids'),
  },
  ($: Placeholders<{ id: WebhookDeliveryId }>, fields) =>
    builder
      .select(fields)
      .from(webhookDeliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
      .innerJoin(users, eq(users.id, webhookEndpoints.userId))
      .leftJoin(homeowners, eq(homeowners.userId, users.id))
      .leftJoin(contractors, eq(contractors.userId, users.id))
      .leftJoin(events, eq(events.id, webhookDeliveries.eventId))
      .leftJoin(jobs, eq(jobs.id, events.jobId))
      .leftJoin(accountEvents, sql`${accountEvents.id} = ${webhookDeliveries.eventId}`)
      .where(and(eq(webhookDeliveries.id, $('id')), sql`${webhookDeliveries.status} = 'waiting'`)),
);

/** Undefined if the delivery is no longer waiting. */
export async function readPendingDelivery(db: Db, id: WebhookDeliveryId): Promise<PendingDelivery | undefined> {
  const [row] = await selectPendingDelivery(db, { id });
  if (!row) return undefined;
  const { delivery, event, accountEvent, jobHomeownerId: homeownerId, ownBids, isMatch, ...rest } = row;
  const { awardedContractorId, awardedBidId, isHidden } = row;
  const status = row.status as JobState | null;
  const ofJob = { status, awardedContractorId, awardedBidId, isHidden };
  const job = event && homeownerId && { event: event as EventRow, homeownerId, ...ofJob };
  const eventWithParties = job && forReceiver(job, { ...rest.receiver, ownBids, isMatch });
  return { ...delivery, ...rest, event: eventWithParties, accountEvent: accountEvent as AccountEvent | null };
}

/** While an endpoint is paused, its deliveries wait. A deleted endpoint's deliveries aren't sent. */
export function isEndpointActive(id: SQL): SQL {
  return sql`not exists (select from webhook_endpoints w
    where w.id = ${id} and (w.status = 'paused' or w.deleted_at is not null))`;
}

interface Attempt {
  readonly id: WebhookDeliveryId;
  readonly status: Exclude<DeliveryStatus, 'skipped'>;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly response: string | null;
  /** True after status 410, which means that the endpoint doesn't want any more events. */
  readonly isGone: boolean;
}

export interface PausedEndpoint {
  readonly id: WebhookEndpointId;
  readonly userId: UserId;
  readonly pausedReason: WebhookPauseReason | null;
}

const FAILING_DAYS = sql.raw(`interval '${WEBHOOKS.failingDays} days'`);
const REPORTED_AFTER = sql.raw(`interval '${WEBHOOKS.failingReportedAfterDays} days'`);
/** The time that this transaction writes, rounded to the columns' precision. */
const NOW = sql`now()::timestamptz(3)`;
const ATTEMPTS_MAX = sql.raw(String(WEBHOOKS.storedAttemptsMax));

/**
 * Updates the delivery and the endpoint in the same statement. Returns the endpoint if its state has changed, and
 * whether this attempt paused it or showed that it has been failing for a day.
 */
const insertAttempt = statement(
  'insertAttempt',
  {
    id: webhookEndpoints.id,
    userId: webhookEndpoints.userId,
    pausedReason: webhookEndpoints.pausedReason,
    failingSince: webhookEndpoints.failingSince,
    isPaused: sql<boolean>`(${webhookEndpoints.status} = 'paused' and ${webhookEndpoints.updatedAt} = ${NOW})`,
    isReported: sql<boolean>`(${webhookEndpoints.failureReportedAt} is not distinct from ${NOW})`,
  },
  ($: Placeholders<Attempt>, fields) => {
    const delivery = builder
      .$with('delivery', { endpointId: sql<WebhookEndpointId>`endpoint_id`.as('endpoint_id') })
      .as(
        sql`update "webhook_deliveries" set status = ${$('status')},
        ended_at = case when ${$('status')} <> 'waiting' then now() end
      where id = ${$('id')} returning endpoint_id, id`,
      );
    const attempt = builder.$with('attempt', { number: sql<number>`number`.as('number') }).as(
      sql`insert into webhook_attempts (delivery_id, number, started_at, duration_ms, response_status, error, response)
      select id, 1 + coalesce((select max(number) from webhook_attempts
        where delivery_id = ${$('id')}), 0), ${$('startedAt')}::timestamptz,
        ${$('durationMs')}::int, ${$('responseStatus')}::int, ${$('error')}, ${$('response')} from delivery
      returning number`,
    );
    const oldAttempts = builder.$with('old_attempts', { number: sql<number>`number`.as('number') }).as(
      sql`delete from webhook_attempts where delivery_id = ${$('id')}
      and number <= (select number from attempt) - ${ATTEMPTS_MAX} returning number`,
    );
    const hasFailed = sql`${$('error')}::text is not null`;
    const since = webhookEndpoints.failingSince;
    const pauses = sql`(${hasFailed} and ${webhookEndpoints.status} = 'active' and (${$('isGone')}::boolean or ${since}
    < now() - ${FAILING_DAYS}))`;
    const reported = webhookEndpoints.failureReportedAt;
    const reports = sql`(${hasFailed} and ${webhookEndpoints.status} = 'active' and not ${pauses}
      and ${since} < now() - ${REPORTED_AFTER} and coalesce(${reported} < ${since}, true))`;
    return builder
      .with(delivery, attempt, oldAttempts)
      .update(webhookEndpoints)
      .set({
        failingSince: sql`case when ${hasFailed} then coalesce(${since}, now()) end`,
        failureReportedAt: sql`case when ${reports} then now() else ${reported} end`,
        status: sql`case when ${pauses} then 'paused' else ${webhookEndpoints.status} end`,
        pausedReason: sql`case when ${pauses} then case when ${$('isGone')}::boolean then 'gone' else 'failing' end
        else ${webhookEndpoints.pausedReason} end`,
        updatedAt: sql`case when ${pauses} then now() else ${webhookEndpoints.updatedAt} end`,
      })
      .where(
        sql`${webhookEndpoints.id} = (select endpoint_id from delivery)
        and (${pauses} or ${reports} or (${since} is null) = (${hasFailed}))`,
      )
      .returning(fields);
  },
);

/** Undefined unless this attempt paused the endpoint, or showed that it has been failing for a day. */
export async function recordAttempt(
  tx: Db,
  attempt: Attempt,
): Promise<(PausedEndpoint & { readonly isPaused: boolean; readonly failingSince: Date | null }) | undefined> {
  const [endpoint] = await insertAttempt(tx, attempt);
  return endpoint && (endpoint.isPaused || endpoint.isReported) ? endpoint : undefined;
}

/** Ends a delivery whose event the endpoint's owner can no longer read. */
export const skipDelivery = statement('skipDelivery', {}, ($: Placeholders<{ id: WebhookDeliveryId }>) =>
  builder
    .update(webhookDeliveries)
    .set({ status: sql`'skipped'`, endedAt: sql`now()` })
    .where(eq(webhookDeliveries.id, $('id'))),
);
