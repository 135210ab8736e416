/** Records what an admin does to others in the flush that commits it: all of their operations, by the one frame. */
import type { Viewer } from '../rules/viewer.js';
import { insertAdminAction } from '../store/admin-actions.js';
import type { Db, Transaction } from '../store/database.js';
import { newId } from '../store/new-id.js';

/**
 * Whatever an operation for admins commits with `commitWith` is recorded; a call that changes nothing commits nothing.
 */
export function recordingAdminAction(
  db: Db,
  { name, allows, budget }: Traits,
  input: unknown,
  viewer: Viewer | null,
): Db {
  if (viewer?.role !== 'admin' || typeof allows === 'string' || budget !== 'write') return db;
  const { id, userId = id, reason = null } = input as Subject;
  if (userId === undefined) throw new Error(`${name} does not say whom it concerns.`);
  const action = { adminId: viewer.userId, action: name, subjectId: userId, reason };
  const recordingTx = (tx: Transaction): Transaction => ({
    ...tx,
    async commitWith<Parts extends readonly unknown[]>(...parts: { [At in keyof Parts]: Promise<Parts[At]> }) {
      const inserted = insertAdminAction(tx, { ...action, id: newId('adminAction') });
      await tx.commitWith<readonly unknown[]>(...parts, inserted);
      return Promise.all<Parts>(parts as Parts) as Promise<Parts>;
    },
  });
  return { ...db, inTransaction: (work) => db.inTransaction((tx) => work(recordingTx(tx))) };
}

interface Traits {
  readonly name: string;
  readonly allows: string | readonly string[];
  readonly budget: string;
}

/** Every such operation names a user, a contractor or a job. */
interface Subject {
  readonly id?: string;
  readonly userId?: string;
  readonly reason?: string | null;
}
