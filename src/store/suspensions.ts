/** Suspends people and restores them. */
import { asc, eq, or, sql } from 'drizzle-orm';
import type { UserId } from '../rules/ids.js';
import { SUSPENDED } from '../rules/suspension.js';
import type { Db } from './database.js';
import { builder, columns, statement, type Placeholders } from './statement.js';
import { deleteTaskOf, queueTaskAt } from './tasks.js';
import { users } from './tables/accounts.js';
import { webhookEndpoints } from './tables/webhooks.js';

const { id, userType, suspendedAt, suspendedUntil } = users;

/** The person and all admins, always in one order, so that of two who suspend each other one waits for the other. */
export const lockPersonAndAdmins = statement(
  'lockPersonAndAdmins',
  { id, userType, suspendedAt, suspendedUntil },
  ($: Placeholders<{ id: UserId }>, fields) =>
    builder
      .select(fields)
      .from(users)
      .where(or(eq(id, $('id')), sql`${userType} = 'admin'`))
      .orderBy(asc(id))
      .for('no key update'),
);

/** The time of the first suspension stays where it is suspended anew, until another moment. */
const setSuspension = statement('setSuspension', {}, ($: Placeholders<{ id: UserId; until: string | null }>) =>
  builder
    .update(users)
    .set({
      suspendedAt: sql`coalesce(${suspendedAt}, now())`,
      suspendedUntil: sql`${$('until')}::timestamptz`,
      updatedAt: sql`now()`,
    })
    .where(eq(id, $('id'))),
);

const pauseEndpoints = statement(
  'pauseEndpoints',
  {},
  ($: Placeholders<{ userId: UserId; pausedReason: typeof SUSPENDED.webhooks }>) =>
    builder
      .update(webhookEndpoints)
      .set({ ...columns($, ['pausedReason']), status: sql`'paused'`, updatedAt: sql`now()` })
      .where(sql`${eq(webhookEndpoints.userId, $('userId'))} and ${webhookEndpoints.status} = 'active'`),
);

/** Everything but the sessions, which `endAllSessions` ends. */
export async function suspend(tx: Db, person: UserId, until: Date | null): Promise<void> {
  await Promise.all([
    setSuspension(tx, { id: person, until: until && until.toISOString() }),
    pauseEndpoints(tx, { userId: person, pausedReason: SUSPENDED.webhooks }),
    // An earlier end no longer counts.
    until ? queueTaskAt(tx, { ...taskOf(person), runAt: until.toISOString() }) : deleteTaskOf(tx, taskOf(person)),
  ]);
}

const clearSuspension = statement('clearSuspension', {}, ($: Placeholders<{ id: UserId }>) =>
  builder
    .update(users)
    .set({ suspendedAt: null, suspendedUntil: null, updatedAt: sql`now()` })
    .where(eq(id, $('id'))),
);

export async function restore(tx: Db, person: UserId): Promise<void> {
  await Promise.all([clearSuspension(tx, { id: person }), deleteTaskOf(tx, taskOf(person))]);
}

/** By the queue: what was suspended anew meanwhile stays so. */
export const restoreAtEnd = statement('restoreAtEnd', {}, ($: Placeholders<{ id: UserId }>) =>
  builder
    .update(users)
    .set({ suspendedAt: null, suspendedUntil: null, updatedAt: sql`now()` })
    .where(sql`${eq(id, $('id'))} and ${suspendedUntil} <= now()`),
);

const taskOf = (person: UserId) => ({ id: person, kind: 'restore', key: 'restore' }) as const;
