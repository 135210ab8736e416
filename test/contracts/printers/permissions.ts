/**
 * Prints who may do and read what, in which state. Every cell is called through both APIs, on a separate job for each
 * change, and shows the result. If the APIs disagree, or `availableActions` predicted wrongly, printing fails. It also
 * fails if a rejected call or a read changes anything. Comparing with the saved table needs only one API per cell. The
 * APIs take turns, so each serves every caller in half of the states.
 */
import { BID_ACTIONS } from '../../../src/market/rules/bids.js';
import { JOB_ACTIONS, type JobActionKey, type JobTransitionKey } from '../../../src/market/rules/lifecycle.js';
import { JOB_STATES } from '../../../src/market/rules/states.js';
import { ALLOWED_ACTORS } from '../../../src/market/rules/parties.js';
import { newId } from '../../../src/market/store/new-id.js';
import {
  APIS,
  graphqlOutcome,
  operationName,
  outcomeOf,
  restAddress,
  restOutcome,
  type Asked,
  type Api,
  type OperationKey,
} from '../../story/calls.js';
import { programOf, type Person } from '../../story/cast.js';
import { openTestApp, type Json, type TestApp } from '../../setup/app.js';
import { bodyOf, laterDeadline, gather, givenJob, propose, type GivenJob, type People } from '../../story/journey.js';
import { allNumbered } from '../../platform/live/positions.js';
import { atOnce, copiesOf } from '../../story/scenes.js';
import { hearAsEvents, hearOverWebSocket, JOB_EVENTS, refusalOf } from '../../platform/graphql/streams/clients.js';
import { webhookPermissions } from './webhook-permissions.js';

const CALLERS = ['owner', 'key', 'other', 'awardee', 'bidder', 'stranger', 'admin', 'anonymous'] as const;
type Caller = (typeof CALLERS)[number];

const CALLED: Record<Caller, string> = {
  owner: 'owner',
  key: 'owner’s API key',
  other: 'other homeowner',
  awardee: 'awardee',
  bidder: 'bidder',
  stranger: 'other contractor',
  admin: 'admin',
  anonymous: 'anonymous',
};

/** A job's states, and an open job whose owner is suspended. */
const COLUMNS = [...JOB_STATES, 'suspended'] as const;
type Column = (typeof COLUMNS)[number];

/** One row of the table: the call, and its result in each state. */
interface Section {
  readonly title: string;
  readonly description: string;
  readonly rest: string;
  readonly graphql: string;
  /** True if a successful call leaves the job unchanged, so it doesn't need a copy of the job. */
  readonly reads: boolean;
  /** As `availableActions` names it. */
  readonly action?: string;
  run(app: TestApp, api: Api, scene: Scene, caller: Caller): Promise<string>;
}

type Cast = People & { readonly key: Person };

interface Scene {
  readonly people: Cast;
  readonly job: GivenJob;
  /** The position just before the job's first event. */
  readonly since: string;
  /** The position just after the job's last event. The copies' events come later. */
  readonly until: string;
}

/** The whole matrix as text. */
export async function permissionsFile(byBothApis: boolean): Promise<string> {
  const { cells, disagreements } = await runEveryCell(byBothApis);
  if (disagreements.length > 0) throw new Error(`The permissions are inconsistent:\n${disagreements.join('\n')}`);
  const tables = SECTIONS.map((section) => tableOf(section, cells));
  return `${[PREFACE, ...tables, await webhookPermissions()].join('\n\n')}\n`;
}

type Cells = Map<string, string>;
const cellKey = (section: Section, caller: Caller, column: Column) => `${section.title} | ${caller} | ${column}`;

async function runEveryCell(byBothApis: boolean): Promise<{ cells: Cells; disagreements: string[] }> {
  const app = await openTestApp({}, { tokensLast: true });
  try {
    const cells: Cells = new Map();
    const disagreements: string[] = [];
    for (const [turn, column] of COLUMNS.entries()) {
      const apisOf = (at: number) => (byBothApis ? APIS : [APIS[(turn + at) % APIS.length]!]);
      await runColumn(app, column, apisOf, cells, disagreements);
    }
    return { cells, disagreements };
  } finally {
    await app.close();
  }
}

async function runColumn(
  app: TestApp,
  column: Column,
  apisOf: (at: number) => readonly Api[],
  cells: Cells,
  disagreements: string[],
): Promise<void> {
  const gathered = await gather(app);
  const people: Cast = { ...gathered, key: await programOf(app, gathered.owner) };
  const given = await givenJob(app, column === 'suspended' ? 'open' : column, people, { unrated: true });
  const job = column === 'disputed' ? { ...given, proposal: await propose(app, people, given) } : given;
  await allNumbered(app);
  const [first] =
    await app.sql`select min(position) - 1 as since, max(position) + 1 as until from events where job_id = ${job.id}`;
  const [since, until] = [String(first?.since), String(first?.until)];
  const calls = SECTIONS.flatMap((section, row) =>
    CALLERS.flatMap((caller, at) => apisOf(row + at).map((api) => ({ section, caller, api }))),
  );
  const copies = await copiesOf(app, job, calls.filter(({ section }) => !section.reads).length);
  // The list is searched for the job's own identifier, which no copy has.
  await app.sql`update jobs set title = id where id = ${job.id}`;
  // The directory is searched in the same way.
  await app.sql`update contractors set company_name = id, license_number = 'M-1'
    where id = ${people.awardee.profileId}`;
  await app.sql`update homeowners set zip_code = '78704' where id = ${people.owner.profileId}`;
  if (column === 'suspended') {
    const { admin, owner } = people;
    await app.rest('POST', `/v1/users/${owner.userId}/suspend`, { token: admin.token, body: { reason: 'A test.' } });
  }
  const predicted = new Map(
    await Promise.all(CALLERS.map(async (caller) => [caller, await foretell(app, people, job, caller)] as const)),
  );
  // Reads run first, because the list would change while other calls change jobs.
  for (const reads of [true, false]) {
    const these = calls.filter(({ section }) => section.reads === reads);
    const before = await kept(app, [job, ...copies]);
    const outcomes = await atOnce(these, ({ section, caller, api }, at) =>
      section.run(app, api, { people, job: reads ? job : copies[at]!, since, until }, caller),
    );
    const after = await kept(app, [job, ...copies]);
    for (const [at, { section, caller, api }] of these.entries()) {
      const key = cellKey(section, caller, column);
      const outcome = outcomes[at]!;
      const first = cells.get(key) ?? outcome;
      if (outcome !== first) disagreements.push(`${key}: ${first} by REST, ${outcome} by GraphQL`);
      const { id } = reads ? job : copies[at]!;
      if ((reads || outcome !== 'ok') && before.get(id) !== after.get(id))
        disagreements.push(`${key}: ${api} returns ${outcome}, but the job or its bids have changed`);
      const promised = section.action && predicted.get(caller)?.get(section.action);
      if (promised && promised !== outcome)
        disagreements.push(`${key}: availableActions says ${promised}, but ${api} returns ${outcome}`);
      cells.set(key, outcome);
    }
  }
}

/** The rows of each job and its bids, and the number of its events. */
async function kept(app: TestApp, jobs: readonly GivenJob[]): Promise<Map<string, string>> {
  const rows = await app.sql`select id, jsonb_build_array(to_jsonb(jobs),
      (select jsonb_agg(to_jsonb(bids) order by bids.id) from bids where job_id = jobs.id),
      (select count(*) from events where job_id = jobs.id))::text as row
    from jobs where id in ${app.sql(jobs.map(({ id }) => id))}`;
  return new Map(rows.map(({ id, row }) => [id, row]));
}

/**
 * The actions that `availableActions` predicts for this caller, in the cells' words. Empty if the caller can't see the
 * job.
 */
async function foretell(app: TestApp, people: Cast, { id }: GivenJob, caller: Caller): Promise<Map<string, string>> {
  const { data } = await app.graphql(
    'query($id: ID!) { job(id: $id) { availableActions { action allowed reason } } }',
    { token: tokenOf(people, caller), variables: { id } },
  );
  const actions: { action: string; allowed: boolean; reason: string | null }[] = data.job?.availableActions ?? [];
  return new Map(actions.map(({ action, allowed, reason }) => [action, allowed ? 'ok' : String(reason)]));
}

function tokenOf(people: Cast, caller: Caller): string | undefined {
  return caller === 'anonymous' ? undefined : people[caller].token;
}

const NO_BID = newId('bid');
const PRICE = 850;
const BID_OF = { awardee: 'the bid that the job was or will be awarded to', bidder: 'the other bidder’s bid' } as const;

/** A read of people, who aren't part of the job. */
interface PeopleRead {
  readonly title: string;
  readonly description: string;
  readonly rest: string;
  readonly graphql: string;
  /** The person to read. By default, the awardee's profile. */
  whom?(this: void, people: People): string;
  /** Sums up the response. In GraphQL, it gets the requested field. */
  seen(this: void, answer: Json): string;
}

const PEOPLE_READS: readonly PeopleRead[] = [
  {
    title: 'FIND THE AWARDEE IN THE DIRECTORY',
    description: 'Whether the directory of contractors lists the awardee, and whether it shows their license number.',
    rest: '/v1/contractors?search={awardee}',
    graphql: 'contractors(filter: { search: $id }) { nodes { id licenseNumber } }',
    seen: ({ data, nodes = data }) => {
      const [found]: Json[] = nodes;
      if (!found) return 'absent';
      return (found.licenseNumber ?? found.license_number ?? null) === null ? 'profile' : 'with license';
    },
  },
  {
    title: 'READ THE AWARDEE’S ACCOUNT',
    description: 'Whether the account shows the awardee’s email address, or only their name.',
    rest: '/v1/users/{awardee}',
    graphql: 'node(id: $id) { ... on User { id email } }',
    whom: ({ awardee }) => awardee.userId,
    seen: ({ email }) => (email === null ? 'name' : 'with email'),
  },
  {
    title: 'READ THE OWNER’S PROFILE',
    description: 'Whether the profile shows the owner’s ZIP code, or only the city.',
    rest: '/v1/homeowners/{owner}',
    graphql: 'node(id: $id) { ... on Homeowner { id zipCode } }',
    whom: ({ owner }) => owner.profileId,
    seen: ({ zipCode = null, zip_code: zip = zipCode }) => (zip === null ? 'city' : 'with address'),
  },
  {
    title: 'READ THE AWARDEE’S REVIEWS',
    description: 'The reviews of the awardee. The awardee has one review once the job is completed.',
    rest: '/v1/contractors/{awardee}/reviews',
    graphql: 'contractor(id: $id) { reviews { nodes { rating review } } }',
    seen: ({ data, reviews = { nodes: data } }) => (reviews.nodes.length === 0 ? 'none' : 'review'),
  },
  ...(['jobs', 'bids'] as const).map((list) => ({
    title: `READ THE AWARDEE’S ${list.toUpperCase()}`,
    description:
      list === 'jobs'
        ? 'The jobs that were awarded to the awardee. Where REST returns FORBIDDEN, GraphQL returns null.'
        : 'The bids that the awardee made. Where REST returns FORBIDDEN, GraphQL returns null.',
    rest: `/v1/contractors/{awardee}/${list}`,
    graphql: `contractor(id: $id) { ${list} { totalCount } }`,
    seen: (answer: Json) => (answer[list] === null ? 'FORBIDDEN' : 'ok'),
  })),
  {
    title: 'FIND THE AWARDEE AMONG ALL USERS',
    description: 'Whether the caller can list all accounts.',
    rest: '/v1/users?search={awardee}',
    graphql: 'users(filter: { search: $id }) { totalCount }',
    seen: () => 'ok',
  },
  {
    title: 'READ THE AWARDEE’S TOKENS',
    description: 'The awardee’s token balance. Where REST returns FORBIDDEN, GraphQL returns null.',
    rest: '/v1/tokens?user_id={awardee}',
    graphql: 'node(id: $id) { ... on User { id tokens { balance } } }',
    whom: ({ awardee }) => awardee.userId,
    seen: ({ tokens = {} }) => (tokens === null ? 'FORBIDDEN' : 'ok'),
  },
  {
    title: 'AUDIT THE TOKENS',
    description: 'Whether the caller can audit all token balances.',
    rest: '/v1/tokens/audit',
    graphql: 'auditTokens { ok }',
    seen: () => 'ok',
  },
];

const awardeesProfile = ({ awardee }: People) => awardee.profileId;

function peopleSection({ title, description, rest, graphql, whom = awardeesProfile, seen }: PeopleRead): Section {
  return {
    title,
    description,
    rest: `GET ${rest}`,
    graphql: `query ${graphql.replace('$id', '…')}`,
    reads: true,
    async run(app, api, { people }, caller) {
      const token = tokenOf(people, caller);
      const id = whom(people);
      if (api === 'rest') {
        const answer = await app.rest('GET', rest.replace(/\{\w+\}/, id), { token });
        const { ok, code } = restOutcome(answer);
        return ok ? seen(answer.body) : String(code);
      }
      const declared = graphql.includes('$id')
        ? `query ($id: ${graphql.includes('(id:') ? 'ID!' : 'String'})`
        : 'query';
      const answer = await app.graphql(`${declared} { read: ${graphql} }`, { token, variables: { id } });
      const { ok, code } = graphqlOutcome(answer);
      return ok ? seen(answer.data.read) : String(code);
    },
  };
}

const SECTIONS: readonly Section[] = [
  ...readSections(),
  ownEventsSection(),
  notificationsSection(),
  streamSection(),
  ...PEOPLE_READS.map(peopleSection),
  ...(Object.keys(JOB_ACTIONS) as JobActionKey[]).map(jobSection),
  ...(Object.keys(BID_ACTIONS) as (keyof typeof BID_ACTIONS)[]).flatMap((key) => [
    bidSection(key, 'awardee'),
    bidSection(key, 'bidder'),
  ]),
];

function ownEventsSection(): Section {
  const seen = (events: Json[], jobId: string) => {
    const ofJob = events.filter((event) => (event.jobId ?? event.job_id) === jobId);
    return ofJob.length === 0 ? 'absent' : eventsSeen(ofJob);
  };
  return {
    title: 'FIND THE JOB IN YOUR EVENTS',
    description: 'How much of the job’s timeline is in the list of all events that you can read.',
    rest: 'GET /v1/events?after={position}',
    graphql: 'query myEvents(after: …) { nodes { jobId type data } }',
    reads: true,
    async run(app, api, { people, job, since }, caller) {
      const token = tokenOf(people, caller);
      if (api === 'rest') {
        const answer = await app.rest('GET', `/v1/events?per_page=100&after=${since}`, { token });
        const { ok, code } = restOutcome(answer);
        return ok ? seen(answer.body.data, job.id) : String(code);
      }
      const query = 'query ($after: String) { myEvents(first: 100, after: $after) { nodes { jobId type data } } }';
      const answer = await app.graphql(query, { token, variables: { after: since } });
      const { ok, code } = graphqlOutcome(answer);
      return ok ? seen(answer.data.myEvents.nodes, job.id) : String(code);
    },
  };
}

function notificationsSection(): Section {
  const seen = (notifications: Json[], jobId: string) => {
    const newest = notifications.find((one) => (one.jobId ?? one.job_id) === jobId);
    return newest === undefined ? 'absent' : newest.type.toLowerCase().replaceAll(/[._]/g, ' ');
  };
  return {
    title: 'FIND THE JOB IN YOUR NOTIFICATIONS',
    description: 'The newest notification about the job, if there is one.',
    rest: 'GET /v1/notifications?after={position}',
    graphql: 'query viewer { notifications(after: …) { nodes { jobId type } } }',
    reads: true,
    async run(app, api, { people, job, until }, caller) {
      const token = tokenOf(people, caller);
      if (api === 'rest') {
        const answer = await app.rest('GET', `/v1/notifications?per_page=100&after=${until}`, { token });
        const { ok, code } = restOutcome(answer);
        return ok ? seen(answer.body.data, job.id) : String(code);
      }
      const query =
        'query ($after: String) { viewer { notifications(first: 100, after: $after) { nodes { jobId type } } } }';
      const answer = await app.graphql(query, { token, variables: { after: until } });
      const { ok, code } = graphqlOutcome(answer);
      return ok ? seen(answer.data.viewer.notifications.nodes, job.id) : String(code);
    },
  };
}

/** Over server-sent events and over a WebSocket, starting before the job's first event. */
function streamSection(): Section {
  return {
    title: 'SUBSCRIBE TO THE JOB',
    description: 'How much of the job’s timeline a subscription sends, or the error if the subscription is rejected.',
    rest: 'POST /graphql/stream (server-sent events)',
    graphql: 'subscription jobEvents(jobId: …, after: …) { type data } over a WebSocket',
    reads: true,
    async run(app, api, scene, caller) {
      const { people, job, since } = scene;
      const hear = api === 'rest' ? hearAsEvents : hearOverWebSocket;
      const token = tokenOf(people, caller);
      const stream = hear(app.url, token === undefined ? undefined : { token }, JOB_EVENTS, {
        job: job.id,
        after: since,
      });
      try {
        const read = await app.rest('GET', `/v1/jobs/${job.id}/events?per_page=100`, { token });
        const expected: number = read.status === 200 ? read.body.data.length : 1;
        const ended = stream.ended.then(() => 'ended');
        const isOpen = (await Promise.race([stream.count(expected), ended])) !== 'ended';
        if (isOpen) return eventsSeen(stream.events);
        // Without a token, no subscription starts, because the server rejects the connection itself.
        const end = (await stream.ended) as { code?: number; response?: { status: number } } | undefined;
        const status = end?.code ?? end?.response?.status;
        if (status === 4401 || status === 401) return 'UNAUTHENTICATED';
        // A busy machine ran out of time. A second attempt succeeds.
        if (status === 4408 || status === 429 || status === 503) return await this.run(app, api, scene, caller);
        return (await refusalOf(stream)).join();
      } finally {
        stream.stop();
      }
    },
  };
}

function jobSection(key: JobActionKey): Section {
  const { action, description, actor } = JOB_ACTIONS[key];
  return mutationSection(
    key,
    action,
    `${description} Available to ${ALLOWED_ACTORS[actor].description}.`,
    (scene) => ({ job: scene.job.id, body: bodyFor(key, scene) }),
    action,
  );
}

function bodyFor(key: JobActionKey, { job }: Scene): object | undefined {
  switch (key) {
    case 'update':
      return { requirements: 'Bring a ladder.' };
    case 'delete':
      return undefined;
    case 'submitBid':
      return { amount: PRICE };
    case 'review':
      return { rating: 5 };
    case 'extendDeadline':
      return { until: laterDeadline(job) };
    default:
      return bodyOf(key satisfies JobTransitionKey, (name) => `The ${name}.`, job.bids.awardee ?? NO_BID, job.proposal);
  }
}

/** If the job never had a bid, the identifier matches no bid. */
function bidSection(key: keyof typeof BID_ACTIONS, whose: 'awardee' | 'bidder'): Section {
  const { action, description, actor } = BID_ACTIONS[key];
  const title = `${action} ${whose === 'awardee' ? 'THE AWARDEE’S BID' : 'THE OTHER BID'}`;
  return mutationSection(
    key,
    title,
    `${description} Available to ${ALLOWED_ACTORS[actor].description}. This table is about ${BID_OF[whose]}.`,
    ({ job }) => ({
      job: job.id,
      bid: job.bids[whose] ?? NO_BID,
      ...(key === 'revise' && { body: { amount: PRICE + 1 } }),
    }),
  );
}

function mutationSection(
  key: OperationKey,
  title: string,
  description: string,
  about: (scene: Scene) => Asked,
  action?: string,
): Section {
  const { method, path } = restAddress(key, { job: '{job}', bid: '{bid}' });
  return {
    title,
    description,
    rest: `${method} ${path}`,
    graphql: `mutation ${operationName(key)}`,
    reads: false,
    ...(action !== undefined && { action }),
    async run(app, api, scene, caller) {
      const { ok, code } = await outcomeOf(app, api, key, {
        ...about(scene),
        by: caller === 'anonymous' ? undefined : scene.people[caller],
      });
      return ok ? 'ok' : String(code);
    },
  };
}

function eventsSeen(events: { type: string; data: object }[]): string {
  const ofJob = events.filter(({ type }) => type.toLowerCase().startsWith('job'));
  const texts = ofJob.some(({ data }) => Object.keys(data).length > 0);
  const bids = events.filter(({ type }) => ['bid.submitted', 'BID_SUBMITTED'].includes(type)).length;
  if (bids > 1) return 'all';
  if (bids === 1) return texts ? 'job and own bid' : 'states and own bid';
  return texts ? 'job' : 'states';
}

interface Read {
  title: string;
  description: string;
  /**
   * The address to read. The functions below describe each API's response in the same words, including an error that
   * GraphQL returns as null.
   */
  rest(id: string): string;
  graphql: string;
  fromRest(body: RestBody): string;
  fromGraphql(data: GraphqlData, id: string): string;
}

// Data from the network has no type until something checks it.
/* eslint-disable @typescript-eslint/no-explicit-any */
type RestBody = any;
type GraphqlData = any;

function readSections(): Section[] {
  const bidsSeen = (bids: object[], total: number) =>
    bids.length === total ? (['none', 'own', 'both'][total] ?? 'more') : 'miscounted';
  const actionsAllowed = (actions: { allowed: boolean }[]) =>
    `${actions.filter(({ allowed }) => allowed).length} allowed`;
  const said = ({ rating, review }: { rating: number | null; review: string | null }) =>
    rating === null && review === null ? 'none' : 'review';
  const reads: Read[] = [
    {
      title: 'READ THE JOB',
      description: 'The job itself.',
      rest: (id) => `/v1/jobs/${id}`,
      graphql: 'job(id: $id) { id status }',
      fromRest: () => 'ok',
      fromGraphql: () => 'ok',
    },
    {
      title: 'READ THE RATING AND THE REVIEW',
      description: 'The homeowner’s rating and review. They exist once the work is approved.',
      rest: (id) => `/v1/jobs/${id}`,
      graphql: 'job(id: $id) { rating review }',
      fromRest: (job) => said(job),
      fromGraphql: ({ job }) => said(job),
    },
    {
      title: 'FIND THE JOB IN THE LIST',
      description: 'Whether the job is in the list of jobs.',
      rest: (id) => `/v1/jobs?search=${id}`,
      graphql: 'jobs(filter: { search: $search }) { nodes { id } }',
      fromRest: ({ data }) => (data.length === 1 ? 'listed' : 'absent'),
      fromGraphql: ({ jobs }) => (jobs.nodes.length === 1 ? 'listed' : 'absent'),
    },
    {
      title: 'READ THE BIDS',
      description: 'Which of the job’s two bids the caller can read: both, their own, or none.',
      rest: (id) => `/v1/jobs/${id}/bids`,
      graphql: 'job(id: $id) { bids { totalCount nodes { id } } }',
      fromRest: ({ data, pagination }) => bidsSeen(data, pagination.total),
      fromGraphql: ({ job }) => bidsSeen(job.bids.nodes, job.bids.totalCount),
    },
    {
      title: 'READ THE EVENTS',
      description:
        'How much of the timeline the caller can read: all of it, the job’s events and their own bid, the changes of ' +
        'state and their own bid, or only the changes of state.',
      rest: (id) => `/v1/jobs/${id}/events`,
      graphql: 'job(id: $id) { timeline { nodes { type data } } }',
      fromRest: ({ data }) => eventsSeen(data),
      fromGraphql: ({ job }) => eventsSeen(job.timeline.nodes),
    },
    {
      title: 'READ THE ACTIONS',
      description: 'How many operations on the job the caller can use.',
      rest: (id) => `/v1/jobs/${id}/actions`,
      graphql: 'job(id: $id) { availableActions { allowed } }',
      fromRest: ({ data }) => actionsAllowed(data),
      fromGraphql: ({ job }) => actionsAllowed(job.availableActions),
    },
    {
      title: 'READ THE DISPUTE',
      description: 'The text of the dispute. Where REST rejects a caller who can see the job, GraphQL returns null.',
      rest: (id) => `/v1/jobs/${id}/dispute`,
      graphql: 'job(id: $id) { dispute { reason } }',
      fromRest: () => 'ok',
      fromGraphql: ({ job }) => (job.dispute === null ? 'null' : 'ok'),
    },
  ];
  return reads.map(readSection);
}

function readSection({ title, description, rest, graphql, fromRest, fromGraphql }: Read): Section {
  const byRest = async (app: TestApp, { people, job }: Scene, caller: Caller) => {
    const answer = await app.rest('GET', rest(job.id), { token: tokenOf(people, caller) });
    const { ok, code } = restOutcome(answer);
    return ok ? fromRest(answer.body) : String(code);
  };
  const byGraphql = async (app: TestApp, { people, job }: Scene, caller: Caller) => {
    const declared = graphql.includes('$search') ? '$search: String' : '$id: ID!';
    const answer = await app.graphql(`query(${declared}) { ${graphql} }`, {
      token: tokenOf(people, caller),
      variables: { id: job.id, search: job.id },
    });
    const { ok, code } = graphqlOutcome(answer);
    return ok ? fromGraphql(answer.data, job.id) : String(code);
  };
  return {
    title,
    description,
    rest: `GET ${rest('{job}')}`,
    graphql: `query ${graphql.replace('$id', '…').replace('$search', '…')}`,
    reads: true,
    async run(app, api, scene, caller) {
      if (api === 'rest') return byRest(app, scene, caller);
      const outcome = await byGraphql(app, scene, caller);
      if (outcome !== 'null') return outcome;
      const refused = await byRest(app, scene, caller);
      return ['FORBIDDEN', 'NOT_FOUND'].includes(refused) ? refused : outcome;
    },
  };
}

const PREFACE = [
  'Who can do and read what, in each state of a job.',
  '',
  'For each cell, the operation was called through REST and through GraphQL, each time on a separate job. The cell ' +
    'is the result',
  'of both: ok, what could be read, or an error code. This file is generated by npm run contracts. Do not edit it.',
  '',
  '  owner                the homeowner who posted the job',
  '  owner’s API key      an API key of the owner. For every operation in this file, it can do what the owner can do',
  '  other homeowner      a homeowner who isn’t involved in the job',
  '  awardee              the contractor with the award. If the job is open, one of its two bidders. If it is a ' +
    'draft, any contractor',
  '  bidder               the contractor who also bid, but wasn’t chosen. If the job is a draft, any contractor',
  '  other contractor     a contractor without a bid',
  '  admin, anonymous     an admin; a caller without a token',
  '',
  'The completed job was approved without a rating and was never disputed. In the disputed job, the awardee has made ' +
    'a proposal. The',
  'cancelled job was cancelled while in progress. The last column is an open job whose owner is suspended.',
].join('\n');

function tableOf(section: Section, cells: Cells): string {
  const rows = CALLERS.map((caller) => [
    CALLED[caller],
    ...COLUMNS.map((column) => cells.get(cellKey(section, caller, column)) ?? '?'),
  ]);
  const lines = [['', ...COLUMNS], ...rows];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const table = lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const { title, description, rest, graphql } = section;
  return [`${'—'.repeat(12)} ${title}`, description, `${rest} · ${graphql}`, '', ...table].join('\n');
}
