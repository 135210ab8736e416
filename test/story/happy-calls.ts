/**
 * Every operation on jobs and bids as an authorized caller uses it, from a state that allows it, with everything it
 * needs.
 */
import type { JobState } from '../../src/market/rules/states.js';
import { BID_TRANSITIONS } from '../../src/market/rules/bids.js';
import type { JobActionKey } from '../../src/market/rules/lifecycle.js';
import type { Asked, OperationKey } from './calls.js';
import {
  bodyOf,
  givenJob,
  laterDeadline,
  propose,
  STEPS_OF,
  type GivenJob,
  type Journey,
  type People,
} from './journey.js';
import type { TestApp } from '../setup/app.js';
import { JOB_ACTION_KEYS, OPERATIONS_ON_JOBS } from './specified.js';

export const HAPPY_CALLS = {
  create: ['draft', 'owner'],
  ...(Object.fromEntries(JOB_ACTION_KEYS.map((key) => [key, happyOnJob(key)])) as Record<JobActionKey, HappyCall>),
  // A job completed from a draft would have no bids.
  complete: ['open', 'admin'],
  view: ['open', 'owner'],
  shortlist: ['open', 'owner'],
  reject: ['open', 'owner'],
  withdraw: ['open', 'bidder'],
  revise: ['open', 'bidder'],
} satisfies Record<OperationKey, HappyCall>;

type HappyCall = readonly [from: JobState, by: keyof People];

/** From the first allowed state, by the first allowed person. */
function happyOnJob(key: JobActionKey): HappyCall {
  const { from, actor } = OPERATIONS_ON_JOBS[key];
  return [from[0]!, STEPS_OF[actor][0]!];
}

export const OPERATION_KEYS = Object.keys(HAPPY_CALLS) as OperationKey[];

/** A job on which the call succeeds. */
export async function givenHappyJob(
  app: TestApp,
  key: OperationKey,
  people: People,
  journey: Journey = {},
): Promise<GivenJob> {
  const job = await givenJob(app, HAPPY_CALLS[key][0], people, { ...journey, unrated: key === 'review' });
  return key === 'acceptResolution' ? { ...job, proposal: await propose(app, people, job) } : job;
}

/** The call itself, on a job in that state or in any other. */
export function happyCall(key: OperationKey, people: People, job: GivenJob): Asked {
  return { by: people[HAPPY_CALLS[key][1]], job: job.id, bid: job.bids.bidder ?? undefined, body: bodyFor(key, job) };
}

function bodyFor(key: OperationKey, job: GivenJob): object | undefined {
  const { bids, proposal } = job;
  if (key === 'create') return { title: 'A', description: 'B', zip_code: '78701', city: 'Austin', state: 'TX' };
  if (key === 'update') return { requirements: 'Bring a ladder.' };
  if (key === 'review') return { rating: 5, review: 'On time and tidy.' };
  if (key === 'extendDeadline') return { until: laterDeadline(job), reason: 'I’m away.' };
  if (key === 'submitBid') return { amount: 1, guaranteed_view: true };
  if (key === 'revise') return { amount: 750, message: null };
  if (key === 'delete' || key in BID_TRANSITIONS) return undefined;
  return bodyOf(key as Parameters<typeof bodyOf>[0], (name) => `The ${name}.`, bids.awardee, proposal);
}
