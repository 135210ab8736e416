/**
 * Jobs in any state, brought there by real operations. The path comes from the lifecycle's own table. Every step is a
 * real call by the person who may make it.
 */
import { JOB_TRANSITIONS } from '../../src/market/rules/lifecycle.js';
import { INITIAL_JOB_STATE } from '../../src/market/rules/states.js';
import type { JobTransition, JobTransitionKey, AllowedActor } from '../../src/market/rules/lifecycle.js';
import type { JobState } from '../../src/market/rules/states.js';
import type { Role } from '../../src/market/rules/viewer.js';
import { newId } from '../../src/market/store/new-id.js';
import { callRest } from './calls.js';
import { snakeCase, statesAllowing, TEXTS } from './specified.js';
import { admin, contractor, homeowner, type Person } from './cast.js';
import type { Json, TestApp } from '../setup/app.js';

export const PEOPLE = ['owner', 'other', 'awardee', 'bidder', 'stranger', 'admin'] as const;
/**
 * The bidder loses if the awardee wins. Before the award, both have bid. The other is a homeowner who has nothing to do
 * with the job.
 */
export type People = Record<(typeof PEOPLE)[number], Person>;

export const ROLES_OF = {
  owner: 'homeowner',
  other: 'homeowner',
  awardee: 'contractor',
  bidder: 'contractor',
  stranger: 'contractor',
  admin: 'admin',
} as const satisfies Record<(typeof PEOPLE)[number], Role>;

export interface GivenJob {
  id: string;
  state: JobState;
  /** The bids of the awardee and the bidder. Null if the job was never open. */
  bids: Record<'awardee' | 'bidder', string | null>;
  /** The awardee's proposal, if one was requested. */
  proposal?: Proposal;
}

export interface Proposal {
  readonly id: string;
  /** The sequence number of its event. */
  readonly sequence: number;
}

export interface Journey {
  /** A state to pass through on the way. */
  through?: JobState;
  /** Draft fields in addition to the usual ones. */
  fields?: object;
  /** Fields of the two bids in addition to the usual ones. */
  offers?: Partial<Record<'awardee' | 'bidder', object>>;
  /** True if the owner approves the work without a rating. */
  unrated?: boolean;
  /** Returns the value for the text with this name, at every step. */
  say?: (name: string) => string;
}

let ada: { app: TestApp; person: Promise<Person> } | undefined;

/** New accounts, except for the admin, who is shared. */
export async function gather(app: TestApp): Promise<People> {
  if (ada?.app !== app) ada = { app, person: admin(app) };
  const [owner, other, awardee, bidder, stranger, one] = await Promise.all([
    homeowner(app, 'Olive'),
    homeowner(app, 'Otto'),
    contractor(app, 'Ava'),
    contractor(app, 'Ben'),
    contractor(app, 'Stella'),
    ada.person,
  ]);
  await giveTokens(app, one, owner, 100_000);
  return { owner, other, awardee, bidder, stranger, admin: one };
}

export async function giveTokens(app: TestApp, admin: Person, to: Person, amount: number): Promise<void> {
  const { status } = await app.rest('POST', '/v1/tokens/adjustments', {
    token: admin.token,
    body: { user_id: to.userId, amount, reason: 'For the test.' },
  });
  if (status !== 201) throw new Error(`${to.name} could not be given tokens.`);
}

export async function editProfile(app: TestApp, person: Person, body: object): Promise<void> {
  const { status } = await app.rest('PUT', '/v1/me', { token: person.token, body });
  if (status !== 200) throw new Error(`${person.name} could not edit their profile.`);
}

export const DRAFT = {
  title: 'Mend the roof',
  description: 'It lets the rain in.',
  category: 'roofing',
  urgency: 'standard',
  address_line1: '12 Oak Lane',
  city: 'Austin',
  state: 'TX',
  zip_code: '78701',
  desired_completion_date: '2030-06-15',
};

export async function givenJob(
  app: TestApp,
  state: JobState,
  people: People,
  journey: Journey = {},
): Promise<GivenJob> {
  const { through = INITIAL_JOB_STATE } = journey;
  const created = done(
    'create',
    await callRest(app, 'create', { by: people.owner, body: { ...DRAFT, ...journey.fields } }),
  );
  const job: GivenJob = { id: created.id, state: INITIAL_JOB_STATE, bids: { awardee: null, bidder: null } };
  for (const key of [...wayTo(through), ...wayTo(state, through)]) {
    await take(app, key, job, people, journey);
    if (statesAllowing('submitBid').includes(job.state) && job.bids.awardee === null)
      await receiveBids(app, job, people, journey);
  }
  return job;
}

/** A transition's REST body. `say` returns the value of each field that people read. */
export function bodyOf(
  key: JobTransitionKey,
  say: (name: string) => string,
  bidId: string | null,
  { id: proposalId = NO_PROPOSAL }: Partial<Proposal> = {},
): object {
  const { required = [], optional = [] } = TEXTS[key];
  const texts = [...required, ...optional].map((name) => {
    const field = snakeCase(name);
    return [field, say(`${field.replaceAll('_', ' ')} of ${key}`)];
  });
  return {
    ...Object.fromEntries(texts),
    ...(key === 'award' && { bid_id: bidId }),
    ...(key === 'approve' && { rating: 4 }),
    ...(key === 'acceptResolution' && { proposal_id: proposalId }),
  };
}

/** A time to which the deadline of a job that is new in this state can be extended. */
export function laterDeadline({ state }: Pick<GivenJob, 'state'>): string {
  return new Date(Date.now() + (state === 'open' ? 40 : 20) * 86_400_000).toISOString();
}

const NO_PROPOSAL = newId('proposal');

export const PROPOSED = 'The contractor refunds 10% of the price.';

/** The awardee of a disputed job makes a proposal. */
export async function propose(app: TestApp, people: People, job: GivenJob): Promise<Proposal> {
  const body = { resolution: PROPOSED };
  done('propose', await callRest(app, 'resolveDispute', { by: people.awardee, job: job.id, body }));
  const { token } = people.awardee;
  const { proposal } = done('dispute', await app.rest('GET', `/v1/jobs/${job.id}/dispute`, { token }));
  const [event] = await app.sql<{ sequence: number }[]>`select sequence from events where job_id = ${job.id}
    and type = 'job.resolution_proposed' order by sequence desc`;
  return { id: proposal.id, sequence: event?.sequence ?? 0 };
}

/** The people who take a step. For a step of both parties, the owner goes first. */
export const STEPS_OF: Record<AllowedActor, (keyof People)[]> = {
  owner: ['owner'],
  awardee: ['awardee'],
  parties: ['owner', 'awardee'],
  admin: ['admin'],
  bidder: ['bidder'],
  contractor: ['stranger'],
  extender: ['owner', 'admin'],
};

const ROWS = Object.entries<JobTransition>(JOB_TRANSITIONS) as [JobTransitionKey, JobTransition][];

/**
 * The shortest path through the table. Steps that leave many states skip the normal flow, so they are used only if no
 * other row leads there. They start as late in the normal flow as possible.
 */
export function wayTo(state: JobState, from: JobState = INITIAL_JOB_STATE): JobTransitionKey[] {
  const ways = waysFrom(from);
  const way = ways.get(state);
  if (way) return way;
  const exits = ROWS.filter(([, row]) => row.to === state).flatMap(([key, row]) =>
    row.from.flatMap((exit) => (ways.has(exit) ? [[...ways.get(exit)!, key]] : [])),
  );
  const longest = exits.toSorted((a, b) => b.length - a.length)[0];
  if (!longest) throw new Error(`No row of the table leads from ${from} to ${state}.`);
  return longest;
}

function waysFrom(from: JobState): Map<JobState, JobTransitionKey[]> {
  const ways = new Map<JobState, JobTransitionKey[]>([[from, []]]);
  for (const [state, way] of ways) {
    for (const [key, row] of ROWS) {
      if (row.from.length === 1 && row.from[0] === state && !ways.has(row.to)) ways.set(row.to, [...way, key]);
    }
  }
  return ways;
}

async function take(
  app: TestApp,
  key: JobTransitionKey,
  job: GivenJob,
  people: People,
  { say = (name) => `The ${name}.`, unrated = false }: Journey,
): Promise<void> {
  const row: JobTransition = JOB_TRANSITIONS[key];
  // If both parties must agree, both send the same body.
  const steps = STEPS_OF[row.actor].slice(0, row.mayKeepState ? 2 : 1);
  let last: Json;
  for (const step of steps)
    last = done(
      key,
      await callRest(app, key, {
        by: people[step],
        job: job.id,
        body: { ...bodyOf(key, say, job.bids.awardee, job.proposal), ...(unrated && { rating: undefined }) },
      }),
    );
  job.state = (last.job ?? last).status;
  if (job.state !== row.to) throw new Error(`${key} led to ${job.state} and not to ${row.to}.`);
}

async function receiveBids(app: TestApp, job: GivenJob, people: People, { offers }: Journey): Promise<void> {
  for (const bidder of ['awardee', 'bidder'] as const) {
    const offer = {
      amount: bidder === 'awardee' ? 900 : 800,
      message: `An offer by ${people[bidder].name}.`,
      ...offers?.[bidder],
    };
    job.bids[bidder] = done(
      'submitBid',
      await callRest(app, 'submitBid', { by: people[bidder], job: job.id, body: offer }),
    ).id;
  }
}

function done(what: string, { status, body }: { status: number; body: Json }): Json {
  if (status >= 400) throw new Error(`${what} was refused: ${JSON.stringify(body)}`);
  return body;
}
