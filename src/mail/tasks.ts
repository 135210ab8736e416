/** The tasks of mails: each makes a mail of its row and sends it, and records what came of it. */
import type { Logger } from 'pino';
import type { Metrics } from '../metrics.js';
import type { TaskEnd, TaskKind } from '../queue/queue.js';
import type { MailId } from '../rules/ids.js';
import { MAIL } from '../rules/limits.js';
import type { MailOutcome } from '../rules/mails.js';
import { TASKS } from '../rules/service-limits.js';
import type { Db } from '../store/database.js';
import { endMail, selectMailToSend } from '../store/mails.js';
import type { Task } from '../store/tasks.js';
import { compose } from './compose.js';
import type { MailSettings } from './settings.js';

interface MailTaskParts {
  readonly mail: MailSettings;
  readonly metrics: Pick<Metrics, 'recordMail'>;
  readonly log: Pick<Logger, 'warn'>;
}

export function mailTasks({ mail: { send, tokens, addresses }, metrics, log }: MailTaskParts): TaskKind {
  async function run(db: Db, task: Task, stop: AbortSignal): Promise<TaskEnd> {
    const id = task.id as MailId;
    const [mail] = await selectMailToSend(db, { id });
    if (!mail) return { outcome: 'done' };
    const composed = compose(mail, tokens, addresses);
    if (!composed) return ended(id, 'nobody', 0);
    const beganMs = performance.now();
    const outcome = await send(mail, composed, stop);
    // The server may or may not have taken it: it is sent again, with the same Message-ID.
    if (outcome === 'stopped') return { outcome: 'not run' };
    const durationMs = performance.now() - beganMs;
    if (typeof outcome === 'string') return ended(id, outcome, durationMs);
    const isLast = task.attempts === MAIL.retryAfterSeconds.length;
    log.warn({ ...outcome, mail: id, kind: mail.kind, isLast }, 'sending a mail failed');
    if (isLast) return ended(id, 'given_up', durationMs);
    metrics.recordMail('failed', durationMs / 1000);
    return { outcome: 'failed', isSlow: durationMs >= MAIL.slowMs };
  }

  function ended(id: MailId, outcome: MailOutcome, durationMs: number): TaskEnd {
    metrics.recordMail(outcome, durationMs / 1000);
    return { outcome: 'done', isSlow: durationMs >= MAIL.slowMs, write: (tx) => endMail(tx, { id, outcome }) };
  }

  return { limits: TASKS.mail, retryAfterSeconds: MAIL.retryAfterSeconds, run };
}
