/**
 * Deadlines, written a second time from the decisions only. Times are in seconds since the history began. For a job,
 * only the time counts in which its deadline doesn't stand still.
 */
import type { JobState } from '../../src/market/rules/states.js';

/** The clock's name in the table of what a run covered. */
export const THE_CLOCK = 'the clock';

export const HOUR = 3_600;
export const DAY = 24 * HOUR;
/** The clock never acts earlier than this after its last reminder. */
export const WARNING = 2 * DAY;

export type Reminded = 'owner' | 'awardee' | 'parties' | 'admin';
export type ClockAction = 'EXPIRE' | 'APPROVE' | 'ESCALATE' | 'STAND_DECISION' | 'RELEASE_STAKE';

interface Row {
  readonly reminds: Reminded;
  readonly onDays: readonly number[];
  readonly end?: { readonly day: number; readonly action: ClockAction; readonly to: JobState; readonly event: string };
}

const ROWS: { readonly [State in JobState]?: Row } = {
  open: {
    reminds: 'owner',
    onDays: [21, 28],
    end: { day: 30, action: 'EXPIRE', to: 'cancelled', event: 'job.expired' },
  },
  awarded: { reminds: 'awardee', onDays: [3, 6] },
  in_progress: { reminds: 'awardee', onDays: [7, 12] },
  in_review: {
    reminds: 'owner',
    onDays: [5, 12],
    end: { day: 14, action: 'APPROVE', to: 'completed', event: 'job.auto_approved' },
  },
  disputed: {
    reminds: 'parties',
    onDays: [7, 12],
    end: { day: 14, action: 'ESCALATE', to: 'escalated', event: 'job.auto_escalated' },
  },
  escalated: { reminds: 'admin', onDays: [5] },
  appealed: { reminds: 'admin', onDays: [5] },
  decision_reached: {
    reminds: 'awardee',
    onDays: [10, 12],
    end: { day: 14, action: 'STAND_DECISION', to: 'completed', event: 'job.decision_stood' },
  },
};

/** However many proposals are made, a dispute lasts no longer. */
const DISPUTE_ENDS_AFTER = 28 * DAY;
const LAST_REMINDER_OF_DISPUTE = 26 * DAY;
const STAKE_REMINDER_AFTER = 24 * HOUR;
const STAKE_ENDS_AFTER = 72 * HOUR;

export function rowFor({ state, changeRequests }: { state: JobState; changeRequests: number }): Row | undefined {
  return state === 'in_progress' && changeRequests === 0 ? undefined : ROWS[state];
}

/** Undefined if the clock does nothing at the end of this state. */
export function lengthOf(state: JobState): number | undefined {
  const end = ROWS[state]?.end;
  return end && end.day * DAY;
}

/** Something that the clock counts: since when, and when it last reminded someone. */
export interface Countdown {
  from: number;
  reminded: number | null;
}

interface Plan {
  /** When someone is reminded, in order. */
  readonly reminders: readonly number[];
  readonly end: number | null;
}

export interface JobCountdown extends Countdown {
  /** When the dispute began. */
  disputed: number | null;
  /** By how much the deadline was extended. */
  extension: number;
}

export function planFor(state: JobState, { from, disputed, extension }: JobCountdown): Plan {
  const { onDays, end } = ROWS[state]!;
  const reminders = onDays.map((day) => from + day * DAY + extension);
  if (!end) return { reminders, end: null };
  const regular = from + end.day * DAY + extension;
  if (state !== 'disputed') return { reminders, end: regular };
  const last = Math.min(regular, disputed! + DISPUTE_ENDS_AFTER);
  const final = disputed! + LAST_REMINDER_OF_DISPUTE;
  // A later reminder would move the end past day 28.
  const sent = [...reminders, final].filter((at) => at > from && at < last && at <= final);
  return { reminders: sent.sort((a, b) => a - b), end: last };
}

export function planForStake({ from }: Countdown): Plan {
  return { reminders: [from + STAKE_REMINDER_AFTER], end: from + STAKE_ENDS_AFTER };
}

/** What the clock does now, of all that it could have done while nobody looked: at most one reminder, or the end. */
export function due({ reminders, end }: Plan, { reminded }: Countdown, now: number): 'reminder' | 'end' | undefined {
  const isUnsent = reminders.some((at) => at <= now && (reminded === null || at > reminded));
  if (end === null || now < end) return isUnsent ? 'reminder' : undefined;
  if (isUnsent || reminded === null) return 'reminder';
  return now - reminded >= WARNING ? 'end' : undefined;
}

/** When the clock will act. A late reminder comes first, at the clock's next check. */
export function actsAt({ reminders, end }: Plan, { reminded }: Countdown, now: number): number {
  const last = reminders.at(-1) ?? null;
  const isWarned = reminded !== null && (last === null || reminded >= last);
  const warning = isWarned ? reminded : Math.max(last ?? now, now);
  return Math.max(end!, warning + WARNING);
}
