import { mailTasks } from '../market/mail/tasks.js';
import type { TaskKind } from '../platform/queue/queue.js';
import { restoreUserTasks } from '../market/operations/admins/suspension.js';
import type { Services } from '../market/operations/services.js';
import { webhookTasks } from '../market/webhooks/tasks.js';

/** The kinds of tasks that this server runs. A server that can't send emails leaves them to others. */
export function taskKinds(services: Services): Readonly<Record<string, TaskKind>> {
  return { webhook: webhookTasks(services), ...(services.mail.isOn && mailTasks(services)), restore: restoreUserTasks };
}
