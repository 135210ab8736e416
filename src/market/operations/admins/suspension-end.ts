/** The task that ends a suspension at its set time. */
import type { UserId } from '../../rules/ids.js';
import { TASKS } from '../../rules/market-limits.js';
import { restoreAtEnd } from '../../store/accounts/suspensions.js';
import type { TaskKind } from '../../../platform/queue/queue.js';

export const restoreUserTasks: TaskKind = {
  limits: TASKS.restore,
  // It never fails without throwing.
  retryAfterSeconds: [],
  // Not in the transaction that ends the task, because a suspension locks the person first and the task afterward.
  async run(db, { id }) {
    await restoreAtEnd(db, { id: id as UserId });
    return { outcome: 'done' };
  },
};
