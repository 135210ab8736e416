/**
 * The clock: reminds people of deadlines, and acts when one passes. It checks a job under the job's lock and computes
 * everything from the rows, so several instances can run it, and a check that was lost or repeated does no harm.
 */
import type { Logger } from 'pino';
import type { JobId } from '../../rules/ids.js';
import {
  CLOCK_TRANSITIONS,
  decisionOnJob,
  REMINDER_EVENT,
  respondersOf,
  STAKE_DEADLINE,
  decisionOnStake,
  transitionAtEnd,
  type ClockAction,
  type ClockDecision,
  type ClockTransitionKey,
  type JobTimer,
  type DeadlineSettings,
  type Reminded,
  type StakeTimer,
} from '../../rules/jobs/deadlines.js';
import type { FactName, JobFacts } from '../../rules/jobs/facts.js';
import { CLOCK } from '../../rules/market-limits.js';
import { STATES_OPEN_TO_BIDS } from '../../rules/parties.js';
import { releaseHolds } from '../../store/bids/holds.js';
import { logEvents, type NewEvent } from '../../store/events/events.js';
import {
  applySettings,
  beginScan,
  beingApplied,
  clockFactsReader,
  delayStakes,
  lockJobForClock,
  postponeCheck,
  type OwnSettings,
  selectDueJobs,
  selectJobsOfSuspensions,
  selectSettings,
  selectSuspensions,
  selectStakes,
  setStakeReminded,
} from '../../store/jobs/due-jobs.js';
import { updateJob, type JobChanges, type JobRow } from '../../store/jobs/jobs.js';
import { EFFECTS } from './effects.js';
import { moveJob } from './move-job.js';
import { pipelined, type Db, type Transaction } from '../../../platform/db/database.js';
import { asArray } from '../../../platform/db/statement.js';
import { Refusal } from '../../../platform/errors.js';

export interface ClockServices {
  readonly db: Db;
  readonly deadlines: DeadlineSettings;
  readonly log: Pick<Logger, 'warn'>;
  readonly recordClockAction: (action: ClockAction) => void;
  /** Called after a commit, because the commit's events need positions. */
  readonly live: { wake(): void };
}

type TimedJob = JobRow & JobTimer;

/** A job under its lock, and what the clock knows about it. */
interface Check {
  readonly tx: Transaction;
  readonly job: TimedJob;
  readonly stakes: readonly StakeTimer[];
  readonly settings: DeadlineSettings;
  readonly now: Date;
}

export interface Clock {
  /** Checks a batch of the jobs that are due. Returns true if it did something, so there may be more. */
  readonly run: () => Promise<boolean>;
}

/** Only servers with the stored settings check jobs. The settings of the server that started last are stored. */
export function createClock(services: ClockServices): Clock {
  const { db, deadlines, log } = services;
  const own: OwnSettings = { settings: JSON.stringify(deadlines), canAct: deadlines.mode === 'act' };
  const failed: FailedChecks = new Map();
  let isFirstRun = true;
  let other: string | null | undefined;
  return {
    async run() {
      const [clock] = await beginScan(db, { ...own, outageSeconds: CLOCK.outageSeconds });
      const settings = clock?.settings;
      // A server can stop while it applies its settings. Another server that has them too then applies them.
      const mustApply = settings !== own.settings && (isFirstRun || settings === beingApplied(own.settings));
      if (mustApply) await applySettings(db, { ...own, batch: CLOCK.settingsBatchJobs });
      else if (settings !== own.settings) {
        if (settings !== other)
          log.warn({ settings }, 'the clock is paused on this server: another server has different DEADLINE settings');
        other = settings;
        return false;
      }
      isFirstRun = false;
      return checkDueJobs(services, own, failed);
    },
  };
}

/** Jobs that the clock failed to check, and when. */
type FailedChecks = Map<JobId, number>;

async function checkDueJobs(
  { db, deadlines, log, live, recordClockAction }: ClockServices,
  own: OwnSettings,
  failed: FailedChecks,
): Promise<boolean> {
  for (const [id, atMs] of failed) if (atMs < Date.now() - CLOCK.failurePauseSeconds * 1_000) failed.delete(id);
  // Otherwise, jobs that always fail would keep the clock from later ones.
  const batch = { without: asArray([...failed.keys()]), limit: CLOCK.batchJobs };
  const [due, ofSuspensions] = await Promise.all([selectDueJobs(db, batch), selectJobsOfSuspensions(db, batch)]);
  const ids = new Set([...due, ...ofSuspensions].map(({ id }) => id));
  let failures = 0;
  for (const id of ids) {
    try {
      const action = await db.inTransaction((tx) => checkJob(tx, id, deadlines, own));
      if (action) recordClockAction(action);
      live.wake();
    } catch (error) {
      failures += 1;
      // For example, the connection was lost, or someone else locked the job for too long.
      const mayPass = error instanceof Refusal && error.code === 'OVERLOADED';
      const again = mayPass ? 'soon' : 'in an hour';
      log.warn({ err: error, jobId: id }, `the clock could not check a job; it tries again ${again}`);
      if (mayPass) continue;
      failed.set(id, Date.now());
      // For the other servers. If this fails too, they find out on their own.
      await postponeCheck(db, { id, seconds: CLOCK.failurePauseSeconds }).catch((err: unknown) =>
        log.warn({ err, jobId: id }, 'the clock could not postpone its check of a job'),
      );
    }
  }
  return failures < ids.size;
}

async function checkJob(
  tx: Transaction,
  id: JobId,
  settings: DeadlineSettings,
  own: OwnSettings,
): Promise<ClockAction | void> {
  const [[row], [suspensions], [clock]] = await pipelined(
    lockJobForClock(tx, { id }),
    selectSuspensions(tx, { id }),
    selectSettings(tx, {}),
  );
  // Whoever applies other settings marks the job after announcing them, so a server that has them checks it again.
  if (!row || !suspensions || clock?.settings !== own.settings) return;
  const { job, now } = row;
  const stakes = STATES_OPEN_TO_BIDS.includes(job.status) ? await selectStakes(tx, { id }) : [];
  const check: Check = { tx, job, stakes, settings, now };
  if (isPaused({ job, ...suspensions }))
    return job.pausedFrom === null ? pause(check) : change(check, { nextCheckAt: null });
  if (job.pausedFrom !== null) return resume(check, job.pausedFrom);
  const decision = decisionOnJob(job, settings, now);
  if (decision.is === 'remind') return remind(check, decision.to);
  if (decision.is === 'act') return act(check);
  const decisions = stakes.map((stake) => [stake, decisionOnStake(stake, settings, now)] as const);
  const [stake, stakeDecision] = decisions.find(([, { is }]) => is !== 'wait') ?? [];
  if (stake && stakeDecision?.is === 'remind') return remindOfStake(check, stake, stakeDecision.to);
  if (stake) return releaseStake(check, stake);
  return change(check, { nextCheckAt: earliest([decision, ...decisions.map(([, one]) => one)], now) });
}

interface Suspensions {
  readonly job: TimedJob;
  readonly isOwnerSuspended: boolean;
  readonly isAwardeeSuspended: boolean;
}

/** A deadline is paused while a person who would have to respond to it is suspended. */
function isPaused({ job, isOwnerSuspended, isAwardeeSuspended }: Suspensions): boolean {
  const responders = respondersOf(job);
  return (
    (isOwnerSuspended && (responders === 'owner' || responders === 'parties')) ||
    (isAwardeeSuspended && (responders === 'awardee' || responders === 'parties'))
  );
}

function earliest(decisions: readonly ClockDecision[], now: Date): Date | null {
  const times = decisions
    .map((decision) => (decision.is === 'wait' ? decision.until : now))
    .filter((time) => time !== null);
  return times.length === 0 ? null : new Date(Math.min(...times.map((time) => time.getTime())));
}

/** Returns when the clock checks the job next, after these changes. */
function nextCheckAt({ job, stakes, settings, now }: Check, changes: JobChanges & { isWarned?: boolean } = {}) {
  const decisions = [
    decisionOnJob({ ...job, ...changes }, settings, now),
    ...stakes.map((stake) => decisionOnStake(stake, settings, now)),
  ];
  return earliest(decisions, now);
}

async function change({ tx, job }: Check, changes: JobChanges): Promise<void> {
  await tx.commitWith(updateJob(tx, job, changes));
}

/** A reminder isn't a change of the job, so the job's version stays the same. */
async function write(
  action: ClockAction,
  { tx, job }: Check,
  event: NewEvent,
  changes: JobChanges,
  ...also: readonly Promise<unknown>[]
): Promise<ClockAction> {
  const eventCount = job.eventCount + 1;
  await tx.commitWith(updateJob(tx, job, { ...changes, eventCount }), logEvents(tx, job, [event]), ...also);
  return action;
}

function reminder({ status, awardedContractorId }: JobRow, to: Reminded, data: NewEvent['data'] = {}): NewEvent {
  return {
    type: REMINDER_EVENT,
    actorId: null,
    fromStatus: status,
    toStatus: status,
    // The next awarded contractor must not read this one's reminders.
    ...(to === 'awardee' && awardedContractorId !== null && { bidderId: awardedContractorId }),
    data: { to, ...data },
  };
}

function remind(check: Check, to: Reminded): Promise<ClockAction> {
  const { job, settings, now } = check;
  const changes = { remindedAt: now };
  const next = nextCheckAt(check, { ...changes, isWarned: settings.mode === 'act' });
  return write('remind', check, reminder(job, to), { ...changes, nextCheckAt: next });
}

function remindOfStake(check: Check, stake: StakeTimer, to: Reminded): Promise<ClockAction> {
  const { tx, job, stakes, settings, now } = check;
  const { bidId } = stake;
  const reminded = { ...stake, remindedAt: now, isWarned: settings.mode === 'act' };
  const next = nextCheckAt({ ...check, stakes: [...stakes.filter((one) => one !== stake), reminded] });
  return write('remind', check, reminder(job, to, { bidId }), { nextCheckAt: next }, setStakeReminded(tx, { bidId }));
}

function releaseStake(check: Check, stake: StakeTimer): Promise<ClockAction> {
  const { tx, stakes } = check;
  const { bidId, contractorId } = stake;
  const event = { type: STAKE_DEADLINE.event, actorId: null, bidderId: contractorId, data: { bidId } };
  const next = nextCheckAt({ ...check, stakes: stakes.filter((one) => one !== stake) });
  return write(STAKE_DEADLINE.action, check, event, { nextCheckAt: next }, releaseHolds(tx, [bidId]));
}

function pause(check: Check): Promise<ClockAction | void> {
  const { job, now, settings } = check;
  const changes = { pausedFrom: now, nextCheckAt: null };
  return settings.mode === 'off' ? change(check, changes) : write('remind', check, reminder(job, 'admin'), changes);
}

/** Moves the deadlines by the time for which they were paused. */
async function resume({ tx, job, settings, now }: Check, pausedFrom: Date): Promise<void> {
  const ms = now.getTime() - pausedFrom.getTime();
  // A proposal can restart the deadline while it’s paused.
  const later = (time: Date | null) => time && new Date(Math.min(time.getTime() + ms, now.getTime()));
  const changes = {
    deadlineFrom: later(job.deadlineFrom),
    disputedFrom: later(job.disputedFrom),
    // A reminder from before the clock could act must not become a warning.
    remindedAt: settings.mode === 'act' && !job.isWarned ? null : later(job.remindedAt),
    pausedFrom: null,
    nextCheckAt: now,
  };
  await tx.commitWith(updateJob(tx, job, changes), delayStakes(tx, { id: job.id, seconds: ms / 1_000 }));
}

const readFacts = Object.fromEntries(
  Object.entries(CLOCK_TRANSITIONS).map(([key, { effects }]) => [
    key,
    clockFactsReader([...new Set<FactName>(effects.flatMap((effect) => EFFECTS[effect].facts))]),
  ]),
) as Record<ClockTransitionKey, ReturnType<typeof clockFactsReader>>;

async function act({ tx, job }: Check): Promise<ClockAction> {
  const key = transitionAtEnd(job);
  if (!key) throw new Error('A deadline without an end is over.');
  const facts = (await readFacts[key](tx, job.id)) as Partial<JobFacts> & Pick<JobFacts, never>;
  const transition = CLOCK_TRANSITIONS[key];
  await moveJob(transition, { tx, actorId: null, job, facts }, { input: {}, data: {} });
  return transition.action;
}
