/** The kinds of tasks that an instance runs from the queue, by the files that run them. */
import { mailTasks } from './mail/tasks.js';
import type { TaskKind } from './queue/queue.js';
import { restoreUserTasks } from './queue/restore-user.js';
import type { Services } from './operations/services.js';
import type { TaskKindName } from './store/tasks.js';
import { webhookTasks } from './webhooks/tasks.js';

/** An instance that cannot send mails leaves those of others to them. */
export function taskKinds(services: Services): Readonly<Partial<Record<TaskKindName, TaskKind>>> {
  return {
    webhook: webhookTasks(services),
    ...(services.mail.isOn && { mail: mailTasks(services) }),
    restore: restoreUserTasks,
  };
}
