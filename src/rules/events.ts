/** The kinds of events: one for each thing that can happen to a job or a bid, read from the tables of both. */
import { BID_CONSEQUENCES, BID_TRANSITIONS } from './bids.js';
import { JOB_ACTIONS, JOB_CREATION } from './lifecycle.js';

/** In the order of the tables. */
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
