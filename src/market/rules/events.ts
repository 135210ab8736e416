/** The event types, which come from the tables of job actions and bid transitions. */
import { BID_ACTIONS, BID_CONSEQUENCES, BID_RESTORATION, BID_TRANSITIONS } from './bids.js';
import { CLOCK_TRANSITIONS, REMINDER_EVENT, STAKE_DEADLINE } from './jobs/deadlines.js';
import { JOB_ACTIONS, JOB_CREATION } from './lifecycle.js';

export const EVENT_TYPES = [
  ...new Set([
    JOB_CREATION.event,
    ...Object.values(JOB_ACTIONS).flatMap((row) =>
      'mayKeepState' in row ? [row.mayKeepState.event, row.event] : [row.event],
    ),
    REMINDER_EVENT,
    ...[...Object.values(CLOCK_TRANSITIONS), STAKE_DEADLINE].map((row) => row.event),
    ...[...Object.values(BID_ACTIONS), ...Object.values(BID_CONSEQUENCES), BID_RESTORATION].map((row) => row.event),
  ]),
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Each description comes from the table row of the action or transition that writes the event. */
export const EVENT_DESCRIPTIONS = Object.fromEntries([
  [JOB_CREATION.event, 'The homeowner created a draft.'],
  [BID_CONSEQUENCES.accept.event, 'The homeowner awarded the job to the bid.'],
  ...Object.values(JOB_ACTIONS).flatMap((row) => [
    ...('mayKeepState' in row
      ? [
          [
            row.mayKeepState.event,
            `A party proposed a resolution. The job stays disputed until ${row.mayKeepState.until}.`,
          ],
        ]
      : []),
    [row.event, row.description],
  ]),
  [REMINDER_EVENT, 'Somebody was reminded of a deadline.'],
  ...[...Object.values(CLOCK_TRANSITIONS), STAKE_DEADLINE].map(({ event, description }) => [event, description]),
  ...Object.values(BID_ACTIONS).map(({ event, description }) => [event, description]),
  [
    BID_TRANSITIONS.reject.event,
    'The homeowner rejected the bid, awarded another one, or took the award back, or the job ended.',
  ],
  [BID_TRANSITIONS.withdraw.event, 'The contractor withdrew the bid or declined the award.'],
  [BID_RESTORATION.event, 'The award fell through, so the bid has the status that it had before.'],
]) as Readonly<Record<EventType, string>>;
