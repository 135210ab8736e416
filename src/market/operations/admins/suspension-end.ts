/** The task that ends a suspension at the moment that was set for it. */
import type { UserId } from '../../rules/ids.js';
import { TASKS } from '../../rules/market-limits.js';
import { restoreAtEnd } from '../../store/accounts/suspensions.js';
import type { TaskKind } from '../../../platform/queue/queue.js';

export const restoreUserTasks: TaskKind = {
  limits: TASKS.restore,
  // It never fails without throwing.
  retryAfterSeconds: [],
  // Not with the end of the task: a suspension locks the person first, and the task after that.
  async run(db, { id }) {
    await restoreAtEnd(db, { id: id as UserId });
    return { outcome: 'done' };
  },
};
