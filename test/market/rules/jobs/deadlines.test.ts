/** When people are reminded, and when the clock acts, by hand-computed times. */
import { describe, expect, it } from 'vitest';
import type { BidId, ContractorId } from '../../../../src/market/rules/ids.js';
import {
  decisionOnJob,
  deadlineTable,
  endOf,
  extenderOf,
  firstCheckSeconds,
  hasDeadline,
  lengthOf,
  respondersOf,
  scheduleOf,
  decisionOnStake,
  transitionAtEnd,
  upcomingActions,
  type DeadlineSettings,
  type JobTimer,
  type StakeTimer,
} from '../../../../src/market/rules/jobs/deadlines.js';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01T12:00:00.000Z');
const day = (days: number) => new Date(START + days * DAY_MS);
const DAYS = { open: 30, in_review: 14, disputed: 14, decision_reached: 14 };
const ACT: DeadlineSettings = { mode: 'act', days: DAYS, stakeHours: 72 };
const REMIND: DeadlineSettings = { ...ACT, mode: 'remind' };

function timer(more: Partial<JobTimer>): JobTimer {
  return {
    status: 'in_review',
    changeRequestCount: 0,
    deadlineFrom: day(0),
    disputedFrom: null,
    deadlineExtendedSeconds: 0,
    remindedAt: null,
    isWarned: false,
    pausedFrom: null,
    nextCheckAt: null,
    ...more,
  };
}

function stake(more: Partial<StakeTimer> = {}): StakeTimer {
  const ids = { bidId: 'bid_x' as BidId, contractorId: 'ctr_x' as ContractorId };
  return { ...ids, deadlineFrom: day(0), remindedAt: null, isWarned: false, ...more };
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
    expect(decisionOnJob(timer({ status }), ACT, day(1_000))).toEqual({ is: 'wait', until: null });
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
    // The reminder on day 27 would delay the end.
    expect(daysOf(dispute(20))).toEqual({ reminders: [['parties', 26]], end: 28 });
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
    // On the day of the start itself, there is nothing to remind of.
    expect(daysOf(timer({}), { ...ACT, days: { ...DAYS, in_review: 9 } })).toEqual({
      reminders: [['owner', 7]],
      end: 9,
    });
    const dispute = timer({ status: 'disputed', deadlineFrom: day(26), disputedFrom: day(0) });
    expect(daysOf(dispute)).toEqual({ reminders: [], end: 28 });
  });

  it('of a dispute whose start isn’t known have no latest end', () => {
    expect(daysOf(timer({ status: 'disputed', deadlineFrom: day(20) }))).toEqual({
      reminders: [
        ['parties', 27],
        ['parties', 32],
      ],
      end: 34,
    });
  });

  it('none for a job whose deadline hasn’t begun', () => {
    expect(daysOf(timer({ deadlineFrom: null }))).toBeUndefined();
    expect(decisionOnJob(timer({ deadlineFrom: null }), ACT, day(100))).toEqual({ is: 'wait', until: null });
  });
});

describe('the end of a deadline', () => {
  it.each([
    ['open', 'owner', 'owner', 'expire', 'cancelled', 30],
    ['in_review', 'owner', 'owner', 'approve', 'completed', 14],
    ['disputed', 'parties', undefined, 'escalate', 'escalated', 14],
    ['decision_reached', 'awardee', 'admin', 'standDecision', 'completed', 14],
  ] as const)('of a job that is %s', (status, responders, extender, transition, to, days) => {
    const job = timer({ status, disputedFrom: day(0) });
    expect(respondersOf(job)).toBe(responders);
    expect(extenderOf(status)).toBe(extender);
    expect(transitionAtEnd(job)).toBe(transition);
    expect(lengthOf(status, ACT)).toBe(days * DAY_MS);
    expect(endOf(job, ACT)).toEqual({ at: day(days), to });
    expect(endOf(job, REMIND)).toBeNull();
  });

  it.each([
    ['awarded', 'awardee'],
    ['escalated', 'admin'],
    ['appealed', 'admin'],
  ] as const)('doesn’t exist for a job that is %s, of which people are only reminded', (status, responders) => {
    expect(respondersOf(timer({ status }))).toBe(responders);
    expect(extenderOf(status)).toBeUndefined();
    expect(transitionAtEnd(timer({ status }))).toBeUndefined();
    expect(endOf(timer({ status }), ACT)).toBeNull();
  });

  it.each(['draft', 'completed', 'cancelled', 'in_progress'] as const)(
    'doesn’t exist for a job that is %s',
    (status) => {
      expect(respondersOf(timer({ status }))).toBeUndefined();
      expect(extenderOf(status)).toBeUndefined();
      expect(transitionAtEnd(timer({ status }))).toBeUndefined();
      expect(endOf(timer({ status }), ACT)).toBeNull();
    },
  );

  it('doesn’t come if there are only reminders: the last one is sent, and then nothing', () => {
    const escalated = timer({ status: 'escalated' });
    expect(decisionOnJob(escalated, ACT, day(4))).toEqual({ is: 'wait', until: day(5) });
    expect(decisionOnJob(escalated, ACT, day(5))).toEqual({ is: 'remind', to: 'admin' });
    expect(decisionOnJob({ ...escalated, remindedAt: day(5) }, ACT, day(100))).toEqual({ is: 'wait', until: null });
  });
});

describe('the first check of a job', () => {
  it.each([
    ['draft', 0, null],
    ['open', 0, 1],
    ['awarded', 0, 3],
    ['in_progress', 0, null],
    ['in_progress', 1, 7],
    ['in_review', 0, 1],
    ['disputed', 0, 1],
    ['escalated', 0, 5],
    ['decision_reached', 0, 1],
    ['appealed', 0, 5],
    ['completed', 0, null],
  ] as const)('that is %s, after %i requests for changes, is on day %s', (status, changeRequestCount, days) => {
    expect(firstCheckSeconds({ status, changeRequestCount })).toBe(days && days * 86_400);
  });
});

describe.each(['open', 'in_review', 'disputed', 'decision_reached'] as const)(
  'however long a job can be %s',
  (status) => {
    const everyLength = Array.from({ length: 57 }, (_, at) => ({ ...ACT, days: { ...DAYS, [status]: 4 + at } }));

    it('the first check comes when the earliest first reminder can be due', () => {
      const first = firstCheckSeconds({ status, changeRequestCount: 0 }) ?? Infinity;
      const firstReminders = everyLength.map(
        (settings) => scheduleOf(timer({ status }), settings)?.reminders[0]?.[1] ?? 0,
      );
      expect(Math.min(...firstReminders)).toBe(START + first * 1_000);
    });

    it('the table lists the reminders that are sent', () => {
      const hours = (settings: DeadlineSettings) =>
        scheduleOf(timer({ status }), settings)?.reminders.map(([to, atMs]) => ({
          to,
          hours: (atMs - START) / 3_600_000,
        }));
      const listed = (settings: DeadlineSettings) =>
        deadlineTable(settings).find((row) => row.status === status)?.reminders;
      expect(everyLength.map(listed)).toEqual(everyLength.map(hours));
    });
  },
);

describe('a check of a stake', () => {
  const hour = (hours: number) => day(hours / 24);

  it('reminds the homeowner a day after the bid, and releases the stake after three', () => {
    expect(decisionOnStake(stake(), ACT, hour(23))).toEqual({ is: 'wait', until: hour(24) });
    expect(decisionOnStake(stake(), ACT, hour(24))).toEqual({ is: 'remind', to: 'owner' });
    const reminded = stake({ remindedAt: hour(24), isWarned: true });
    expect(decisionOnStake(reminded, ACT, hour(25))).toEqual({ is: 'wait', until: hour(72) });
    expect(decisionOnStake(reminded, ACT, hour(72))).toEqual({ is: 'act' });
  });

  it('keeps the reminder’s distance from an end that the operator has moved', () => {
    const longer = { ...ACT, stakeHours: 100 };
    expect(decisionOnStake(stake(), longer, hour(51))).toEqual({ is: 'wait', until: hour(52) });
    expect(decisionOnStake(stake(), longer, hour(52))).toEqual({ is: 'remind', to: 'owner' });
  });

  it('does nothing if its deadline hasn’t begun', () => {
    expect(decisionOnStake(stake({ deadlineFrom: null }), ACT, hour(1_000))).toEqual({ is: 'wait', until: null });
    expect(upcomingActions(timer({ status: 'draft' }), [stake({ deadlineFrom: null })], ACT)).toEqual([]);
  });
});

describe('a check of a job in review', () => {
  const reminded = (days: number, isWarned = true) => timer({ remindedAt: day(days), isWarned });

  it('waits for the next reminder, and then for the end', () => {
    expect(decisionOnJob(timer({}), ACT, day(4))).toEqual({ is: 'wait', until: day(5) });
    expect(decisionOnJob(reminded(5), ACT, day(5))).toEqual({ is: 'wait', until: day(12) });
    expect(decisionOnJob(reminded(12), ACT, day(13))).toEqual({ is: 'wait', until: day(14) });
  });

  it('reminds once for each reminder, and after an outage only once', () => {
    expect(decisionOnJob(timer({}), ACT, day(5))).toEqual({ is: 'remind', to: 'owner' });
    expect(decisionOnJob(reminded(5), ACT, day(12))).toEqual({ is: 'remind', to: 'owner' });
    expect(decisionOnJob(timer({}), ACT, day(13))).toEqual({ is: 'remind', to: 'owner' });
    expect(decisionOnJob(reminded(13), ACT, day(13))).toEqual({ is: 'wait', until: day(14) });
  });

  it('acts at the end if the last reminder was written 48 hours before', () => {
    expect(decisionOnJob(reminded(12), ACT, day(14))).toEqual({ is: 'act' });
    expect(decisionOnJob(reminded(13), ACT, day(14))).toEqual({ is: 'wait', until: day(15) });
    expect(decisionOnJob(reminded(13), ACT, day(15))).toEqual({ is: 'act' });
  });

  it.each([
    ['there was no reminder', timer({})],
    ['an outage swallowed the last reminder', reminded(5)],
    ['nobody was warned, because the clock only reminded then', reminded(12, false)],
  ])('reminds first at an end long past if %s', (_, overdue) => {
    expect(decisionOnJob(overdue, ACT, day(100))).toEqual({ is: 'remind', to: 'owner' });
    expect(decisionOnJob({ ...overdue, remindedAt: day(100), isWarned: true }, ACT, day(101))).toEqual({
      is: 'wait',
      until: day(102),
    });
  });

  it('tells admins once that a deadline has passed if the clock only reminds', () => {
    expect(decisionOnJob(reminded(12, false), REMIND, day(13))).toEqual({ is: 'wait', until: day(14) });
    expect(decisionOnJob(reminded(12, false), REMIND, day(14))).toEqual({ is: 'remind', to: 'admin' });
    expect(decisionOnJob(reminded(14, false), REMIND, day(14))).toEqual({ is: 'wait', until: null });
  });

  it('reminds again after an extension, at the same distance from the end', () => {
    const extended = { ...reminded(12), deadlineExtendedSeconds: 14 * 86_400 };
    expect(decisionOnJob(extended, ACT, day(13))).toEqual({ is: 'wait', until: day(19) });
    expect(decisionOnJob(extended, ACT, day(19))).toEqual({ is: 'remind', to: 'owner' });
  });

  it('does nothing if deadlines are off', () => {
    expect(decisionOnJob(timer({}), { ...ACT, mode: 'off' }, day(100))).toEqual({ is: 'wait', until: null });
  });
});

describe('what is upcoming for a job in review', () => {
  const at = (job: Partial<JobTimer>, settings = ACT) => upcomingActions(timer(job), [], settings)[0]?.at;

  it('is the approval at the end, even if nobody was reminded yet', () => {
    expect(upcomingActions(timer({ nextCheckAt: day(5) }), [], ACT)).toMatchObject([
      { action: 'approve', at: day(14) },
    ]);
    expect(at({ remindedAt: day(12), isWarned: true, nextCheckAt: day(14) })).toEqual(day(14));
  });

  it('comes 48 hours after a late reminder, or after the next check if there was none', () => {
    expect(at({ remindedAt: day(13), isWarned: true, nextCheckAt: day(15) })).toEqual(day(15));
    expect(at({ remindedAt: day(12), isWarned: false, nextCheckAt: day(20) })).toEqual(day(22));
    expect(at({ nextCheckAt: day(20) })).toEqual(day(22));
  });

  it('lists only the soonest, however many stakes a job has', () => {
    const stakes = Array.from({ length: 300 }, (_, at) => stake({ deadlineFrom: day(at / 100) }));
    const upcoming = upcomingActions(timer({ status: 'open' }), stakes.toReversed(), ACT);
    expect(upcoming).toHaveLength(20);
    expect(upcoming[19]?.at).toEqual(day(3 + 19 / 100));
  });

  it('is nothing if the clock only reminds, or the deadline is paused', () => {
    expect(at({}, REMIND)).toBeUndefined();
    expect(at({}, { ...ACT, mode: 'off' })).toBeUndefined();
    expect(at({ pausedFrom: day(3) })).toBeUndefined();
    expect(at({ status: 'awarded' })).toBeUndefined();
  });
});

it('a dispute is escalated at 28 days if the last reminder was 48 hours before, whatever was proposed since', () => {
  const dispute = timer({
    status: 'disputed',
    disputedFrom: day(0),
    deadlineFrom: day(27),
    remindedAt: day(26),
    isWarned: true,
  });
  expect(decisionOnJob(dispute, ACT, day(27))).toEqual({ is: 'wait', until: day(28) });
  expect(decisionOnJob(dispute, ACT, day(28))).toEqual({ is: 'act' });
});
