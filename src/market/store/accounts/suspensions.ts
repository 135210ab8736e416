/** Suspends and restores people. A task restores a person at the end of a suspension with a set end. */
import { asc, eq, or, sql } from 'drizzle-orm';
import type { UserId } from '../../rules/ids.js';
import type { Db } from '../../../platform/db/database.js';
import { builder, type Placeholders, selectFrom, statement } from '../../../platform/db/statement.js';
import { deleteTaskOf, queueTaskAt } from '../../../platform/queue/tasks.js';
import { users } from '../tables/accounts.js';

const { id, userType, suspendedAt, suspendedUntil } = users;

/** The rows are locked in a fixed order, so two admins who suspend each other at the same time can't deadlock. */
export const lockUserAndAdmins = statement(
  'lockUserAndAdmins',
  { id, userType, suspendedAt, suspendedUntil },
  ($: Placeholders<{ id: UserId }>, fields) =>
    selectFrom(users, fields, or(eq(id, $('id')), sql`${userType} = 'admin'`))
      .orderBy(asc(id))
      .for('no key update'),
);

/** If the person is already suspended, `suspendedAt` keeps its first value. */
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

/**
 * The caller also pauses the person's webhooks, ends their sessions, revokes their API keys, and expires their pending
 * email changes.
 */
export async function markSuspended(tx: Db, person: UserId, until: Date | null): Promise<void> {
  await Promise.all([
    setSuspension(tx, { id: person, until: until && until.toISOString() }),
    // Without an end, the task is deleted too, because an end that was set earlier no longer applies.
    until ? queueTaskAt(tx, { ...taskOf(person), runAt: until.toISOString() }) : deleteTaskOf(tx, taskOf(person)),
  ]);
}

const clearSuspension = statement('clearSuspension', {}, ($: Placeholders<{ id: UserId }>) =>
  builder
    .update(users)
    .set({ suspendedAt: null, suspendedUntil: null, updatedAt: sql`now()` })
    .where(eq(id, $('id'))),
);

export async function markRestored(tx: Db, person: UserId): Promise<void> {
  await Promise.all([clearSuspension(tx, { id: person }), deleteTaskOf(tx, taskOf(person))]);
}

/** If the suspension was extended in the meantime, nothing changes. */
export const restoreAtEnd = statement('restoreAtEnd', {}, ($: Placeholders<{ id: UserId }>) =>
  builder
    .update(users)
    .set({ suspendedAt: null, suspendedUntil: null, updatedAt: sql`now()` })
    .where(sql`${eq(id, $('id'))} and ${suspendedUntil} <= now()`),
);

const taskOf = (person: UserId) => ({ id: person, kind: 'restore', key: 'restore' }) as const;
