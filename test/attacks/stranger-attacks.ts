/**
 * Access to other people's objects (OWASP API1) and operations (API5), and responses with too much data (API3). These
 * paths and identifiers have no cell in `schema/permissions.txt`.
 */
import { expect } from 'vitest';
import { BID_ACTIONS } from '../../src/market/rules/bids.js';
import type { IdKind } from '../../src/market/rules/ids.js';
import { newId } from '../../src/market/store/new-id.js';
import { callGraphql, callRest } from '../story/calls.js';
import type { Person } from '../story/cast.js';
import type { Json } from '../setup/app.js';
import { alike, outcomeOf, type Attack, type Ground, type Market } from './ground.js';

const IDOR = 'OWASP API1:2023 (object level)';
const EXPOSURE = 'OWASP API3:2023 (exposure)';
const FUNCTIONS = 'OWASP API5:2023 (function level)';
const FORBIDDEN = '403 FORBIDDEN';
const NOT_FOUND = '404 NOT_FOUND';

const BID_KEYS = Object.keys(BID_ACTIONS) as (keyof typeof BID_ACTIONS)[];
const BIDS_BY_PATH: readonly Attack[] = BID_KEYS.flatMap((key) => {
  const { actor, operation } = BID_ACTIONS[key];
  const by = (ground: Ground, whose: 'ours' | 'theirs') => ground[whose].people[actor];
  const ask = (ground: Ground, job: string, bid: string | null, caller: Person) =>
    callRest(ground.app, key, { by: caller, job, bid: bid ?? '', ...(key === 'revise' && { body: { amount: 1 } }) });
  return [
    {
      name: `${operation} of another job’s bid, through the path of one’s own job`,
      source: IDOR,
      outcome: NOT_FOUND,
      run: async (ground: Ground) =>
        outcomeOf(await ask(ground, ground.ours.open.id, ground.theirs.open.bids.bidder, by(ground, 'ours'))),
    },
    {
      name: `${operation} of one’s own bid, through the path of another job`,
      source: IDOR,
      outcome: NOT_FOUND,
      run: async (ground: Ground) =>
        outcomeOf(await ask(ground, ground.theirs.open.id, ground.ours.open.bids.bidder, by(ground, 'ours'))),
    },
  ];
});

const rest = (
  name: string,
  outcome: string,
  path: (theirs: Market) => string,
  who: (ours: Market) => Person,
  source = IDOR,
): Attack => ({
  name,
  source,
  outcome,
  run: async ({ app, ours, theirs }) => outcomeOf(await app.rest('GET', path(theirs), { token: who(ours).token })),
});
const owner = ({ people }: Market) => people.owner;
const stranger = ({ people }: Market) => people.stranger;
const bidder = ({ people }: Market) => people.bidder;

const READS: readonly Attack[] = [
  rest(
    'a draft by the unversioned path',
    FORBIDDEN,
    ({ draft }) => `/jobs/${draft.id}`,
    stranger,
    'OWASP API9:2023 (inventory)',
  ),
  rest(
    'another homeowner’s list of jobs',
    FORBIDDEN,
    ({ people }) => `/v1/jobs?homeowner_id=${people.owner.profileId}`,
    owner,
  ),
  rest(
    'the jobs of another contractor',
    FORBIDDEN,
    ({ people }) => `/v1/jobs?contractor_id=${people.awardee.profileId}`,
    stranger,
  ),
  rest(
    'another’s transfers, by a query',
    '403 FORBIDDEN',
    ({ people }) => `/v1/tokens/transactions?user_id=${people.owner.userId}`,
    owner,
  ),
  rest(
    'another’s bids, by a query',
    '400 VALIDATION_FAILED',
    ({ people }) => `/v1/bids?contractor_id=${people.bidder.profileId}`,
    stranger,
  ),
];

/** What a stranger learns about an identifier through `node`. */
const node = (name: string, outcome: string, id: (theirs: Market) => string): Attack => ({
  name,
  source: `${IDOR}, node(id)`,
  outcome,
  run: async ({ app, ours, theirs }) =>
    outcomeOf(
      await app.graphql('query ($id: ID!) { node(id: $id) { id } }', {
        token: ours.people.owner.token,
        variables: { id: id(theirs) },
      }),
    ),
});

const NODES: readonly Attack[] = [
  node('another’s draft', FORBIDDEN, ({ draft }) => draft.id),
  node('another’s open job', FORBIDDEN, ({ open }) => open.id),
  node('another’s disputed job', FORBIDDEN, ({ disputed }) => disputed.id),
  node('a bid on another’s job', FORBIDDEN, ({ open }) => open.bids.bidder ?? ''),
  node('another’s transfer', FORBIDDEN, ({ ids }) => ids.transfer),
  node('another’s hold', FORBIDDEN, ({ ids }) => ids.hold),
  node('an event of another’s job', FORBIDDEN, ({ ids }) => ids.event),
  node('another’s session', FORBIDDEN, ({ ids }) => ids.session),
  node('another’s refresh token', NOT_FOUND, ({ people }) => people.owner.refreshToken),
  ...(['user', 'homeowner', 'contractor', 'job', 'bid', 'hold', 'session', 'event', 'transfer'] satisfies IdKind[]).map(
    (kind) => node(`a ${kind} that nobody has`, NOT_FOUND, () => newId(kind)),
  ),
];

/** The rightful reader can read all of these fields, and the attacker only the outcome. */
const shown = (
  name: string,
  fields: string,
  query: (ground: Ground, fields: string) => string,
  reader: (theirs: Market) => Person,
  attacker: (ground: Ground) => Person,
  find: (data: Json) => unknown,
): Attack => ({
  name,
  source: EXPOSURE,
  outcome: 'nothing',
  run: async (ground) => {
    const readBy = async ({ token }: Person) => {
      const { data } = await ground.app.graphql(query(ground, fields), { token });
      const found = Object.entries((find(data) ?? {}) as object);
      return found.flatMap(([key, value]) => (value === null ? [] : [key])).join(' ');
    };
    expect(await readBy(reader(ground.theirs))).toBe(fields);
    return (await readBy(attacker(ground))) || 'nothing';
  },
});

const PRIVATE_OF_JOB = 'addressLine1 addressLine2 zipCode latitude longitude';

const NESTED: readonly Attack[] = [
  shown(
    'another’s email and phone, by node',
    'email phone',
    ({ theirs }, fields) => `{ node(id: "${theirs.people.owner.userId}") { ... on User { ${fields} } } }`,
    owner,
    ({ ours }) => ours.people.owner,
    ({ node }) => node,
  ),
  shown(
    'another’s address, by node',
    'addressLine1 addressLine2 zipCode',
    ({ theirs }, fields) => `{ node(id: "${theirs.people.owner.profileId}") { ... on Homeowner { ${fields} } } }`,
    owner,
    ({ ours }) => ours.people.owner,
    ({ node }) => node,
  ),
  shown(
    'a contractor’s licence, by node',
    'licenseNumber insurancePolicyNumber',
    ({ theirs }, fields) => `{ node(id: "${theirs.people.bidder.profileId}") { ... on Contractor { ${fields} } } }`,
    owner,
    ({ ours }) => ours.people.owner,
    ({ node }) => node,
  ),
  shown(
    'a contractor’s email through the profile',
    'email phone',
    ({ theirs }, fields) => `{ contractor(id: "${theirs.people.bidder.profileId}") { user { ${fields} } } }`,
    bidder,
    ({ ours }) => ours.people.owner,
    ({ contractor }) => contractor.user,
  ),
  shown(
    'an open job’s address, read by a contractor',
    PRIVATE_OF_JOB,
    ({ theirs }, fields) => `{ job(id: "${theirs.open.id}") { ${fields} } }`,
    owner,
    ({ ours }) => ours.people.stranger,
    ({ job }) => job,
  ),
  shown(
    'an open job’s address, read by a bidder',
    PRIVATE_OF_JOB,
    ({ theirs }, fields) => `{ job(id: "${theirs.open.id}") { ${fields} } }`,
    owner,
    ({ theirs }) => theirs.people.bidder,
    ({ job }) => job,
  ),
  shown(
    'the owner’s email through an open job',
    'email phone',
    ({ theirs }, fields) => `{ job(id: "${theirs.open.id}") { homeowner { user { ${fields} } } } }`,
    owner,
    ({ ours }) => ours.people.stranger,
    ({ job }) => job.homeowner.user,
  ),
  shown(
    'the owner’s address through an open job',
    'addressLine1 addressLine2 zipCode',
    ({ theirs }, fields) => `{ job(id: "${theirs.open.id}") { homeowner { ${fields} } } }`,
    owner,
    ({ ours }) => ours.people.stranger,
    ({ job }) => job.homeowner,
  ),
  shown(
    'the winner’s bid, read by the loser',
    'id amount message',
    ({ theirs }, fields) => `{ job(id: "${theirs.disputed.id}") { awardedBid { ${fields} } } }`,
    owner,
    ({ theirs }) => theirs.people.bidder,
    ({ job }) => job.awardedBid,
  ),
];

const asUser = (name: string, outcome: string, run: Attack['run'], source = FUNCTIONS): Attack => ({
  name,
  source,
  outcome,
  run,
});

const FUNCTION_LEVEL: readonly Attack[] = [
  asUser('the mark of the verified for oneself', FORBIDDEN, ({ app, ours: { people } }) =>
    alike([
      app.rest('POST', `/v1/contractors/${people.stranger.profileId}/verify`, { token: people.stranger.token }),
      app.graphql(`mutation { verifyContractor(id: "${people.stranger.profileId}") { contractor { id } } }`, {
        token: people.stranger.token,
      }),
    ]),
  ),
  asUser('the mark of the verified taken from a rival', FORBIDDEN, ({ app, ours: { people } }) =>
    alike([
      app.rest('POST', `/v1/contractors/${people.awardee.profileId}/unverify`, {
        token: people.stranger.token,
        body: { reason: 'A rival.' },
      }),
      app.graphql(
        `mutation { unverifyContractor(id: "${people.awardee.profileId}", input: { reason: "A rival." }) ` +
          `{ contractor { id } } }`,
        { token: people.stranger.token },
      ),
    ]),
  ),
  asUser('a rival suspended', FORBIDDEN, ({ app, ours: { people } }) =>
    alike([
      app.rest('POST', `/v1/users/${people.awardee.userId}/suspend`, {
        token: people.stranger.token,
        body: { reason: 'A rival.' },
      }),
      app.graphql(
        `mutation { suspendUser(id: "${people.awardee.userId}", input: { reason: "A rival." }) { user { id } } }`,
        { token: people.stranger.token },
      ),
    ]),
  ),
  asUser('a job posted by a contractor', FORBIDDEN, async ({ app, ours }) =>
    outcomeOf(await callRest(app, 'create', { by: ours.people.stranger, body: { title: 'T', description: 'D' } })),
  ),
  asUser(
    'the award to a bid of another job',
    '400 UNKNOWN_BID',
    ({ app, ours, theirs }) => {
      const asked = { by: ours.people.owner, job: ours.open.id, body: { bid_id: theirs.open.bids.bidder } };
      return alike([callRest(app, 'award', asked), callGraphql(app, 'award', asked)]);
    },
    IDOR,
  ),
  asUser(
    'the award to a hold',
    '400 VALIDATION_FAILED',
    async ({ app, ours, theirs }) =>
      outcomeOf(
        await callRest(app, 'award', { by: ours.people.owner, job: ours.open.id, body: { bid_id: theirs.ids.hold } }),
      ),
    IDOR,
  ),
  asUser('another method by a header', FORBIDDEN, async ({ app, ours, theirs }) =>
    outcomeOf(
      await app.rest('GET', `/v1/jobs/${theirs.draft.id}`, {
        token: ours.people.owner.token,
        headers: { 'x-http-method-override': 'DELETE', 'x-original-url': '/v1/me', 'x-rewrite-url': '/v1/me' },
      }),
    ),
  ),
  asUser(
    'both sides of an agreement, in one’s own words',
    '200 disputed',
    async ({ app, theirs: { people, disputed } }) => {
      await callRest(app, 'resolveDispute', {
        by: people.owner,
        job: disputed.id,
        body: { resolution: 'All is mine.', agreed_by: people.awardee.userId },
      });
      const { status, body } = await callRest(app, 'resolveDispute', {
        by: people.owner,
        job: disputed.id,
        body: { resolution: 'All is mine.', agreed_by: 'both' },
      });
      return `${status} ${body.status}`;
    },
    'OWASP API6:2023 (business flows)',
  ),
];

export const STRANGER_ATTACKS: readonly Attack[] = [...BIDS_BY_PATH, ...READS, ...NODES, ...NESTED, ...FUNCTION_LEVEL];
