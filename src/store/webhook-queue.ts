/**
 * The queue of deliveries to webhooks: an instance claims a delivery for a while to send it, so that another instance
 * sends it after the first was killed.
 */
import { and, eq, sql } from 'drizzle-orm';
import type { Id, UserId, WebhookDeliveryId, WebhookEndpointId } from '../rules/ids.js';
import type { BidState, JobState } from '../rules/states.js';
import { WEBHOOKS } from '../rules/limits.js';
import type { DeliveredType, DeliveryStatus, WebhookPauseReason } from '../rules/webhooks.js';
import type { Db } from './database.js';
import type { EventWithParties } from './event-log.js';
import { eventShape, type EventRow } from './events.js';
import { mayBeAbsent } from './rows.js';
import { builder, statement, type Values } from './statement.js';
import { contractors, homeowners, users } from './tables/accounts.js';
import { events } from './tables/events.js';
import { jobs } from './tables/jobs.js';
import { webhookDeliveries, webhookEndpoints, type StoredSecret } from './tables/webhooks.js';

import { withBids, type Receiver } from './webhook-fan-out.js';

/** A delivery to send now, by the holder of the claim. */
export interface ClaimedDelivery {
  readonly id: WebhookDeliveryId;
  readonly endpointId: WebhookEndpointId;
  readonly owner: UserId;
  /** Whether the endpoint is failing, or one of its owner's is slow. */
  readonly isFaulty: boolean;
}

/** Lists are Postgres arrays. */
interface Claim {
  readonly claim: string;
  /** Endpoints with requests under way. */
  readonly busy: string;
  /** Owners with slow endpoints. */
  readonly slow: string;
  /** Owners in the order in which they were last served. */
  readonly served: string;
  readonly endpointsMax: number;
  readonly faultyMax: number;
}

const { leaseSeconds, claimedAtOnce } = WEBHOOKS;

/**
 * Finds the endpoints with due deliveries by a skip scan of the index, however many deliveries each has. The endpoints
 * of owners who were served longest ago come first, and then those that have waited longest; of endpoints that fail or
 * are slow only so many are claimed, each with one delivery.
 */
export const claimDeliveries = statement(
  'claimDeliveries',
  {
    id: webhookDeliveries.id,
    endpointId: webhookDeliveries.endpointId,
    owner: sql<UserId>`picked.user_id`,
    isFaulty: sql<boolean>`picked.is_faulty`,
  },
  ($: Values<Claim>, fields) =>
    builder
      .update(webhookDeliveries)
      .set({ claim: sql`${$('claim')}`, dueAt: sql`now() + interval '${sql.raw(String(leaseSeconds))} seconds'` })
      .from(
        sql`(
        with recursive first as (
          (select endpoint_id, due_at from webhook_deliveries where status = 'waiting' order by endpoint_id, due_at
            limit 1)
          union all
          select next.endpoint_id, next.due_at from first cross join lateral (
            select endpoint_id, due_at from webhook_deliveries
            where status = 'waiting' and endpoint_id > first.endpoint_id order by endpoint_id, due_at limit 1) next
        ), due as (
          select w.id, w.user_id, first.due_at, coalesce(served.place, 0) as turn,
            w.failing_since is not null or w.user_id = any(${$('slow')}::text[]) as is_faulty
          from first join webhook_endpoints w on w.id = first.endpoint_id
            left join unnest(${$('served')}::text[]) with ordinality served (owner, place) on served.owner = w.user_id
          where first.due_at <= now() and w.status = 'active' and w.deleted_at is null
            and not (w.id = any(${$('busy')}::text[]))
        ), placed as (
          select *, row_number() over (partition by is_faulty order by turn, due_at) as place from due
        ), chosen as (
          select * from placed where not is_faulty
            or place <= ${$('faultyMax')}::int order by turn, due_at limit ${$('endpointsMax')}::int
        )
        select picked.id, chosen.user_id, chosen.is_faulty from chosen cross join lateral (
          select d.id from webhook_deliveries d
          where d.endpoint_id = chosen.id and d.status = 'waiting' and d.due_at <= now()
          order by d.due_at
          limit case when chosen.is_faulty then 1 else ${sql.raw(String(claimedAtOnce))} end
          for update skip locked) picked
      ) picked`,
      )
      .where(sql`${webhookDeliveries.id} = picked.id`)
      .returning(fields),
);

export interface ToSend {
  readonly id: WebhookDeliveryId;
  readonly endpointId: WebhookEndpointId;
  readonly owner: UserId;
  readonly eventId: Id<'event'>;
  readonly eventType: DeliveredType;
  readonly createdAt: Date;
  readonly attemptsMade: number;
  readonly url: string;
  readonly secrets: readonly StoredSecret[];
  readonly receiver: Receiver;
  /** Null for a test. */
  readonly event: EventWithParties | null;
}

const selectClaimed = statement(
  'selectClaimed',
  {
    delivery: {
      id: webhookDeliveries.id,
      endpointId: webhookDeliveries.endpointId,
      eventId: webhookDeliveries.eventId,
      eventType: webhookDeliveries.eventType,
      createdAt: webhookDeliveries.createdAt,
      attemptsMade: webhookDeliveries.attemptsMade,
    },
    owner: webhookEndpoints.userId,
    url: webhookEndpoints.url,
    secrets: webhookEndpoints.secrets,
    receiver: {
      role: users.userType,
      homeownerId: mayBeAbsent(homeowners.id),
      contractorId: mayBeAbsent(contractors.id),
    },
    event: mayBeAbsent(eventShape),
    jobHomeownerId: mayBeAbsent(events.homeownerId),
    status: mayBeAbsent(jobs.status),
    awardedContractorId: jobs.awardedContractorId,
    ownBids: sql<BidState[]>`(select coalesce(json_agg(b.status), '[]') from bids b
        where b.job_id = "events"."job_id" and b.contractor_id = "contractors"."id")`.as('own_bids'),
  },
  ($: Values<{ id: WebhookDeliveryId; claim: string }>, fields) =>
    builder
      .select(fields)
      .from(webhookDeliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
      .innerJoin(users, eq(users.id, webhookEndpoints.userId))
      .leftJoin(homeowners, eq(homeowners.userId, users.id))
      .leftJoin(contractors, eq(contractors.userId, users.id))
      .leftJoin(events, eq(events.id, webhookDeliveries.eventId))
      .leftJoin(jobs, eq(jobs.id, events.jobId))
      .where(
        and(
          eq(webhookDeliveries.id, $('id')),
          eq(webhookDeliveries.claim, $('claim')),
          sql`${webhookDeliveries.dueAt} > now() + interval '${sql.raw(String(WEBHOOKS.attemptMs))} milliseconds'`,
          sql`${webhookEndpoints.status} = 'active' and ${webhookEndpoints.deletedAt} is null`,
        ),
      ),
);

/**
 * The present content of a claimed delivery; undefined if the claim has expired or would expire during an attempt, or
 * if the endpoint was paused or deleted meanwhile.
 */
export async function readClaimed(db: Db, id: WebhookDeliveryId, claim: string): Promise<ToSend | undefined> {
  const [row] = await selectClaimed(db, { id, claim });
  if (!row) return undefined;
  const {
    delivery,
    owner,
    url,
    secrets,
    receiver,
    event,
    jobHomeownerId: homeownerId,
    status,
    awardedContractorId,
  } = row;
  const job = event && homeownerId && { event: event as EventRow, homeownerId, status: status as JobState | null };
  const eventWithParties = job && withBids({ ...job, awardedContractorId }, { ...receiver, ownBids: row.ownBids });
  return { ...delivery, owner, url, secrets, receiver, event: eventWithParties };
}

interface Attempt {
  readonly id: WebhookDeliveryId;
  readonly claim: string;
  readonly status: Exclude<DeliveryStatus, 'skipped'>;
  readonly retryAfterSeconds: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly response: string | null;
  /** Whether the endpoint answered 410, and so wants no more events. */
  readonly isGone: boolean;
}

export interface PausedEndpoint {
  readonly id: WebhookEndpointId;
  readonly userId: UserId;
  readonly pausedReason: WebhookPauseReason | null;
}

const FAILING_DAYS = sql.raw(`interval '${WEBHOOKS.failingDays} days'`);
const ATTEMPTS_MAX = sql.raw(String(WEBHOOKS.storedAttemptsMax));

/**
 * Inserts an attempt and applies its consequences in one statement; the returned rows are endpoints whose state has
 * changed.
 */
const insertAttempt = statement(
  'insertAttempt',
  { id: webhookEndpoints.id, userId: webhookEndpoints.userId, pausedReason: webhookEndpoints.pausedReason },
  ($: Values<Attempt>, fields) => {
    const done = builder.$with('done', { endpointId: sql<WebhookEndpointId>`endpoint_id`.as('endpoint_id') }).as(
      sql`update "webhook_deliveries" set status = ${$('status')}, attempts_made = attempts_made + 1, claim = null,
        due_at = now() + make_interval(secs => ${$('retryAfterSeconds')}::float8),
        ended_at = case when ${$('status')} <> 'waiting' then now() end
      where id = ${$('id')} and claim = ${$('claim')} returning endpoint_id, id`,
    );
    const attempt = builder.$with('attempt', { number: sql<number>`number`.as('number') }).as(
      sql`insert into webhook_attempts (delivery_id, number, started_at, duration_ms, response_status, error, response)
      select id, 1 + coalesce((select max(number) from webhook_attempts
        where delivery_id = ${$('id')}), 0), ${$('startedAt')}::timestamptz,
        ${$('durationMs')}::int, ${$('responseStatus')}::int, ${$('error')}, ${$('response')} from done
      returning number`,
    );
    const dropped = builder.$with('dropped', { number: sql<number>`number`.as('number') }).as(
      sql`delete from webhook_attempts where delivery_id = ${$('id')}
      and number <= (select number from attempt) - ${ATTEMPTS_MAX} returning number`,
    );
    const hasFailed = sql`${$('error')}::text is not null`;
    const since = webhookEndpoints.failingSince;
    const pauses = sql`(${hasFailed} and ${webhookEndpoints.status} = 'active' and (${$('isGone')}::boolean or ${since}
    < now() - ${FAILING_DAYS}))`;
    return builder
      .with(done, attempt, dropped)
      .update(webhookEndpoints)
      .set({
        failingSince: sql`case when ${hasFailed} then coalesce(${since}, now()) end`,
        status: sql`case when ${pauses} then 'paused' else ${webhookEndpoints.status} end`,
        pausedReason: sql`case when ${pauses} then case when ${$('isGone')}::boolean then 'gone' else 'failing' end
        else ${webhookEndpoints.pausedReason} end`,
        updatedAt: sql`case when ${pauses} then now() else ${webhookEndpoints.updatedAt} end`,
      })
      .where(
        sql`${webhookEndpoints.id} = (select endpoint_id from done)
        and (${pauses} or (${since} is null) = (${hasFailed}))`,
      )
      .returning(fields);
  },
);

/** Records an attempt; returns the endpoint if the attempt has paused it. */
export async function recordAttempt(db: Db, attempt: Attempt): Promise<PausedEndpoint | undefined> {
  const rows = await insertAttempt(db, attempt);
  return rows.find(({ pausedReason }) => pausedReason === 'gone' || pausedReason === 'failing');
}

interface Held {
  readonly id: WebhookDeliveryId;
  readonly claim: string;
}

const isHeld = ($: Values<Held>) => and(eq(webhookDeliveries.id, $('id')), eq(webhookDeliveries.claim, $('claim')));

/** For a delivery that the owner of the endpoint may no longer read. */
export const skipDelivery = statement('skipDelivery', {}, ($: Values<Held>) =>
  builder
    .update(webhookDeliveries)
    .set({ status: sql`'skipped'`, claim: sql`null`, endedAt: sql`now()` })
    .where(isHeld($)),
);

/** Gives back a claimed delivery, which other instances can then claim at once. */
export const releaseDelivery = statement('releaseDelivery', {}, ($: Values<Held>) =>
  builder
    .update(webhookDeliveries)
    .set({ claim: sql`null`, dueAt: sql`now()` })
    .where(isHeld($)),
);
