/** Suspends people and restores them. */
import { asc, eq, or, sql } from 'drizzle-orm';
import type { UserId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { deleteTaskOf, queueTaskAt } from '../../../platform/queue/tasks.js';
import { users } from '../tables/accounts.js';
import { pauseEndpoints } from '../webhooks/webhooks.js';

const { id, userType, suspendedAt, suspendedUntil } = users;

/**
 * The person and all admins, always in the same order. Two admins who suspend each other then wait instead of
 * deadlocking.
 */
export const lockPersonAndAdmins = statement(
  'lockPersonAndAdmins',
  { id, userType, suspendedAt, suspendedUntil },
  ($: Placeholders<{ id: UserId }>, fields) =>
    selectFrom(users, fields, or(eq(id, $('id')), sql`${userType} = 'admin'`))
      .orderBy(asc(id))
      .for('no key update'),
);

/** Suspending again changes only the end. `suspendedAt` keeps the first time. */
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

/** Everything except sessions, API keys, and pending email changes, which the operation ends. */
export async function suspendPerson(tx: Db, person: UserId, until: Date | null): Promise<void> {
  await Promise.all([
    setSuspension(tx, { id: person, until: until && until.toISOString() }),
    pauseEndpoints(tx, { userId: person, pausedReason: 'suspended' }),
    // The earlier end no longer counts.
    until ? queueTaskAt(tx, { ...taskOf(person), runAt: until.toISOString() }) : deleteTaskOf(tx, taskOf(person)),
  ]);
}

const clearSuspension = statement('clearSuspension', {}, ($: Placeholders<{ id: UserId }>) =>
  builder
    .update(users)
    .set({ suspendedAt: null, suspendedUntil: null, updatedAt: sql`now()` })
    .where(eq(id, $('id'))),
);

export async function restorePerson(tx: Db, person: UserId): Promise<void> {
  await Promise.all([clearSuspension(tx, { id: person }), deleteTaskOf(tx, taskOf(person))]);
}

/** Restores a person whose suspension has ended by now. A prolonged one stays. */
export const restoreAtEnd = statement('restoreAtEnd', {}, ($: Placeholders<{ id: UserId }>) =>
  builder
    .update(users)
    .set({ suspendedAt: null, suspendedUntil: null, updatedAt: sql`now()` })
    .where(sql`${eq(id, $('id'))} and ${suspendedUntil} <= now()`),
);

const taskOf = (person: UserId) => ({ id: person, kind: 'restore', key: 'restore' }) as const;
