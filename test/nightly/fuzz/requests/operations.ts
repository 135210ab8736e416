/**
 * Every operation in the OpenAPI document, with everything a call needs to succeed: the caller, the job, and the body.
 */
import { BID_ACTIONS, type BidAction } from '../../../../src/market/rules/bids.js';
import { JOB_ACTIONS, type JobAction, type AllowedActor } from '../../../../src/market/rules/lifecycle.js';
import { extenderOf } from '../../../../src/market/rules/jobs/deadlines.js';
import type { JobState } from '../../../../src/market/rules/states.js';
import { OWN_APP } from '../../../market/operations/purchases/buyer.js';
import { document } from '../../../story/documented.js';
import { EDITABLE, OPERATIONS_ON_JOBS } from '../../../story/specified.js';
import type { Json } from '../../../setup/app.js';
import { laterDeadline, type GivenJob } from '../../../story/journey.js';
import type { Dice } from '../../../setup/random/dice.js';
import { EVERYBODY, NO_RECEIVER, SEARCH_FILTER, type Stock, type Who } from './stock.js';
import { validValue, type Known } from './valid-values.js';

export interface Documented {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Json[];
  readonly bodySchema: Json | undefined;
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

export const DOCUMENTED: readonly Documented[] = Object.entries<Json>(document().paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({
    id: item[method].operationId,
    method: method.toUpperCase(),
    path,
    parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])],
    bodySchema: item[method].requestBody?.content['application/json'].schema,
  })),
);

const BY_ID = new Map(DOCUMENTED.map((one) => [one.id, one]));

export function documented(id: string): Documented {
  const found = BY_ID.get(id);
  if (!found) throw new Error(`The OpenAPI document has no operation ${id}.`);
  return found;
}

/** The inputs of one call: a token, path parameters, and a body. */
export interface Prepared {
  readonly token: string | undefined;
  readonly path: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown> | undefined;
  readonly query: Known;
}

export function prepare({ id, bodySchema }: Documented, stock: Stock, dice: Dice): Prepared {
  const { who, job, bid, known = {}, query = {}, ...rest } = (NEEDS[id] ?? anyoneAtAll)(stock, dice);
  const token = 'token' in rest ? rest.token : who && stock.token(who);
  const body = bodySchema && (validValue(bodySchema, '', dice, known) as Record<string, unknown>);
  return { token, path: { id: rest.id ?? job?.id ?? '', bid_id: bid ?? '' }, body: rest.trim?.(body) ?? body, query };
}

interface Need {
  readonly who?: Who;
  /** Replaces `who`: a separate session's token, or none. */
  readonly token?: string | undefined;
  readonly job?: GivenJob;
  readonly id?: string;
  readonly bid?: string;
  readonly known?: Known;
  readonly query?: Known;
  /** Reduces the body to the fields that may be sent. */
  trim?(body: Record<string, unknown> | undefined): Record<string, unknown>;
}

type NeedOf = (stock: Stock, dice: Dice) => Need;

const anyoneAtAll: NeedOf = (_stock, dice) => ({ who: dice.pick(EVERYBODY) });
const admin: NeedOf = () => ({ who: 'admin' });

const WHO: Readonly<Record<AllowedActor, readonly Who[]>> = {
  owner: ['owner'],
  awardee: ['awardee'],
  parties: ['owner', 'awardee'],
  bidder: ['bidder'],
  contractor: ['stranger'],
  admin: ['admin'],
  extender: ['owner', 'admin'],
};

const onJob =
  (row: JobAction): NeedOf =>
  (stock, dice) => {
    const job = stock.take(dice.pick(row.from), dice);
    return { who: dice.pick(WHO[row.actor]), job, known: { bid_id: job.bids.awardee, expected_bid_version: null } };
  };

const onBid =
  (row: BidAction): NeedOf =>
  (stock, dice) => {
    const job = stock.take('open', dice);
    return { who: dice.pick(WHO[row.actor]), job, bid: job.bids.bidder ?? '' };
  };

/** Callers who can see every job in the stock, in any state. */
const lookingAt =
  (...states: JobState[]): NeedOf =>
  (stock, dice) => ({
    who: dice.pick(['owner', 'admin'] as const),
    job: states.length > 0 ? stock.take(dice.pick(states), dice) : stock.any(dice),
  });

const lookingAtBid: NeedOf = ({ stakedBid }, dice) => ({ who: dice.pick(['bidder', 'admin']), id: stakedBid });

const workOfContractor: NeedOf = ({ people }, dice) => ({
  who: dice.pick(['awardee', 'admin'] as const),
  id: people.awardee.profileId,
});

const newUser: NeedOf = (stock, dice) => ({
  token: undefined,
  known: {
    email: `n${stock.unheard()}@example.test`,
    password: 'a password of mine',
    referral_code: dice.percent(30) ? stock.people.owner.referralCode : null,
  },
});

const OF_WEBHOOK = ['webhookEndpoint', 'webhookDeliveries', 'sendTestEvent', 'rotateWebhookSecret'];

const ownWebhook: NeedOf = (stock, dice) => {
  const { token, webhookId } = stock.lend(dice);
  return { token, id: webhookId };
};

const NEEDS: Readonly<Record<string, NeedOf>> = {
  ...Object.fromEntries(Object.values<JobAction>(JOB_ACTIONS).map((row) => [row.operation, onJob(row)])),
  ...Object.fromEntries(Object.values<BidAction>(BID_ACTIONS).map((row) => [row.operation, onBid(row)])),
  acceptResolution: (stock, dice) => {
    const job = stock.take('disputed', dice);
    return { who: 'owner', job, known: { proposal_id: job.proposal?.id } };
  },
  extendDeadline: (stock, dice) => {
    const state = dice.pick(JOB_ACTIONS.extendDeadline.from);
    const job = stock.take(state, dice);
    return { who: extenderOf(state), job, known: { until: laterDeadline(job) } };
  },
  // Jobs that become due move on, so a large step would use up the stock.
  advanceClock: (_stock, dice) => ({ who: 'admin', known: { seconds: dice.int(0, 600) } }),
  signUpHomeowner: newUser,
  signUpContractor: newUser,
  logIn: ({ people }, dice) => {
    const { email, password } = people[dice.pick(EVERYBODY)];
    return { token: undefined, known: { email, password } };
  },
  refreshSession: (stock, dice) => ({ token: undefined, known: { refresh_token: stock.spare(dice).refreshToken } }),
  logOut: (stock, dice) => ({ token: stock.spare(dice).token }),
  changePassword: (stock, dice) => {
    const { token, password } = stock.spare(dice);
    return { token, known: { current_password: password, new_password: 'another password' } };
  },
  requestPasswordReset: (stock, dice) => ({ token: undefined, known: { email: stock.lend(dice).email } }),
  resetPassword: (stock, dice) => ({
    token: undefined,
    known: { token: stock.spare(dice).links.password_reset, new_password: 'another password' },
  }),
  requestEmailVerification: (stock, dice) => ({ token: stock.lend(dice).token }),
  verifyEmail: (stock, dice) => ({ token: undefined, known: { token: stock.spare(dice).links.email_change } }),
  changeEmail: (stock, dice) => {
    const { token, password } = stock.lend(dice);
    return { token, known: { email: `${stock.unheard()}@example.test`, current_password: password } };
  },
  undoEmailChange: (stock, dice) => ({ token: undefined, known: { token: stock.spare(dice).links.email_changed } }),
  createApiKey: (stock, dice) => ({ token: stock.spare(dice).token }),
  apiKey: (stock, dice) => {
    const { token, apiKeyId } = stock.lend(dice);
    return { token, id: apiKeyId };
  },
  sessions: (stock, dice) => ({ token: stock.lend(dice).token }),
  session: (stock, dice) => {
    const { token, sessionId } = stock.lend(dice);
    return { token, id: sessionId };
  },
  endSession: (stock, dice) => {
    const { token, sessionId } = stock.spare(dice);
    return { token, id: sessionId };
  },
  endOtherSessions: (stock, dice) => ({ token: stock.spare(dice).token }),
  revokeApiKey: (stock, dice) => {
    const { token, apiKeyId } = stock.spare(dice);
    return { token, id: apiKeyId };
  },
  createWebhookEndpoint: (stock, dice) => ({ token: stock.spare(dice).token, known: { url: NO_RECEIVER } }),
  updateWebhookEndpoint: (stock, dice) => ({
    ...ownWebhook(stock, dice),
    known: { url: NO_RECEIVER },
    trim: (body) => pickFields(body, ['url', 'event_types', 'status']),
  }),
  ...Object.fromEntries(OF_WEBHOOK.map((id) => [id, ownWebhook])),
  deleteWebhookEndpoint: (stock, dice) => {
    const { token, webhookId } = stock.spare(dice);
    return { token, id: webhookId };
  },
  replayEvents: (stock, dice) => ({
    ...ownWebhook(stock, dice),
    known: { after: '0' },
    trim: (body) => pickFields(body, ['after']),
  }),
  redeliver: (stock, dice) => {
    const { token, deliveryId } = stock.lend(dice);
    return { token, id: deliveryId };
  },
  updateProfile: (_stock, dice) => {
    const who = dice.pick(['owner', 'other', 'awardee', 'bidder', 'stranger'] as const);
    const mine = who === 'owner' || who === 'other' ? 'homeowner' : 'contractor';
    return { who, trim: (body) => pickFields(body, ['user', mine]) };
  },
  contractor: ({ people }, dice) => ({
    who: dice.pick(EVERYBODY),
    id: people[dice.pick(['awardee', 'bidder', 'stranger'] as const)].profileId,
  }),
  contractorJobs: workOfContractor,
  contractorBids: workOfContractor,
  contractorReviews: ({ people }, dice) => ({
    who: dice.pick(EVERYBODY),
    id: people[dice.pick(['awardee', 'bidder', 'stranger'] as const)].profileId,
  }),
  user: ({ people }, dice) => ({ who: 'admin', id: people[dice.pick(EVERYBODY)].userId }),
  homeowner: ({ people }) => ({ who: 'owner', id: people.owner.profileId }),
  bid: lookingAtBid,
  bidActions: lookingAtBid,
  bidRevisions: lookingAtBid,
  hold: lookingAtBid,
  tokenTransfer: ({ transfer }) => ({ who: 'bidder', id: transfer }),
  verifyContractor: ({ people }, dice) => ({
    who: 'admin',
    id: people[dice.pick(['awardee', 'bidder', 'stranger'] as const)].profileId,
  }),
  suspendUser: (stock, dice) => ({ who: 'admin', id: stock.spare(dice).userId, known: { until: null } }),
  restoreUser: (stock, dice) => ({ who: 'admin', id: stock.lend(dice).userId }),
  endUserSessions: (stock, dice) => ({ who: 'admin', id: stock.spare(dice).userId }),
  resendEmailVerification: ({ people }, dice) => ({ who: 'admin', id: people[dice.pick(EVERYBODY)].userId }),
  tokenTransfers: admin,
  adminActions: admin,
  adminAction: (stock) => ({ who: 'admin', id: stock.adminActionId }),
  unverifyContractor: ({ people }, dice) => ({
    who: 'admin',
    id: people[dice.pick(['awardee', 'bidder', 'stranger'] as const)].profileId,
  }),
  settleEmailUndo: (stock, dice) => ({
    who: 'admin',
    id: stock.disputedAccount(dice),
    known: { keep: dice.pick(['current', 'former']), reason: 'The stronger proof.' },
  }),
  sendPasswordReset: ({ people }, dice) => ({ who: 'admin', id: people[dice.pick(EVERYBODY)].userId }),
  adjustTokens: ({ people }, dice) => ({
    who: 'admin',
    known: { user_id: people[dice.pick(['other', 'stranger'] as const)].userId, amount: dice.int(1, 20) },
  }),
  createJob: () => ({ who: 'owner' }),
  updateJob: (stock, dice) => {
    const state = dice.pick(OPERATIONS_ON_JOBS.update.from);
    return {
      who: 'owner',
      job: stock.take(state, dice),
      trim: (body) =>
        EDITABLE[state] === 'all'
          ? (body ?? {})
          : pickFields(body, EDITABLE[state]?.includes('title') ? ['title', 'requirements'] : ['requirements']),
    };
  },
  submitBid: (stock, dice) => ({
    who: 'stranger',
    job: stock.take('open', dice),
    known: { amount: dice.int(1, 1_000_000) / 100 },
  }),
  ownBids: (_stock, dice) => ({ who: dice.pick(['awardee', 'bidder', 'stranger'] as const) }),
  jobs: (stock, dice) =>
    dice.percent(30)
      ? { who: 'admin', query: { homeowner_id: stock.people.owner.profileId } }
      : { who: dice.pick(EVERYBODY) },
  job: lookingAt(),
  jobActions: lookingAt(),
  jobEvents: lookingAt(),
  jobUpcoming: lookingAt(),
  bids: lookingAt(),
  dispute: lookingAt('disputed', 'escalated', 'decision_reached', 'appealed'),
  auditTokens: admin,
  users: admin,
  markNotificationsRead: (_stock, dice) => ({ who: dice.pick(EVERYBODY), known: { up_to: String(dice.int(0, 20)) } }),
  createSavedSearch: (_stock, dice) => ({ who: dice.pick(['awardee', 'bidder']), known: { filter: SEARCH_FILTER } }),
  savedSearch: (stock, dice) => ({ who: 'stranger', id: stock.lendSearch(dice) }),
  updateSavedSearch: (stock, dice) => ({
    who: 'stranger',
    id: stock.lendSearch(dice),
    known: { filter: SEARCH_FILTER },
    trim: (body) => pickFields(body, ['name', 'filter', 'alert']),
  }),
  deleteSavedSearch: (stock, dice) => ({ who: 'stranger', id: stock.takeSearch(dice) }),
  buyTokens: (_stock, dice) => ({
    who: dice.pick(['owner', 'other']),
    known: { pack: 'small', return_url: OWN_APP.CORS_ORIGINS },
  }),
  purchase: (stock, dice) => ({ who: dice.pick(['other', 'admin']), id: stock.purchase(dice) ?? '' }),
  refundPurchase: (stock, dice) => ({ who: 'admin', id: stock.purchase(dice) ?? '', known: { tokens: 1 } }),
};

function pickFields(body: Record<string, unknown> | undefined, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => names.includes(name)));
}
