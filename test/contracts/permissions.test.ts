/**
 * `drift.test.ts` compares schema/permissions.txt with the code, cell by cell. This file compares it with the
 * specification, copied by hand: who may do what and when. Everything that isn't listed here is forbidden.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BidTransitionKey } from '../../src/market/rules/bids.js';
import type { JobActionKey, AllowedActor } from '../../src/market/rules/lifecycle.js';
import { JOB_STATES } from '../../src/market/rules/states.js';
import { callRest, APIS, operationName, outcomeOf, type Asked } from '../story/calls.js';
import { homeowner, type Person } from '../story/cast.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { DRAFT, gather, givenJob, type GivenJob, type People } from '../story/journey.js';
import { copiesOf } from '../story/scenes.js';
import {
  actionName,
  isAwarded,
  isIn,
  JOB_ACTION_KEYS,
  OPERATIONS_ON_JOBS,
  statesAllowing,
  statesIn,
} from '../story/specified.js';

const kept = readFileSync(new URL('../../schema/permissions.txt', import.meta.url), 'utf8');

type Row = Record<string, Record<string, string>>;

/** Action → person → state → the result from both APIs. */
const cells: Record<string, Row> = Object.fromEntries(
  kept
    .split(/^—+ /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.trimEnd().split('\n');
      const [states = '', ...people] = lines.slice(lines.indexOf('') + 1);
      const names = states.trim().split(/ +/);
      const rows = people.map((line) => {
        const [person = '', ...outcomes] = line.split(/ {2,}/);
        return [person, Object.fromEntries(names.map((state, at) => [state, outcomes[at] ?? '?']))];
      });
      return [title.trim(), Object.fromEntries(rows)];
    }),
);

const EVERY = [...JOB_STATES];
const ONCE_OPEN = EVERY.filter((state) => !isIn('unpublished', state));
const AFTER_AWARD = EVERY.filter(isAwarded);
const WITHOUT_AWARD = EVERY.filter((state) => !AFTER_AWARD.includes(state));
const UNPUBLISHED = [...statesIn('unpublished')];
const BIDDING = [...statesIn('bidding')];
const TAKES_BIDS = [...statesAllowing('submitBid')];
const DISPUTED = ['disputed', 'escalated', 'decision_reached', 'appealed'];

/** Person → states. */
type Law = Record<string, readonly string[]>;

/** The matrix's people for each actor in the specification. */
const PEOPLE_OF: Record<AllowedActor, readonly string[]> = {
  owner: ['owner'],
  awardee: ['awardee'],
  parties: ['owner', 'awardee'],
  bidder: ['bidder'],
  contractor: ['other contractor'],
  admin: ['admin'],
  extender: ['owner', 'admin'],
};

const READERS: Law = {
  owner: EVERY,
  admin: EVERY,
  awardee: ONCE_OPEN,
  bidder: ONCE_OPEN,
  'other contractor': TAKES_BIDS,
};
const OWNER_AND_ADMIN_ONCE_OPEN: Law = { owner: ONCE_OPEN, admin: ONCE_OPEN };
/** An award changes nothing about what these people can read of the parties. */
const OUTSIDERS: Law = { 'other homeowner': EVERY, bidder: EVERY, 'other contractor': EVERY };
const AWARDEE_AND_ADMIN: Law = { awardee: EVERY, admin: EVERY };

const MAY: Record<string, Law> = {
  'READ THE JOB': READERS,
  'FIND THE AWARDEE AMONG ALL USERS': { admin: EVERY },
  'AUDIT THE TOKENS': { admin: EVERY },
  'READ THE AWARDEE’S JOBS': AWARDEE_AND_ADMIN,
  'READ THE AWARDEE’S BIDS': AWARDEE_AND_ADMIN,
  'READ THE AWARDEE’S TOKENS': AWARDEE_AND_ADMIN,
  'READ THE DISPUTE': { owner: DISPUTED, awardee: DISPUTED, admin: DISPUTED },
  ...Object.fromEntries(JOB_ACTION_KEYS.map((key) => [actionName(key), allowedTo(key)])),
  [actionName('extendDeadline')]: { owner: ['open', 'in_review'], admin: ['decision_reached'] },
  // The owner can accept, because the standing proposal is the awardee's.
  [actionName('acceptResolution')]: { owner: ['disputed'] },
  'VIEW THE AWARDEE’S BID': { owner: BIDDING },
  'VIEW THE OTHER BID': { owner: BIDDING },
  'SHORTLIST THE AWARDEE’S BID': { owner: BIDDING },
  'SHORTLIST THE OTHER BID': { owner: BIDDING },
  'REJECT THE AWARDEE’S BID': { owner: BIDDING },
  'REJECT THE OTHER BID': { owner: BIDDING },
  'WITHDRAW THE AWARDEE’S BID': { awardee: BIDDING },
  'WITHDRAW THE OTHER BID': { bidder: BIDDING },
  'REVISE THE AWARDEE’S BID': { awardee: BIDDING },
  'REVISE THE OTHER BID': { bidder: BIDDING },
};

function allowedTo(key: JobActionKey): Law {
  const states = EVERY.filter((state) => statesAllowing(key).includes(state));
  return Object.fromEntries(PEOPLE_OF[OPERATIONS_ON_JOBS[key].actor].map((person) => [person, states]));
}

const PARTS_OF_TIMELINE = {
  all: OWNER_AND_ADMIN_ONCE_OPEN,
  'job and own bid': { awardee: AFTER_AWARD.filter((state) => state !== 'awarded') },
  // The work has no texts yet.
  'states and own bid': { awardee: [...BIDDING, 'awarded'], bidder: ONCE_OPEN },
} satisfies Record<string, Law>;
const TIMELINE: Record<string, Law> = {
  ...PARTS_OF_TIMELINE,
  states: { owner: UNPUBLISHED, admin: UNPUBLISHED, 'other contractor': TAKES_BIDS },
};

/** Section → result → who gets it and when. In all other cells, there is nothing to read, or an error. */
const LAWS: Record<string, Record<string, Law>> = {
  ...Object.fromEntries(Object.entries(MAY).map(([section, law]) => [section, { ok: law }])),
  'FIND THE JOB IN THE LIST': { listed: READERS },
  'READ THE RATING AND THE REVIEW': {
    review: { owner: ['completed'], admin: ['completed'], awardee: ['completed'], bidder: ['completed'] },
  },
  'READ THE BIDS': { both: OWNER_AND_ADMIN_ONCE_OPEN, own: { awardee: ONCE_OPEN, bidder: ONCE_OPEN } },
  'READ THE EVENTS': TIMELINE,
  'SUBSCRIBE TO THE JOB': TIMELINE,
  // Contractors without a bid don't get an open job's events.
  'FIND THE JOB IN YOUR EVENTS': { ...PARTS_OF_TIMELINE, states: { owner: UNPUBLISHED, admin: UNPUBLISHED } },
  'FIND THE JOB IN YOUR NOTIFICATIONS': {
    'bid submitted': { owner: ['open', 'awarded'] },
    'bid accepted': { awardee: ['awarded', 'in_progress', 'in_review'] },
    'bid rejected': { bidder: AFTER_AWARD.filter((state) => state !== 'cancelled') },
    'job checked in': { owner: ['in_progress', 'cancelled'] },
    'job submitted for review': { owner: ['in_review', 'completed', 'escalated'] },
    'job approved': { awardee: ['completed'] },
    'job disputed': { awardee: ['disputed'] },
    'job resolution proposed': { owner: ['disputed'] },
    'job escalated': { awardee: ['escalated'], admin: ['escalated', 'decision_reached'] },
    'job decision reached': { owner: ['decision_reached'], awardee: ['decision_reached', 'appealed'] },
    'job appeal filed': { owner: ['appealed'], admin: ['appealed'] },
    'job cancelled': { awardee: ['cancelled'], bidder: ['cancelled'] },
  },
  'FIND THE AWARDEE IN THE DIRECTORY': {
    'with license': { owner: ONCE_OPEN, awardee: EVERY, admin: EVERY },
    profile: { owner: UNPUBLISHED, ...OUTSIDERS },
  },
  'READ THE AWARDEE’S ACCOUNT': {
    'with email': { owner: AFTER_AWARD, awardee: EVERY, admin: EVERY },
    name: { owner: WITHOUT_AWARD, ...OUTSIDERS },
  },
  'READ THE OWNER’S PROFILE': {
    'with address': { owner: EVERY, awardee: AFTER_AWARD, admin: EVERY },
    city: { awardee: WITHOUT_AWARD, ...OUTSIDERS },
  },
  'READ THE AWARDEE’S REVIEWS': {
    review: Object.fromEntries(
      ['owner', 'other homeowner', 'awardee', 'bidder', 'other contractor', 'admin'].map((person) => [
        person,
        ['completed'],
      ]),
    ),
  },
};

/** An API key may do everything here that its owner may. */
const withKeys = (law: Law): Law => (law.owner ? { ...law, 'owner’s API key': law.owner } : law);

const isRefused = (answer: string) => /^[A-Z_]+$/.test(answer);

describe('schema/permissions.txt', () => {
  test('has more than 1,500 cells, with a result in each', () => {
    const answers = Object.values(cells).flatMap((row) =>
      Object.values(row).flatMap((states) => Object.values(states)),
    );
    expect(answers.length).toBeGreaterThan(1_500);
    expect(answers.filter((answer) => !/^([A-Z_]{5,}|[a-z ]{2,}|\d allowed)$/.test(answer))).toEqual([]);
  });

  test('has exactly the sections that this file checks', () => {
    const checked = [...Object.keys(LAWS), 'READ THE ACTIONS', 'A WEBHOOK ENDPOINT'];
    expect(Object.keys(cells).toSorted()).toEqual(checked.toSorted());
  });

  test.each(Object.entries(LAWS))(
    'allows this to the callers in the specification, and to no others: %s',
    (action, laws) => {
      const found: Record<string, Law> = {};
      for (const [person, row] of Object.entries(cells[action] ?? {}))
        for (const state of EVERY) {
          const answer = row[state] ?? '?';
          if (isRefused(answer) || ['absent', 'none'].includes(answer)) continue;
          const law = (found[answer] ??= {});
          law[person] = [...(law[person] ?? []), state];
        }
      expect(found).toEqual(Object.fromEntries(Object.entries(laws).map(([answer, law]) => [answer, withKeys(law)])));
    },
  );

  test('counts the actions that each reader of the job can use', () => {
    for (const [person, row] of Object.entries(cells['READ THE ACTIONS'] ?? {}))
      for (const state of EVERY) {
        const may = (section: string) => withKeys(MAY[section] ?? {})[person]?.includes(state) ?? false;
        const count = JOB_ACTION_KEYS.filter((key) => may(actionName(key))).length;
        const answer = row[state] ?? '?';
        expect(isRefused(answer) ? 'refused' : answer, `${person}, ${state}`).toBe(
          may('READ THE JOB') ? `${count} allowed` : 'refused',
        );
      }
  });

  test("shows a suspended owner's open job only to its bidders and admins, who can change bids or complete it", () => {
    const found: Record<string, Record<string, string>> = {};
    for (const [action, row] of Object.entries(cells))
      for (const [person, { suspended }] of Object.entries(row))
        if (suspended !== undefined && !isRefused(suspended) && !['absent', 'none'].includes(suspended))
          (found[action] ??= {})[person] = suspended;
    const everyone = ['other homeowner', 'awardee', 'bidder', 'other contractor', 'admin'];
    const of = (most: string, others: Record<string, string>) => ({
      ...Object.fromEntries(everyone.map((person) => [person, most])),
      ...others,
    });
    const timeline = { awardee: 'states and own bid', bidder: 'states and own bid', admin: 'all' };
    expect(found).toEqual({
      'READ THE JOB': { awardee: 'ok', bidder: 'ok', admin: 'ok' },
      'FIND THE JOB IN THE LIST': { admin: 'listed' },
      'READ THE BIDS': { awardee: 'own', bidder: 'own', admin: 'both' },
      'READ THE EVENTS': timeline,
      'SUBSCRIBE TO THE JOB': timeline,
      'FIND THE JOB IN YOUR EVENTS': timeline,
      'READ THE ACTIONS': { awardee: '0 allowed', bidder: '0 allowed', admin: '1 allowed' },
      'FIND THE AWARDEE IN THE DIRECTORY': of('profile', { awardee: 'with license', admin: 'with license' }),
      'READ THE AWARDEE’S ACCOUNT': of('name', { awardee: 'with email', admin: 'with email' }),
      'READ THE OWNER’S PROFILE': of('city', { admin: 'with address' }),
      'READ THE AWARDEE’S JOBS': { awardee: 'ok', admin: 'ok' },
      'READ THE AWARDEE’S BIDS': { awardee: 'ok', admin: 'ok' },
      'READ THE AWARDEE’S TOKENS': { awardee: 'ok', admin: 'ok' },
      'FIND THE AWARDEE AMONG ALL USERS': { admin: 'ok' },
      'AUDIT THE TOKENS': { admin: 'ok' },
      COMPLETE: { admin: 'ok' },
      'WITHDRAW THE AWARDEE’S BID': { awardee: 'ok' },
      'WITHDRAW THE OTHER BID': { bidder: 'ok' },
      'REVISE THE AWARDEE’S BID': { awardee: 'ok' },
      'REVISE THE OTHER BID': { bidder: 'ok' },
    });
  });

  test('lets only the owner and their API key with full access change a webhook endpoint; admins can read it', () => {
    const may = Object.entries(cells['A WEBHOOK ENDPOINT'] ?? {}).map(([person, answers]) => [
      person,
      Object.keys(answers).filter((way) => answers[way] === 'ok'),
    ]);
    const reads = ['read', 'deliveries'];
    expect(Object.fromEntries(may)).toEqual({
      owner: [...reads, 'change', 'secret', 'test', 'redeliver', 'replay', 'delete'],
      'owner’s API key': [...reads, 'change', 'secret', 'test', 'redeliver', 'replay', 'delete'],
      admin: reads,
      contractor: [],
      'other homeowner': [],
      anonymous: [],
    });
  });

  test('checks the token before anything else', () => {
    for (const [action, { anonymous }] of Object.entries(cells))
      expect(new Set(Object.values(anonymous ?? {})), action).toEqual(new Set(['UNAUTHENTICATED']));
  });

  test('rejects the wrong person before it looks at the state', () => {
    for (const [action, row] of Object.entries(cells)) {
      for (const [person, states] of Object.entries(row)) {
        if (Object.values(states).some((answer) => answer === 'ok') || person === 'anonymous') continue;
        // An open job's bidders can always see it, and get the error that it is no longer open.
        if (action === 'SUBMIT_BID' && ['awardee', 'bidder'].includes(person)) continue;
        // The awardee is a party, but any proposal here is their own.
        if (action === 'ACCEPT_RESOLUTION' && person === 'awardee') continue;
        expect(
          Object.values(states).filter((answer) => answer === 'INVALID_TRANSITION'),
          `${action} by ${person}`,
        ).toEqual([]);
      }
    }
  });
});

describe('what availableActions predicts if more than the person and the state matters', () => {
  let app: TestApp;
  let people: People;
  beforeAll(async () => {
    app = await openTestApp();
    people = await gather(app);
  });
  afterAll(() => app.close());

  async function predicted(by: Person, id: string, action: string) {
    const { data } = await app.graphql(
      'query($id: ID!) { job(id: $id) { availableActions { action allowed reason missingFields tokenCost } } }',
      { token: by.token, variables: { id } },
    );
    return data.job.availableActions.find((one: { action: string }) => one.action === action);
  }

  /** Checks the prediction, and that each API returns exactly that result on its own copy of the job. */
  async function expectPredicted(
    by: Person,
    job: GivenJob,
    key: JobActionKey,
    action: string,
    asked: (copy: GivenJob) => Omit<Asked, 'by' | 'job'>,
    said: object,
  ) {
    const entry = await predicted(by, job.id, action);
    expect(entry).toMatchObject({ action, missingFields: [], ...said });
    const copies = await copiesOf(app, job, APIS.length);
    for (const [at, api] of APIS.entries()) {
      const { ok, code } = await outcomeOf(app, api, key, { by, job: copies[at]!.id, ...asked(copies[at]!) });
      expect({ ok, code }, `${operationName(key)} by ${api}`).toEqual({ ok: entry.allowed, code: entry.reason });
    }
  }

  const draftOf = async (by: Person, fields: object): Promise<GivenJob> => {
    const { body } = await callRest(app, 'create', { by, body: fields });
    return { id: body.id, state: 'draft', bids: { awardee: null, bidder: null } };
  };
  const after = async (
    key: BidTransitionKey,
    by: 'owner' | 'bidder' | 'awardee',
    whose: ('bidder' | 'awardee')[] = ['bidder'],
  ) => {
    const job = await givenJob(app, 'open', people);
    for (const one of whose)
      await callRest(app, key, { by: people[by === 'owner' ? 'owner' : one], job: job.id, bid: job.bids[one]! });
    return job;
  };

  test('a draft with missing fields is denied for these before it’s denied for missing tokens', async () => {
    const poor = await homeowner(app, 'Paul');
    const missingFields = ['category', 'addressLine1', 'state'];
    await expectPredicted(
      poor,
      await draftOf(poor, { title: 'A', description: 'B', urgency: 'urgent', city: 'Austin' }),
      'publish',
      'PUBLISH',
      () => ({}),
      { allowed: false, reason: 'MISSING_FIELDS', missingFields, tokenCost: 30 },
    );
  });

  test('a complete draft is denied for missing tokens, or costs what its urgency costs', async () => {
    const poor = await homeowner(app, 'Petra');
    await expectPredicted(
      poor,
      await draftOf(poor, { ...DRAFT, urgency: 'priority' }),
      'publish',
      'PUBLISH',
      () => ({}),
      { allowed: false, reason: 'INSUFFICIENT_TOKENS', tokenCost: 15 },
    );
    await expectPredicted(poor, await draftOf(poor, DRAFT), 'publish', 'PUBLISH', () => ({}), {
      allowed: true,
      reason: null,
      tokenCost: 5,
    });
  });

  test('an open job without any live bids has none to award', async () => {
    await expectPredicted(
      people.owner,
      await after('reject', 'owner', ['awardee', 'bidder']),
      'award',
      'AWARD',
      ({ bids }) => ({ body: { bid_id: bids.awardee } }),
      { allowed: false, reason: 'UNKNOWN_BID' },
    );
    await expectPredicted(
      people.owner,
      await after('withdraw', 'bidder'),
      'award',
      'AWARD',
      ({ bids }) => ({ body: { bid_id: bids.awardee } }),
      { allowed: true, reason: null },
    );
  });

  test('a contractor may bid again after a withdrawal, and not after a rejection', async () => {
    const asked = () => ({ body: { amount: 1 } });
    await expectPredicted(people.bidder, await after('withdraw', 'bidder'), 'submitBid', 'SUBMIT_BID', asked, {
      allowed: true,
      reason: null,
    });
    await expectPredicted(people.bidder, await after('reject', 'owner'), 'submitBid', 'SUBMIT_BID', asked, {
      allowed: false,
      reason: 'DUPLICATE_BID',
    });
  });
});
