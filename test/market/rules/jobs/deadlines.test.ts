/** When people are reminded, and when the clock acts, by hand-computed times. */
import { describe, expect, it } from 'vitest';
import {
  clockStep,
  hasDeadline,
  scheduleOf,
  type DeadlineSettings,
  type JobTimer,
} from '../../../../src/market/rules/jobs/deadlines.js';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01T12:00:00.000Z');
const day = (days: number) => new Date(START + days * DAY_MS);
const DAYS = { open: 30, in_review: 14, disputed: 14, decision_reached: 14 };
const ACT: DeadlineSettings = { mode: 'act', days: DAYS };
const REMIND: DeadlineSettings = { mode: 'remind', days: DAYS };

function timer(more: Partial<JobTimer>): JobTimer {
  return {
    status: 'in_review',
    changeRequestCount: 0,
    deadlineFrom: day(0),
    disputedFrom: null,
    deadlineExtendedSeconds: 0,
    remindersSent: 0,
    warnedAt: null,
    pausedFrom: null,
    ...more,
  };
}

function daysOf(job: JobTimer, settings = ACT) {
  const schedule = scheduleOf(job, settings);
  const inDays = (ms: number) => (ms - START) / DAY_MS;
  return (
    schedule && {
      reminders: schedule.reminders.map(([to, atMs]) => [to, inDays(atMs)]),
      end: schedule.endMs === null ? null : inDays(schedule.endMs),
    }
  );
}

describe('the days on which people are reminded, and on which the clock acts', () => {
  it.each([
    [
      'open',
      [
        ['owner', 21],
        ['owner', 28],
      ],
      30,
    ],
    [
      'awarded',
      [
        ['awardee', 3],
        ['awardee', 6],
      ],
      null,
    ],
    [
      'in_review',
      [
        ['owner', 5],
        ['owner', 12],
      ],
      14,
    ],
    ['escalated', [['admin', 5]], null],
    ['appealed', [['admin', 5]], null],
    [
      'decision_reached',
      [
        ['awardee', 10],
        ['awardee', 12],
      ],
      14,
    ],
  ] as const)('of a job that is %s', (status, reminders, end) => {
    expect(daysOf(timer({ status }))).toEqual({ reminders, end });
  });

  it.each(['draft', 'completed', 'cancelled', 'in_progress'] as const)('none for a job that is %s', (status) => {
    expect(hasDeadline(timer({ status }))).toBe(false);
    expect(clockStep(timer({ status }), ACT, day(1_000))).toEqual({ is: 'wait', until: null });
  });

  it('of a job in progress after the homeowner has requested changes', () => {
    const reminders = [
      ['awardee', 7],
      ['awardee', 12],
    ];
    expect(daysOf(timer({ status: 'in_progress', changeRequestCount: 1 }))).toEqual({ reminders, end: null });
  });

  it('of a dispute: counted from the last proposal, but at most 28 days from the start', () => {
    const dispute = (from: number) => timer({ status: 'disputed', deadlineFrom: day(from), disputedFrom: day(0) });
    expect(daysOf(dispute(0))).toEqual({
      reminders: [
        ['parties', 7],
        ['parties', 12],
      ],
      end: 14,
    });
    expect(daysOf(dispute(13))).toEqual({
      reminders: [
        ['parties', 20],
        ['parties', 25],
        ['parties', 26],
      ],
      end: 27,
    });
    expect(daysOf(dispute(20))).toEqual({
      reminders: [
        ['parties', 26],
        ['parties', 27],
      ],
      end: 28,
    });
    expect(daysOf(dispute(27))).toEqual({ reminders: [], end: 28 });
  });

  it('keep their distance from an end that the operator or an extension has moved', () => {
    expect(daysOf(timer({}), { ...ACT, days: { ...DAYS, in_review: 20 } })).toEqual({
      reminders: [
        ['owner', 11],
        ['owner', 18],
      ],
      end: 20,
    });
    expect(daysOf(timer({ deadlineExtendedSeconds: 3 * 86_400 }))).toEqual({
      reminders: [
        ['owner', 8],
        ['owner', 15],
      ],
      end: 17,
    });
  });

  it('leave out a reminder that would come before the start', () => {
    expect(daysOf(timer({}), { ...ACT, days: { ...DAYS, in_review: 4 } })).toEqual({
      reminders: [['owner', 2]],
      end: 4,
    });
  });
});

describe('a look at a job in review', () => {
  it('waits for the next reminder', () => {
    expect(clockStep(timer({}), ACT, day(4))).toEqual({ is: 'wait', until: day(5) });
    expect(clockStep(timer({ remindersSent: 1 }), ACT, day(5))).toEqual({ is: 'wait', until: day(12) });
    expect(clockStep(timer({ remindersSent: 2, warnedAt: day(12) }), ACT, day(13))).toEqual({
      is: 'wait',
      until: day(14),
    });
  });

  it('reminds once for each reminder, and after an outage only once', () => {
    expect(clockStep(timer({}), ACT, day(5))).toEqual({ is: 'remind', to: 'owner', remindersSent: 1 });
    expect(clockStep(timer({}), ACT, day(13))).toEqual({ is: 'remind', to: 'owner', remindersSent: 2 });
  });

  it('acts at the end if the last reminder was written 48 hours before', () => {
    const warned = timer({ remindersSent: 2, warnedAt: day(12) });
    expect(clockStep(warned, ACT, day(14))).toEqual({ is: 'act', transition: 'approve' });
    expect(clockStep({ ...warned, warnedAt: day(13) }, ACT, day(14))).toEqual({ is: 'wait', until: day(15) });
    expect(clockStep({ ...warned, warnedAt: day(13) }, ACT, day(15))).toEqual({ is: 'act', transition: 'approve' });
  });

  it('reminds first if nobody was warned that the clock acts', () => {
    const overdue = timer({ remindersSent: 3 });
    expect(clockStep(overdue, ACT, day(100))).toEqual({ is: 'remind', to: 'owner', remindersSent: 2 });
    expect(clockStep({ ...overdue, warnedAt: day(100) }, ACT, day(101))).toEqual({ is: 'wait', until: day(102) });
  });

  it('tells admins once that a deadline has passed if the clock only reminds', () => {
    expect(clockStep(timer({ remindersSent: 2 }), REMIND, day(13))).toEqual({ is: 'wait', until: day(14) });
    expect(clockStep(timer({ remindersSent: 2 }), REMIND, day(14))).toEqual({
      is: 'remind',
      to: 'admin',
      remindersSent: 3,
    });
    expect(clockStep(timer({ remindersSent: 3 }), REMIND, day(14))).toEqual({ is: 'wait', until: null });
  });

  it('does nothing if deadlines are off', () => {
    expect(clockStep(timer({}), { ...ACT, mode: 'off' }, day(100))).toEqual({ is: 'wait', until: null });
  });
});
