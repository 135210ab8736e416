/** The event types, which come from the tables of job actions and bid transitions. */
import { BID_CONSEQUENCES, BID_TRANSITIONS } from './bids.js';
import { JOB_ACTIONS, JOB_CREATION } from './lifecycle.js';

export const EVENT_TYPES = [
  ...new Set([
    JOB_CREATION.event,
    ...Object.values(JOB_ACTIONS).flatMap((row) =>
      'mayKeepState' in row ? [row.mayKeepState.event, row.event] : [row.event],
    ),
    ...[...Object.values(BID_TRANSITIONS), ...Object.values(BID_CONSEQUENCES)].map((row) => row.event),
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
  ...Object.values(BID_TRANSITIONS).map(({ event, description }) => [event, description]),
  [BID_TRANSITIONS.reject.event, 'The homeowner rejected the bid or awarded another one, or the job ended.'],
]) as Readonly<Record<EventType, string>>;
