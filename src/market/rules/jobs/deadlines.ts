/**
 * What happens if nobody acts: when people are reminded, and what the clock then does to the job. Everything is
 * computed from the job's row and the settings, so a late or repeated check comes to the same result.
 */
import type { BidId, ContractorId } from '../ids.js';
import type { AllowedActor } from '../lifecycle.js';
import type { JobState } from '../states.js';

/** The transitions that nobody calls. The clock makes them when a deadline passes. */
export const CLOCK_TRANSITIONS = {
  expire: {
    action: 'expire',
    from: 'open',
    to: 'cancelled',
    event: 'job.expired',
    description: 'Nobody was awarded the job in time. The homeowner gets the same refund as for a cancellation.',
    effects: ['releaseHolds', 'rejectLiveBids', 'refundPublishing'],
    unless: 'the homeowner awards or cancels the job, or extends the deadline (once)',
  },
  approve: {
    action: 'approve',
    from: 'in_review',
    to: 'completed',
    event: 'job.auto_approved',
    description: 'The homeowner didn’t respond to the work in time, so it counts as approved, without a rating.',
    effects: ['releaseHolds', 'creditContractor'],
    unless: 'the homeowner approves or disputes the work, requests changes, or extends the deadline (once)',
  },
  escalate: {
    action: 'escalate',
    from: 'disputed',
    to: 'escalated',
    event: 'job.auto_escalated',
    description: 'The parties didn’t settle the dispute in time, so an admin decides it.',
    effects: ['lapseProposal'],
    unless: 'the parties settle the dispute; a new proposal restarts the deadline, up to 28 days in total',
  },
  standDecision: {
    action: 'stand_decision',
    from: 'decision_reached',
    to: 'completed',
    event: 'job.decision_stood',
    description: 'The contractor didn’t appeal in time, so the decision stands. The contractor gets no credit.',
    effects: ['releaseHolds'],
    unless: 'the contractor accepts or appeals the decision, or an admin extends the deadline (once)',
  },
} as const;
export type ClockTransitionKey = keyof typeof CLOCK_TRANSITIONS;
export const CLOCK_ACTIONS = ['expire', 'approve', 'escalate', 'stand_decision', 'release_stake'] as const;
export type ClockActionName = (typeof CLOCK_ACTIONS)[number];

/** What the clock does with a job, for metrics. */
export const COUNTED_ACTIONS = ['remind', ...CLOCK_ACTIONS] as const;
export type ClockAction = (typeof COUNTED_ACTIONS)[number];

export const REMINDER_EVENT = 'job.reminded' as const;

export type Reminded = Extract<AllowedActor, 'owner' | 'awardee' | 'parties' | 'admin'>;

interface DeadlineRow {
  readonly countedFrom: string;
  /** The people to remind, and the day of each reminder. With an end, reminders keep their distance from it. */
  readonly reminders: readonly (readonly [to: Reminded, day: number])[];
  readonly end?: {
    readonly day: number;
    readonly transition: ClockTransitionKey;
    readonly extendedBy?: 'owner' | 'admin';
  };
  /** The latest end, counted from the start of the dispute, and the day of an additional reminder. */
  readonly limit?: { readonly day: number; readonly reminderDay: number };
  /** True if the deadline applies only after the homeowner has requested changes. */
  readonly afterChanges?: true;
}

export const DEADLINES = {
  open: {
    countedFrom: 'the job’s publication or reopening',
    reminders: [
      ['owner', 21],
      ['owner', 28],
    ],
    end: { day: 30, transition: 'expire', extendedBy: 'owner' },
  },
  awarded: {
    countedFrom: 'the award',
    reminders: [
      ['awardee', 3],
      ['awardee', 6],
    ],
  },
  in_progress: {
    countedFrom: 'the request for changes',
    afterChanges: true,
    reminders: [
      ['awardee', 7],
      ['awardee', 12],
    ],
  },
  in_review: {
    countedFrom: 'the submission',
    reminders: [
      ['owner', 5],
      ['owner', 12],
    ],
    end: { day: 14, transition: 'approve', extendedBy: 'owner' },
  },
  disputed: {
    countedFrom: 'the dispute’s start or its last proposal',
    reminders: [
      ['parties', 7],
      ['parties', 12],
    ],
    end: { day: 14, transition: 'escalate' },
    limit: { day: 28, reminderDay: 26 },
  },
  escalated: { countedFrom: 'the escalation', reminders: [['admin', 5]] },
  appealed: { countedFrom: 'the appeal', reminders: [['admin', 5]] },
  decision_reached: {
    countedFrom: 'the decision',
    reminders: [
      ['awardee', 10],
      ['awardee', 12],
    ],
    end: { day: 14, transition: 'standDecision', extendedBy: 'admin' },
  },
} as const satisfies { readonly [State in JobState]?: DeadlineRow };

/** A stake buys a look at the bid. If the homeowner doesn't look, the contractor gets the tokens back. */
export const STAKE_DEADLINE = {
  action: 'release_stake',
  countedFrom: 'the bid',
  reminderHour: 24,
  hour: 72,
  reminded: 'owner',
  event: 'bid.stake_released',
  description:
    'The homeowner didn’t look at the bid in time, so its stake was released. The bid keeps its place in the list.',
  unless: 'the homeowner marks the bid as viewed or shortlisted, or rejects it',
} as const;

/** The states in which the clock acts. Operators can set how long that takes. */
export type EndingState = 'open' | 'in_review' | 'disputed' | 'decision_reached';

/** `remind` only sends reminders, and `act` also lets the clock act. */
export const DEADLINE_MODES = ['off', 'remind', 'act'] as const;

/** Leaves time for a reminder two days before the end. */
export const DEADLINE_DAYS_MIN = 4;
export const STAKE_HOURS_MIN = STAKE_DEADLINE.hour;

export interface DeadlineSettings {
  readonly mode: (typeof DEADLINE_MODES)[number];
  readonly days: Readonly<Record<EndingState, number>>;
  readonly stakeHours: number;
}

/** When a deadline began, and the last reminder of it. All times are in deadline time. */
interface Timer {
  readonly deadlineFrom: Date | null;
  readonly remindedAt: Date | null;
  /** True if the clock could act when it wrote that reminder. */
  readonly isWarned: boolean;
}

/** What a job's deadline is computed from. A state without a deadline has a timer, too. */
export interface JobTimer extends Timer {
  readonly status: JobState;
  readonly changeRequestCount: number;
  readonly disputedFrom: Date | null;
  readonly deadlineExtendedSeconds: number;
  /** When the clock checks the job next. Null if it has nothing to do. */
  readonly nextCheckAt: Date | null;
  /** When the clock noticed that a person who would have to respond is suspended. */
  readonly pausedFrom: Date | null;
}

/** A pending bid with an active stake. */
export interface StakeTimer extends Timer {
  readonly bidId: BidId;
  readonly contractorId: ContractorId;
}

/** What the clock does with a deadline now. */
export type ClockDecision =
  | { readonly is: 'wait'; readonly until: Date | null }
  | { readonly is: 'remind'; readonly to: Reminded }
  | { readonly is: 'act' };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY_SECONDS = DAY_MS / 1_000;
/** The clock never acts less than this long after its last reminder. */
export const WARNING_MS = 2 * DAY_MS;

function rowOf({
  status,
  changeRequestCount,
}: Pick<JobTimer, 'status' | 'changeRequestCount'>): DeadlineRow | undefined {
  const rows: { readonly [State in JobState]?: DeadlineRow } = DEADLINES;
  const row = rows[status];
  return row?.afterChanges && changeRequestCount === 0 ? undefined : row;
}

/** True if a job in this state has a deadline or reminders. */
export function hasDeadline(job: Pick<JobTimer, 'status' | 'changeRequestCount'>): boolean {
  return rowOf(job) !== undefined;
}

interface Schedule {
  readonly reminders: readonly (readonly [to: Reminded, atMs: number])[];
  readonly endMs: number | null;
}

/** Returns who would have to act before the job's deadline. Undefined if the job has no deadline. */
export function respondersOf(job: JobTimer): Reminded | undefined {
  return rowOf(job)?.reminders.at(-1)?.[0];
}

/** Returns when people are reminded of a job's deadline, and when it ends. Undefined if the job has no deadline. */
export function scheduleOf(job: JobTimer, { days }: Pick<DeadlineSettings, 'days'>): Schedule | undefined {
  const row = rowOf(job);
  if (!row || job.deadlineFrom === null) return undefined;
  const fromMs = job.deadlineFrom.getTime();
  const shiftDays = row.end ? days[job.status as EndingState] - row.end.day : 0;
  const shiftMs = shiftDays * DAY_MS + job.deadlineExtendedSeconds * 1_000;
  const regular = row.reminders.map(([to, day]) => [to, fromMs + day * DAY_MS + shiftMs] as const);
  const regularEndMs = row.end ? fromMs + row.end.day * DAY_MS + shiftMs : null;
  const limitFromMs = job.disputedFrom?.getTime();
  if (!row.limit || regularEndMs === null || limitFromMs === undefined)
    return { reminders: regular.filter(([, atMs]) => atMs > fromMs), endMs: regularEndMs };
  const endMs = Math.min(regularEndMs, limitFromMs + row.limit.day * DAY_MS);
  const last = ['parties', limitFromMs + row.limit.reminderDay * DAY_MS] as const;
  // A reminder after the last one would delay the end, because the clock acts only 48 hours after a reminder.
  const reminders = [...regular, last].filter(([, atMs]) => atMs > fromMs && atMs < endMs && atMs <= last[1]);
  return { reminders, endMs };
}

/** Decides what the clock does with a job's deadline now. */
export function decisionOnJob(job: JobTimer, settings: DeadlineSettings, now: Date): ClockDecision {
  return decisionAt(scheduleOf(job, settings), job, settings, now);
}

/** Decides what the clock does with a stake now. */
export function decisionOnStake(stake: StakeTimer, settings: DeadlineSettings, now: Date): ClockDecision {
  return decisionAt(scheduleOfStake(stake, settings), stake, settings, now);
}

function scheduleOfStake({ deadlineFrom }: Timer, { stakeHours }: DeadlineSettings): Schedule | undefined {
  if (deadlineFrom === null) return undefined;
  const endMs = deadlineFrom.getTime() + stakeHours * HOUR_MS;
  const { reminded, hour, reminderHour } = STAKE_DEADLINE;
  return { reminders: [[reminded, endMs - (hour - reminderHour) * HOUR_MS]], endMs };
}

/** Returns how long a state's deadline is without an extension. */
export function lengthOf(status: JobState, { days }: DeadlineSettings): number {
  return days[status as EndingState] * DAY_MS;
}

/** Returns who can extend a state's deadline. Undefined if nobody can. */
export function extenderOf(status: JobState): 'owner' | 'admin' | undefined {
  const rows: { readonly [State in JobState]?: DeadlineRow } = DEADLINES;
  return rows[status]?.end?.extendedBy;
}

/** A deadline with the times that the settings give it, for people to read. */
interface DeadlineInHours {
  readonly status: JobState;
  readonly countedFrom: string;
  readonly reminders: readonly { readonly to: Reminded; readonly hours: number }[];
  readonly action: ClockActionName | null;
  readonly hours: number | null;
  readonly to: JobState | null;
  readonly extendedBy: Reminded | null;
  readonly description: string;
}

export function deadlineTable({ days, stakeHours }: Pick<DeadlineSettings, 'days' | 'stakeHours'>): DeadlineInHours[] {
  const rows = Object.entries<DeadlineRow>(DEADLINES).map(([state, { countedFrom, reminders, end, limit }]) => {
    const status = state as JobState;
    const laterDays = end ? days[status as EndingState] - end.day : 0;
    const transition = end && CLOCK_TRANSITIONS[end.transition];
    return {
      status,
      countedFrom,
      // With a short deadline, a reminder can't keep its distance from the end, and isn't sent.
      reminders: reminders.map(([to, day]) => ({ to, hours: (day + laterDays) * 24 })).filter(({ hours }) => hours > 0),
      action: transition?.action ?? null,
      hours: end ? days[status as EndingState] * 24 : null,
      to: transition?.to ?? null,
      extendedBy: end?.extendedBy ?? null,
      description: (transition?.description ?? 'Only reminders are sent.') + (limit ? limitText(limit) : ''),
    };
  });
  const { action, countedFrom, reminded, hour, reminderHour, description } = STAKE_DEADLINE;
  const reminder = { to: reminded, hours: stakeHours - (hour - reminderHour) };
  const ofStake = { status: 'open', countedFrom, action, hours: stakeHours, to: null, extendedBy: null } as const;
  return [...rows, { ...ofStake, reminders: [reminder], description }];
}

function limitText({ day, reminderDay }: NonNullable<DeadlineRow['limit']>): string {
  return (
    ` This happens no later than ${day} days after the dispute began. Both parties are reminded on day ` +
    `${reminderDay}.`
  );
}

/** If several reminders are due, only the last one is sent. */
function decisionAt(
  schedule: Schedule | undefined,
  { remindedAt, isWarned }: Timer,
  { mode }: DeadlineSettings,
  now: Date,
): ClockDecision {
  if (!schedule || mode === 'off') return { is: 'wait', until: null };
  const { reminders, endMs } = schedule;
  const nowMs = now.getTime();
  const remindedMs = remindedAt?.getTime() ?? -Infinity;
  const due = reminders.findLast(([, atMs]) => atMs <= nowMs && atMs > remindedMs);
  if (endMs === null || nowMs < endMs) {
    if (due) return { is: 'remind', to: due[0] };
    return { is: 'wait', until: dateOf(reminders.find(([, atMs]) => atMs > nowMs)?.[1] ?? endMs) };
  }
  if (mode === 'remind') return remindedMs < endMs ? { is: 'remind', to: 'admin' } : { is: 'wait', until: null };
  if (due || !isWarned) return { is: 'remind', to: reminders.at(-1)?.[0] ?? 'parties' };
  const earliestMs = remindedMs + WARNING_MS;
  return nowMs < earliestMs ? { is: 'wait', until: dateOf(earliestMs) } : { is: 'act' };
}

/** Returns what the clock does to the job at the end of its deadline. Undefined if it does nothing. */
export function transitionAtEnd(job: JobTimer): ClockTransitionKey | undefined {
  return rowOf(job)?.end?.transition;
}

/** What the clock will do to a job. */
export interface UpcomingAction {
  readonly action: ClockActionName;
  readonly at: Date;
  /** Who can prevent it, and how. */
  readonly unless: string;
}

/** A job can have a stake for each of its bids, so the list of what the clock will do needs a limit. */
export const UPCOMING_MAX = 20;

/** Returns what the clock will do if nobody acts, soonest first. Empty if the job's deadline is paused. */
export function upcomingActions(
  job: JobTimer,
  stakes: readonly StakeTimer[],
  settings: DeadlineSettings,
): UpcomingAction[] {
  if (settings.mode !== 'act' || job.pausedFrom !== null) return [];
  const end = rowOf(job)?.end;
  const actions = [
    end && upcoming(CLOCK_TRANSITIONS[end.transition], scheduleOf(job, settings), job, job.nextCheckAt),
    ...stakes.map((stake) => upcoming(STAKE_DEADLINE, scheduleOfStake(stake, settings), stake, job.nextCheckAt)),
  ];
  const known = actions.filter((one) => one !== undefined);
  return known.toSorted((one, other) => one.at.getTime() - other.at.getTime()).slice(0, UPCOMING_MAX);
}

function upcoming(
  { action, unless }: Pick<UpcomingAction, 'action' | 'unless'>,
  schedule: Schedule | undefined,
  { remindedAt, isWarned }: Timer,
  nextCheckAt: Date | null,
): UpcomingAction | undefined {
  if (!schedule || schedule.endMs === null) return undefined;
  const lastReminderMs = schedule.reminders.at(-1)?.[1] ?? -Infinity;
  const remindedMs = isWarned && remindedAt ? remindedAt.getTime() : -Infinity;
  const isReminded = remindedMs > -Infinity && remindedMs >= lastReminderMs;
  // If the last reminder is late, the clock's next check sends it.
  const warnedMs = isReminded ? remindedMs : Math.max(lastReminderMs, nextCheckAt?.getTime() ?? -Infinity);
  return { action, at: new Date(Math.max(schedule.endMs, warnedMs + WARNING_MS)), unless };
}

/** A job's timer, and the timers of the stakes that the viewer can see. */
export interface JobTimers {
  readonly job: JobTimer;
  readonly stakes: readonly StakeTimer[];
}

/** When the clock moves a job, and to which state. */
export interface DeadlineEnd {
  readonly at: Date;
  readonly to: JobState;
}

/** Null if the clock won't move the job. */
export function endOf(job: JobTimer, settings: DeadlineSettings): DeadlineEnd | null {
  const end = rowOf(job)?.end;
  const [action] = upcomingActions(job, [], settings);
  return end && action ? { at: action.at, to: CLOCK_TRANSITIONS[end.transition].to } : null;
}

/**
 * How long after a job enters its state the clock checks it for the first time. Null if it never does. If operators can
 * set the deadline, the first check is after one day, because with some settings the first reminder is due then. The
 * server that moves the job may have other settings.
 */
export function firstCheckSeconds(job: Pick<JobTimer, 'status' | 'changeRequestCount'>): number | null {
  const row = rowOf(job);
  if (!row) return null;
  return row.end ? DAY_SECONDS : Math.min(...row.reminders.map(([, day]) => day)) * DAY_SECONDS;
}

/** How long after a bid with a stake the clock checks its job. */
export const FIRST_STAKE_CHECK_SECONDS = STAKE_DEADLINE.reminderHour * 3_600;

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
