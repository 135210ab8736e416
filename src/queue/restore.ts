/** The task that ends a suspension at the moment that was set for it. */
import type { UserId } from '../rules/ids.js';
import { TASKS } from '../rules/service-limits.js';
import { restoreAtEnd } from '../store/suspensions.js';
import type { TaskKind } from './queue.js';

export const restoreTasks: TaskKind = {
  limits: TASKS.restore,
  // It only ends together with what it does.
  retryAfterSeconds: [],
  run: async (_db, { id }) => ({ outcome: 'done', write: (tx) => restoreAtEnd(tx, { id: id as UserId }) }),
};
