/** Generates each email from its row, sends it, and records the outcome. */
import type { Logger } from 'pino';
import type { TaskEnd, TaskKind } from '../../platform/queue/queue.js';
import type { MailId } from '../rules/ids.js';
import { MAIL, TASKS } from '../rules/market-limits.js';
import type { MailOutcome } from '../rules/people/mail-kinds.js';
import type { Db } from '../../platform/db/database.js';
import type { Replica } from '../../platform/db/stale-reads.js';
import { endMail, selectMailToSend, type Mail } from '../store/accounts/mails.js';
import type { Task } from '../../platform/queue/tasks.js';
import { compose } from './compose.js';
import type { MailMetrics } from './metrics.js';
import type { MailSettings, SendFailure } from './send.js';

interface MailTaskOptions {
  readonly mail: MailSettings;
  readonly mailMetrics: MailMetrics;
  readonly replica?: Pick<Replica, 'bringUpToDate'> | undefined;
  readonly log: Pick<Logger, 'warn'>;
}

type Failure = Pick<SendFailure, 'code' | 'end'>;

export function mailTasks({
  mail: settings,
  mailMetrics: metrics,
  replica,
  log,
}: MailTaskOptions): Record<'mail' | 'notice', TaskKind> {
  async function run(db: Db, task: Task, stop: AbortSignal): Promise<TaskEnd> {
    const id = task.id as MailId;
    const [mail] = await selectMailToSend(db, { id });
    if (!mail) return { outcome: 'done' };
    const composed = mail.isWanted ? await compose(db, mail, settings, 'send') : 'nobody';
    if (composed === 'nobody') return endOfTask(id, 'nobody', 0);
    // Another server may have the secret that created the token.
    if (composed === 'no token') return failed(task, mail, { code: 'NO_TOKEN', end: undefined }, 0);
    if (composed.isHourly && mail.waitSeconds !== null) return { outcome: 'not run', afterSeconds: mail.waitSeconds };
    if (mail.userId) await replica?.bringUpToDate([mail.userId]);
    const beganMs = performance.now();
    const outcome = await settings.send(mail, composed, stop);
    // The mail server may have accepted the email, so the retry has the same Message-ID.
    if (outcome === 'stopped') return { outcome: 'not run' };
    const durationMs = performance.now() - beganMs;
    if (typeof outcome === 'string') return endOfTask(id, outcome, durationMs);
    return failed(task, mail, outcome, durationMs);
  }

  function failed(task: Task, { id, kind }: Mail, failure: Failure, durationMs: number): TaskEnd {
    const end = failure.end ?? (task.attempts === MAIL.retryAfterSeconds.length ? 'given_up' : undefined);
    log.warn({ ...failure, mail: id, kind, end }, 'sending an email failed');
    if (end) return endOfTask(id, end, durationMs);
    metrics.recordOutcome('failed', durationMs / 1000);
    return { outcome: 'failed', isSlow: durationMs >= MAIL.slowMs };
  }

  function endOfTask(id: MailId, outcome: MailOutcome, durationMs: number): TaskEnd {
    metrics.recordOutcome(outcome, durationMs / 1000);
    return { outcome: 'done', isSlow: durationMs >= MAIL.slowMs, write: (tx) => endMail(tx, { id, outcome }) };
  }

  const { retryAfterSeconds } = MAIL;
  return {
    mail: { limits: TASKS.mail, retryAfterSeconds, run },
    notice: { limits: TASKS.notice, retryAfterSeconds, run },
  };
}
