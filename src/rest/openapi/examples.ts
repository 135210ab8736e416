/** Examples of every request and response: Hanna's sink, which Carl repairs. */
import { OPERATIONS, type OperationName } from '../../market/operations/index.js';
import type { Operation } from '../../platform/call/operation.js';
import { BID_TRANSITIONS, OTHER_BID_ACTIONS, type BidOperationName } from '../../market/rules/bids.js';
import { BID } from '../../market/rules/entities/bid.js';
import { JOB } from '../../market/rules/entities/job.js';
import { CONTRACTOR } from '../../market/rules/entities/people.js';
import { TOKEN_TRANSFER } from '../../market/rules/entities/tokens.js';
import type { Entity } from '../../platform/fields/entity.js';
import { REFUSALS, type ErrorCode } from '../../market/rules/errors.js';
import { JOB_TRANSITIONS, OTHER_JOB_ACTIONS, type JobOperationName } from '../../market/rules/lifecycle.js';
import { AWARDED_JOB_STATES, INITIAL_JOB_STATE, type JobState } from '../../market/rules/states.js';
import { exampleId } from '../../market/rules/id-fields.js';
import { CONFIRMATION, pageOf, PROBLEM, PUBLICATION, JOB_WITH_WARNINGS, type ErrorDetails } from '../bodies.js';
import { exampleInput, exampleOf } from '../../platform/openapi/answer-schema.js';
import { isList, rowOf, type Route, type Variants } from '../../platform/openapi/route.js';
import { toWire } from '../../platform/openapi/wire.js';

type Operations = typeof OPERATIONS;
type InputOf<O> = O extends Operation<infer Input, infer _Output> ? Input : never;

const PERSON = {
  email: 'hanna@example.com',
  password: 'correct horse battery',
  firstName: 'Hanna',
  lastName: 'Hill',
  phone: '+1 512 555 0100',
};

const LINK_TOKEN = 'q6iJcQh0wVtZ0m3m1yB5l0dVv8mCw1rJq0k2ZxT4u7E';

type Examples = { readonly [Key in keyof Operations]?: Partial<InputOf<Operations[Key]>> | null };

/** Example inputs in camelCase. Null for operations on jobs and bids without a body. */
const REQUESTS: Examples & Readonly<Record<JobOperationName | BidOperationName, object | null>> = {
  signUpHomeowner: { ...PERSON, referralCode: null },
  signUpContractor: {
    email: 'carl@example.com',
    password: 'staple battery horse',
    firstName: 'Carl',
    lastName: 'Carver',
    companyName: 'Carl’s Pipes LLC',
  },
  logIn: { email: PERSON.email, password: PERSON.password },
  refreshSession: { refreshToken: exampleId('refreshToken') },
  changePassword: { currentPassword: PERSON.password, newPassword: 'staple horse correct' },
  requestPasswordReset: { email: PERSON.email },
  resetPassword: { token: LINK_TOKEN, newPassword: 'staple horse correct' },
  verifyEmail: { token: LINK_TOKEN },
  changeEmail: { email: 'hanna.hill@example.com', currentPassword: PERSON.password },
  undoEmailChange: { token: LINK_TOKEN },
  settleEmailUndo: { keep: 'former', reason: 'Knows the account’s first jobs.' },
  createApiKey: { name: 'Nightly export', expiresAt: null, access: 'read' },
  updateProfile: {
    user: { phone: '+1 512 555 0111' },
    homeowner: { addressLine1: '1200 Barton Springs Road', city: 'Austin', state: 'TX', zipCode: '78704' },
  },
  verifyContractor: { reason: 'The license is on file.' },
  unverifyContractor: { reason: 'The license expired in June.' },
  endUserSessions: { reason: 'Their phone was stolen.' },
  suspendUser: { reason: 'Asked to be paid outside the marketplace.', until: null },
  restoreUser: { reason: 'Apologized, and promised to stop.' },
  buyTokens: { pack: 'small', returnUrl: 'https://app.example.com/tokens' },
  refundPurchase: { tokens: 20, reason: 'The job was posted twice.' },
  adjustTokens: { userId: exampleId('user'), amount: 10, reason: 'Sorry for the trouble.', externalReference: null },

  createJob: exampleInput(JOB),
  deleteJob: null,
  publishJob: null,
  updateJob: { budgetMax: 450, desiredCompletionDate: '2026-03-27' },
  cancelJob: { reason: 'It was only the washer.' },
  awardJob: { bidId: exampleId('bid') },
  declineAward: { reason: 'My van broke down.' },
  reopenJob: { reason: 'He can’t come before June.' },
  extendDeadline: { until: new Date('2026-03-27T12:00:00.000Z'), reason: 'I’m away until Monday.' },
  advanceClock: { seconds: 86_400 },
  checkInJob: { notes: 'On site, water is off.' },
  submitJobForReview: { completionNotes: 'New faucet, new joint, no drip.' },
  approveJob: { rating: 5, review: 'On time and tidy.' },
  requestChanges: { reason: 'It’s almost done.', items: ['Seal the joint below the sink.', 'Remove the old faucet.'] },
  disputeJob: { reason: 'The sink still drips.', details: 'A bucket fills in two hours.' },
  resolveDispute: { resolution: 'The contractor refunds 10% of the price.' },
  acceptResolution: { proposalId: exampleId('proposal') },
  escalateJob: { escalationReason: 'We can’t agree.' },
  reachDecision: {
    decision: 'The contractor redoes the work.',
    ruling: 'The joint was not sealed.',
    resolutionTerms: 'Carl returns within a week.',
  },
  acceptDecision: null,
  fileAppeal: { appealReason: 'The faucet was faulty.', supportingEvidence: 'The manufacturer has recalled it.' },
  finalizeAppeal: { finalDecision: 'The decision stands.', ruling: 'The recall came later.' },
  reviewJob: { rating: 5, review: 'On time and tidy.' },
  completeJob: { reason: 'Both parties asked for it by telephone.' },

  submitBid: exampleInput(BID),
  reviseBid: { amount: 290, message: 'I can reuse the old pipe.' },
  viewBid: null,
  shortlistBid: null,
  rejectBid: null,
  withdrawBid: null,

  createWebhookEndpoint: {
    url: 'https://hooks.example.com/jobs',
    eventTypes: ['bid.submitted', 'job.completed'],
    accountEventTypes: ['webhook.failing'],
  },
  updateWebhookEndpoint: { status: 'paused' },
  replayEvents: { after: '4698', until: '4711' },

  createSavedSearch: {
    name: 'Plumbing in Austin',
    filter: { categories: ['plumbing'], budgetMin: 500, near: { zipCode: '78704', withinMiles: 25 } },
    alert: 'now',
  },
  updateSavedSearch: { alert: 'daily' },

  markNotificationsRead: { upTo: '4711' },
  updateNotificationSettings: { settings: [{ type: 'bid.submitted', channel: 'daily' }] },
};

const REQUEST_OF = new Map<Operation<unknown, unknown>, object | null>(
  Object.entries(REQUESTS).map(([name, example]) => [OPERATIONS[name as OperationName], example]),
);

export function requestExample({ operation }: Route): unknown {
  return toWire(REQUEST_OF.get(operation) ?? undefined);
}

/** The object that this call returns, as it is right after the call. */
export function answerExample(route: Route): unknown {
  if (isList(route)) return exampleOf(pageOf(rowOf(route)));
  const { name } = route.operation;
  const { shows } = route;
  if (shows === JOB_WITH_WARNINGS) return jobIn(stateAfter(name));
  if (shows === PUBLICATION) return merge(exampleOf(PUBLICATION), { job: jobIn('open') });
  if (shows === BID)
    return merge(exampleOf(BID), {
      status: Object.values(BID_TRANSITIONS).find(({ operation }) => operation === name)?.to ?? 'pending',
      ...(name === OTHER_BID_ACTIONS.revise.operation && { version: 2 }),
    });
  if (shows === CONFIRMATION) return route.write(undefined);
  if (name === 'unverifyContractor') return merge(exampleOf(CONTRACTOR), { verified: false });
  if (name === 'adjustTokens')
    return merge(exampleOf(TOKEN_TRANSFER), {
      reason: 'adjustment',
      actor_id: exampleId('user'),
      note: 'Sorry for the trouble.',
    });
  return exampleOf('variants' in shows ? firstOf(shows) : shows);
}

function firstOf({ name, variants: [first] }: Variants): Entity {
  if (!first) throw new Error(`${name} has no variants.`);
  return first;
}

function stateAfter(operation: string): JobState {
  if (operation === 'createJob') return INITIAL_JOB_STATE;
  if (operation === OTHER_JOB_ACTIONS.review.operation) return 'completed';
  return Object.values(JOB_TRANSITIONS).find((row) => row.operation === operation)?.to ?? 'open';
}

/** A job in this state. A job may end before its award, but the completed example has an awarded bid. */
function jobIn(status: JobState): object {
  const awardedBidId = AWARDED_JOB_STATES.includes(status) || status === 'completed' ? exampleId('bid') : null;
  return merge(exampleOf(JOB_WITH_WARNINGS), {
    status,
    awarded_bid_id: awardedBidId,
    version: status === INITIAL_JOB_STATE ? 1 : 3,
  });
}

function merge(example: unknown, more: object): object {
  return { ...(example as object), ...more };
}

/** The keys that only this error code's refusals have. */
const DETAILS: { readonly [Code in ErrorCode]?: Omit<ErrorDetails, 'code' | 'requestId'> } = {
  VALIDATION_FAILED: { fields: { title: 'is required' } },
  MISSING_FIELDS: { fields: { category: 'is required to publish' } },
  INVALID_TRANSITION: { fromState: 'draft', allowedOperations: ['publishJob', 'updateJob', 'deleteJob'] },
  BUDGET_DECREASE_TOO_LARGE: { fields: { budget_max: 'must be at least 360.45' } },
  URGENCY_LOCKED: { fields: { urgency: 'must not be lower than urgent' } },
  COMPLETION_DATE_SHIFT_TOO_LARGE: { fields: { desired_completion_date: 'must be within 30 days of 2026-03-20' } },
  INSUFFICIENT_TOKENS: { required: 30, available: 5, pack: 'small' },
  UNKNOWN_BID: { fields: { bid_id: 'can’t be awarded' } },
  EMAIL_TAKEN: { fields: { email: 'already belongs to an account' } },
  UNKNOWN_REFERRAL_CODE: { fields: { referral_code: 'doesn’t belong to any account' } },
  UNAUTHENTICATED: { reason: 'missing' },
  INVALID_CREDENTIALS: { reason: 'wrong_credentials' },
  INVALID_REFRESH_TOKEN: { reason: 'invalid' },
  METHOD_NOT_ALLOWED: { allowedMethods: ['GET', 'HEAD'] },
  RATE_LIMITED: { retryAfter: 12, limit: 'write' },
  STALE_VERSION: { expectedVersion: 3, version: 4 },
  PAYMENTS_UNAVAILABLE: { retryAfter: 5 },
  OVERLOADED: { retryAfter: 1 },
};

export function refusalExample(code: ErrorCode): object {
  const [status, error] = REFUSALS[code];
  const { details } = exampleOf(PROBLEM);
  const blocked_fields = code === 'FIELD_NOT_EDITABLE' ? ['category'] : [];
  return { status, error, details: merge(merge(details, { code }), toWire(DETAILS[code]) ?? {}), blocked_fields };
}
