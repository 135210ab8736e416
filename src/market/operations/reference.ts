/** Public reference data for clients: the lifecycle of a job, and suggested values for forms. */
import { BID_CONSEQUENCES, BID_RESTORATION, BID_ACTION_LIST } from '../rules/bids.js';
import { isTransition, JOB_ACTION_LIST } from '../rules/lifecycle.js';
import { BID_STATES, INITIAL_JOB_STATE, JOB_STATES, TERMINAL_JOB_STATES } from '../rules/states.js';
import { ALLOWED_ACTORS } from '../rules/parties.js';
import { PUBLISH_COST, REQUIRED_TO_PUBLISH, URGENCIES } from '../rules/jobs/publishing.js';
import { descriptionOf } from '../rules/jobs/effects.js';
import { CATALOG } from '../rules/jobs/catalog.js';
import { deadlineTable, type DeadlineSettings, type Reminded } from '../rules/jobs/deadlines.js';
import type { LIFECYCLE_DEADLINE } from '../rules/entities/deadline.js';
import type { LIFECYCLE as SHOWN_LIFECYCLE } from '../rules/entities/reference.js';
import type { ShownRow } from '../../platform/fields/entity.js';
import { operation } from './operation.js';
import { emptyInput } from '../../platform/fields/shapes.js';

const LIFECYCLE: Omit<ShownRow<typeof SHOWN_LIFECYCLE>, 'deadlines' | 'deadlineMode'> = {
  states: [...JOB_STATES],
  initialState: INITIAL_JOB_STATE,
  terminalStates: [...TERMINAL_JOB_STATES],
  requiredToPublish: [...REQUIRED_TO_PUBLISH],
  actions: JOB_ACTION_LIST.map((row) => ({
    action: row.action,
    operation: row.operation,
    from: [...row.from],
    to: isTransition(row) ? row.to : null,
    by: ALLOWED_ACTORS[row.actor].description,
    event: row.event,
    description: row.description,
    effects: row.effects.map(descriptionOf),
  })),
  bidStates: [...BID_STATES],
  bidActions: BID_ACTION_LIST.flatMap(({ operation, description, actor, from, to }) => {
    const row = { operation, by: ALLOWED_ACTORS[actor].description, description };
    // An operation that keeps the status has an entry for each status.
    if (to === 'stays') return from.map((state) => ({ ...row, from: [state], to: state }));
    return [{ ...row, from: [...from], to }];
  }),
  bidConsequences: [
    ...Object.values(BID_CONSEQUENCES),
    ...BID_RESTORATION.to.map((to) => ({ ...BID_RESTORATION, to })),
  ].map(({ from, to, when }) => ({ from: [...from], to, when })),
};

const DEADLINE_READERS: Readonly<Record<Reminded, string>> = {
  owner: ALLOWED_ACTORS.owner.description,
  awardee: ALLOWED_ACTORS.awardee.description,
  parties: 'both parties',
  admin: 'all admins',
};

/** The deadlines in the order of the states, with the times that this server uses. */
export function deadlinesIn(settings: DeadlineSettings): ShownRow<typeof LIFECYCLE_DEADLINE>[] {
  return [...deadlineTable(settings)].map(({ reminders, extendedBy, ...row }) => ({
    ...row,
    reminders: reminders.map(({ to, hours }) => ({ to: DEADLINE_READERS[to], hours })),
    extendedBy: extendedBy && DEADLINE_READERS[extendedBy],
  }));
}

export const readLifecycle = operation({
  name: 'lifecycle',
  description:
    'Returns the lifecycle of a job as a table: the statuses, the operations, who can call them, and what they do.',
  allows: 'anyone',
  budget: 'none',
  input: emptyInput,
  run: async ({ services: { deadlines } }) => ({
    ...LIFECYCLE,
    deadlines: deadlinesIn(deadlines),
    deadlineMode: deadlines.mode,
  }),
});

export const readCatalog = operation({
  name: 'catalog',
  description: 'Returns suggested values for forms, what publishing costs, and the packs of tokens that you can buy.',
  allows: 'anyone',
  budget: 'none',
  input: emptyInput,
  run: async ({ services: { payments } }) => ({
    ...CATALOG,
    urgencies: URGENCIES.map((urgency) => ({ urgency, publishCost: PUBLISH_COST[urgency] })),
    tokenPacks: payments.provider ? payments.packs.map((pack) => ({ ...pack, currency: payments.currency })) : [],
  }),
});
