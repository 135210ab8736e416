/** All REST routes, in the order of the documentation. */
import {
  endOtherSessions,
  endSession,
  listSessions,
  readSession,
} from '../market/operations/sessions/active-sessions.js';
import { listAdminActions, readAdminAction } from '../market/operations/admins/admin-actions.js';
import { createApiKey, listApiKeys, readApiKey, revokeApiKey } from '../market/operations/sessions/api-keys.js';
import { changePassword } from '../market/operations/accounts/change-password.js';
import {
  changeEmail,
  requestEmailVerification,
  resendEmailVerification,
  verifyEmail,
} from '../market/operations/accounts/email.js';
import { settleEmailUndo, undoEmailChange } from '../market/operations/accounts/email-undo.js';
import {
  requestPasswordReset,
  resetPassword,
  sendPasswordReset,
} from '../market/operations/accounts/password-reset.js';
import { listContractorBids, listContractorJobs } from '../market/operations/people/contractor-work.js';
import {
  listContractors,
  readContractor,
  unverifyContractor,
  verifyContractor,
} from '../market/operations/people/contractors.js';
import { logIn, logOut, refreshSession } from '../market/operations/sessions/log-in.js';
import { readMe, updateProfile } from '../market/operations/accounts/me.js';
import { listReviews } from '../market/operations/people/reviews.js';
import { signUpContractor, signUpHomeowner } from '../market/operations/accounts/sign-up.js';
import { endUserSessions, restoreUser, suspendUser } from '../market/operations/admins/suspension.js';
import { listUsers, readHomeowner, readUser } from '../market/operations/people/users.js';
import { listBids, listOwnBids, readBid, readHold } from '../market/operations/bids/read.js';
import { submitBid } from '../market/operations/bids/submit.js';
import { rejectBid, shortlistBid, viewBid, withdrawBid } from '../market/operations/bids/transition.js';
import type { Caller } from '../market/operations/operation.js';
import { countOwnJobs, readBidActions, readJobActions } from '../market/operations/jobs/actions.js';
import { createJob, deleteJob, updateJob } from '../market/operations/jobs/edit.js';
import { listOwnEvents } from '../market/operations/events/events.js';
import { listEvents, listJobs, readDispute, readJob } from '../market/operations/jobs/read.js';
import type { ReadableJob } from '../market/operations/jobs/visible-job.js';
import { reviewJob } from '../market/operations/jobs/review.js';
import {
  acceptDecision,
  acceptResolution,
  approveJob,
  awardJob,
  cancelJob,
  checkInJob,
  completeJob,
  disputeJob,
  escalateJob,
  fileAppeal,
  finalizeAppeal,
  publishJob,
  reachDecision,
  resolveDispute,
  submitJobForReview,
} from '../market/operations/jobs/transitions.js';
import { readWarnings } from '../market/operations/jobs/warnings.js';
import { readCatalog, readLifecycle } from '../market/operations/reference.js';
import {
  adjustTokens,
  auditTokens,
  findTransfers,
  listTransfers,
  readTokens,
  readTransfer,
} from '../market/operations/tokens/tokens.js';
import { listWebhookDeliveries, redeliver, sendTestEvent } from '../market/operations/webhooks/deliveries.js';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from '../market/operations/webhooks/endpoints.js';
import type { BidOperationName } from '../market/rules/bids.js';
import { ADMIN_ACTION } from '../market/rules/entities/admin-action.js';
import { API_KEY, NEW_API_KEY } from '../market/rules/entities/api-key.js';
import { ACTIVE_SESSION } from '../market/rules/entities/session.js';
import { BID, HOLD } from '../market/rules/entities/bid.js';
import { DISPUTE } from '../market/rules/entities/dispute.js';
import { JOB_EVENT } from '../market/rules/entities/event.js';
import { CATALOG } from '../market/rules/entities/reference.js';
import { CONTRACTOR } from '../market/rules/entities/people.js';
import { REVIEW } from '../market/rules/entities/review.js';
import type { JobOperationName } from '../market/rules/lifecycle.js';
import { TOKEN_AUDIT, TOKEN_BALANCE, TOKEN_TRANSFER } from '../market/rules/entities/tokens.js';
import { NEW_WEBHOOK, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../market/rules/entities/webhook.js';
import {
  BID_ACTIONS,
  CHANGED_PASSWORD,
  CONFIRMED_EMAIL,
  CONFIRMATION,
  EVENT_LOG,
  JOB_ACTIONS,
  JOB_COUNTS,
  LIFECYCLE_ON_WIRE,
  ME,
  NEW_CONTRACTOR_SESSION,
  NEW_HOMEOWNER_SESSION,
  CONTRACTOR_LIST_ITEM,
  JOB_LIST_ITEM,
  USER_LIST_ITEM,
  PUBLICATION,
  REFRESHED_SESSION,
  PUBLIC_HOMEOWNER,
  PUBLIC_USER,
  SESSION,
  UNDONE_EMAIL_CHANGE,
  SHOWN_JOB,
} from './bodies.js';
import { eventOnWire } from '../market/webhooks/event-body.js';
import {
  actionsOnWire,
  bidActionsOnWire,
  catalogOnWire,
  confirmationBody,
  lifecycleOnWire,
  onlyOwnProfile,
} from './on-wire.js';
import { route, type Route } from '../platform/openapi/route.js';
import { wireName } from '../platform/openapi/wire.js';

/** Names from the API's first examples, which still work. */
const OLD_NAMES = { trade: 'category', priority: 'urgency' };

const UNDO_DONE = 'Your account has this address again. We sent you an email with a link to set a new password.';
const UNDO_PENDING =
  'The account was used after the change, so our support team will decide who keeps it. Contact them and tell them ' +
  'that the account was yours.';

const PAGE_QUERY = ['page', 'perPage', 'after'];

const NEAR_QUERY = ['nearZip', 'nearCity', 'nearState', 'withinMiles'];

const JOBS_QUERY = [
  'orderBy',
  'search',
  'status',
  'statuses',
  'category',
  'urgency',
  'homeownerId',
  'contractorId',
  'updatedSince',
  'statusChangedBefore',
  ...NEAR_QUERY,
];

const ONE_JOB = { shows: SHOWN_JOB, answer: withWarnings };

/** A created resource in the body, for its Location. */
interface Created {
  readonly id: string;
}

/** In the order of the documentation. */
const JOB_ROUTES = {
  updateJob: route('PUT', '/jobs/{id}', updateJob, { aliases: OLD_NAMES, ...ONE_JOB }),
  deleteJob: route('DELETE', '/jobs/{id}', deleteJob, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('The draft was deleted.'),
  }),
  publishJob: route('POST', '/jobs/{id}/publish', publishJob, {
    shows: PUBLICATION,
    answer: async ({ job, ...rest }, caller: Caller) => ({ ...rest, job: await withWarnings(job, caller) }),
  }),
  awardJob: route('POST', '/jobs/{id}/award', awardJob, ONE_JOB),
  checkInJob: route('POST', '/jobs/{id}/checkin', checkInJob, ONE_JOB),
  submitJobForReview: route('POST', '/jobs/{id}/submit-for-review', submitJobForReview, ONE_JOB),
  approveJob: route('POST', '/jobs/{id}/approve', approveJob, ONE_JOB),
  disputeJob: route('POST', '/jobs/{id}/dispute', disputeJob, ONE_JOB),
  escalateJob: route('POST', '/jobs/{id}/escalate', escalateJob, ONE_JOB),
  resolveDispute: route('POST', '/jobs/{id}/resolve-dispute', resolveDispute, ONE_JOB),
  acceptResolution: route('POST', '/jobs/{id}/accept-resolution', acceptResolution, ONE_JOB),
  reachDecision: route('POST', '/jobs/{id}/reach-decision', reachDecision, ONE_JOB),
  acceptDecision: route('POST', '/jobs/{id}/accept-decision', acceptDecision, ONE_JOB),
  fileAppeal: route('POST', '/jobs/{id}/file-appeal', fileAppeal, ONE_JOB),
  finalizeAppeal: route('POST', '/jobs/{id}/finalize-appeal', finalizeAppeal, ONE_JOB),
  completeJob: route('POST', '/jobs/{id}/complete', completeJob, ONE_JOB),
  cancelJob: route('POST', '/jobs/{id}/cancel', cancelJob, ONE_JOB),
  reviewJob: route('POST', '/jobs/{id}/review', reviewJob, ONE_JOB),
} satisfies Readonly<Record<Exclude<JobOperationName, 'submitBid'>, Route>>;

const BID_ROUTES = {
  submitBid: route('POST', '/jobs/{jobId}/bids', submitBid, {
    status: 201,
    location: ({ id }: Created) => `/v1/bids/${id}`,
    shows: BID,
  }),
  viewBid: route('POST', '/jobs/{jobId}/bids/{id}/view', viewBid, { shows: BID }),
  shortlistBid: route('POST', '/jobs/{jobId}/bids/{id}/shortlist', shortlistBid, { shows: BID }),
  rejectBid: route('POST', '/jobs/{jobId}/bids/{id}/reject', rejectBid, { shows: BID }),
  withdrawBid: route('POST', '/jobs/{jobId}/bids/{id}/withdraw', withdrawBid, { shows: BID }),
} satisfies Readonly<Record<BidOperationName | 'submitBid', Route>>;

export const ROUTES: readonly Route[] = [
  route('POST', '/auth/signup/homeowner', signUpHomeowner, {
    status: 201,
    location: ownAccount,
    shows: NEW_HOMEOWNER_SESSION,
  }),
  route('POST', '/auth/signup/contractor', signUpContractor, {
    status: 201,
    location: ownAccount,
    shows: NEW_CONTRACTOR_SESSION,
  }),
  route('POST', '/auth/login', logIn, { shows: SESSION }),
  route('POST', '/auth/refresh', refreshSession, { shows: REFRESHED_SESSION }),
  route('POST', '/auth/logout', logOut, { shows: CONFIRMATION, answer: () => confirmationBody('You’re logged out.') }),
  route('POST', '/auth/password-reset', requestPasswordReset, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('If an account has this address, an email is on its way.'),
  }),
  route('POST', '/auth/password-reset/confirm', resetPassword, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('The password was changed. All sessions and API keys have ended.'),
  }),
  route('POST', '/auth/verify-email', verifyEmail, {
    shows: CONFIRMED_EMAIL,
    answer: ({ email }) => ({ ...confirmationBody(`${email} is confirmed as your account’s email address.`), email }),
  }),
  route('POST', '/auth/undo-email-change', undoEmailChange, {
    shows: UNDONE_EMAIL_CHANGE,
    answer: (undo) => ({ ...confirmationBody(undo.pending ? UNDO_PENDING : UNDO_DONE), ...undo }),
  }),
  route('GET', '/me', readMe, { shows: ME, answer: onlyOwnProfile }),
  route('PUT', '/me', updateProfile, { shows: ME, answer: onlyOwnProfile }),
  route('POST', '/me/password', changePassword, {
    shows: CHANGED_PASSWORD,
    answer: ({ noticeSent }) => ({
      ...confirmationBody('The password was changed. Other sessions and all API keys have ended.'),
      noticeSent,
    }),
  }),
  route('POST', '/me/email', changeEmail, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('We sent a link to the new address. The address changes once the link is opened.'),
  }),
  route('POST', '/me/email/verification', requestEmailVerification, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('Unless the address is already confirmed, an email is on its way.'),
  }),
  route('GET', '/api-keys', listApiKeys, { query: PAGE_QUERY, shows: API_KEY }),
  route('POST', '/api-keys', createApiKey, {
    status: 201,
    location: ({ api_key: key }: { api_key: Created }) => `/v1/api-keys/${key.id}`,
    shows: NEW_API_KEY,
  }),
  route('GET', '/api-keys/{id}', readApiKey, { shows: API_KEY }),
  route('DELETE', '/api-keys/{id}', revokeApiKey, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('The API key is revoked.'),
  }),
  route('GET', '/sessions', listSessions, { query: PAGE_QUERY, shows: ACTIVE_SESSION }),
  route('DELETE', '/sessions', endOtherSessions, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('All other sessions have ended.'),
  }),
  route('GET', '/sessions/{id}', readSession, { shows: ACTIVE_SESSION }),
  route('DELETE', '/sessions/{id}', endSession, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('The session has ended.'),
  }),
  route('GET', '/me/job-counts', countOwnJobs, { shows: JOB_COUNTS }),
  route('GET', '/catalog', readCatalog, { shows: CATALOG, answer: catalogOnWire }),
  route('GET', '/lifecycle', readLifecycle, { shows: LIFECYCLE_ON_WIRE, answer: lifecycleOnWire }),
  route('GET', '/contractors', listContractors, {
    query: [...PAGE_QUERY, 'search', 'specialty', 'serviceArea', 'verified', 'orderBy', ...NEAR_QUERY],
    shows: CONTRACTOR_LIST_ITEM,
  }),
  route('GET', '/contractors/{id}', readContractor, { shows: CONTRACTOR }),
  route('GET', '/contractors/{id}/reviews', listReviews, { query: PAGE_QUERY, shows: REVIEW }),
  route('GET', '/contractors/{id}/jobs', listContractorJobs, { query: PAGE_QUERY, ...ONE_JOB }),
  route('GET', '/contractors/{id}/bids', listContractorBids, { query: PAGE_QUERY, shows: BID }),
  route('POST', '/contractors/{id}/verify', verifyContractor, { shows: CONTRACTOR }),
  route('POST', '/contractors/{id}/unverify', unverifyContractor, { shows: CONTRACTOR }),
  route('GET', '/users', listUsers, {
    query: [
      ...PAGE_QUERY,
      'search',
      'userType',
      'verified',
      'suspended',
      'emailVerified',
      'emailUndeliverable',
      'emailUndo',
    ],
    shows: USER_LIST_ITEM,
  }),
  route('GET', '/users/{id}', readUser, { shows: PUBLIC_USER }),
  route('POST', '/users/{id}/suspend', suspendUser, { shows: PUBLIC_USER }),
  route('POST', '/users/{id}/restore', restoreUser, { shows: PUBLIC_USER }),
  route('POST', '/users/{id}/end-sessions', endUserSessions, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('All of the user’s sessions have ended.'),
  }),
  route('GET', '/admin-actions', listAdminActions, {
    query: [...PAGE_QUERY, 'adminId', 'userId', 'jobId', 'action'],
    shows: ADMIN_ACTION,
  }),
  route('GET', '/admin-actions/{id}', readAdminAction, { shows: ADMIN_ACTION }),
  route('POST', '/users/{id}/password-reset', sendPasswordReset, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('An email is on its way to the user.'),
  }),
  route('POST', '/users/{id}/email-undo', settleEmailUndo, { shows: PUBLIC_USER }),
  route('POST', '/users/{id}/email/verification', resendEmailVerification, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('Unless the address is already confirmed, an email is on its way.'),
  }),
  route('GET', '/homeowners/{id}', readHomeowner, { shows: PUBLIC_HOMEOWNER }),
  route('GET', '/tokens', readTokens, { query: ['userId'], shows: TOKEN_BALANCE }),
  route('GET', '/tokens/transactions', listTransfers, { query: [...PAGE_QUERY, 'userId'], shows: TOKEN_TRANSFER }),
  route('GET', '/tokens/transactions/{id}', readTransfer, { shows: TOKEN_TRANSFER }),
  route('POST', '/tokens/adjustments', adjustTokens, {
    status: 201,
    location: ({ id }: Created) => `/v1/tokens/transactions/${id}`,
    shows: TOKEN_TRANSFER,
  }),
  route('GET', '/tokens/transfers', findTransfers, {
    query: [...PAGE_QUERY, 'externalReference'],
    shows: TOKEN_TRANSFER,
  }),
  route('GET', '/tokens/audit', auditTokens, { shows: TOKEN_AUDIT }),

  route('GET', '/jobs', listJobs, {
    query: [...PAGE_QUERY, ...JOBS_QUERY],
    several: { status: 'statuses' },
    shows: JOB_LIST_ITEM,
  }),
  route('POST', '/jobs', createJob, {
    status: 201,
    location: ({ id }: Created) => `/v1/jobs/${id}`,
    aliases: OLD_NAMES,
    ...ONE_JOB,
  }),
  route('GET', '/jobs/{id}', readJob, ONE_JOB),
  ...Object.values(JOB_ROUTES),
  route('GET', '/jobs/{id}/actions', readJobActions, { shows: JOB_ACTIONS, answer: actionsOnWire }),
  route('GET', '/jobs/{id}/dispute', readDispute, { shows: DISPUTE }),
  route('GET', '/jobs/{id}/events', listEvents, { query: PAGE_QUERY, shows: JOB_EVENT, answer: eventOnWire }),

  route('GET', '/events', listOwnEvents, {
    query: ['after', 'perPage'],
    shows: EVENT_LOG,
    answer: ({ page, nextAfter }) => ({ data: page.rows.map(eventOnWire), nextAfter }),
  }),

  route('GET', '/jobs/{id}/bids', listBids, { query: [...PAGE_QUERY, 'status'], shows: BID }),
  ...Object.values(BID_ROUTES),
  route('GET', '/bids', listOwnBids, { query: [...PAGE_QUERY, 'status'], shows: BID }),
  route('GET', '/bids/{id}', readBid, { shows: BID }),
  route('GET', '/bids/{id}/hold', readHold, { shows: HOLD }),
  route('GET', '/bids/{id}/actions', readBidActions, { shows: BID_ACTIONS, answer: bidActionsOnWire }),

  route('GET', '/webhooks', listWebhookEndpoints, { query: PAGE_QUERY, shows: WEBHOOK_ENDPOINT }),
  route('POST', '/webhooks', createWebhookEndpoint, {
    status: 201,
    location: ({ webhook }: { webhook: Created }) => `/v1/webhooks/${webhook.id}`,
    shows: NEW_WEBHOOK,
  }),
  route('GET', '/webhooks/{id}', readWebhookEndpoint, { shows: WEBHOOK_ENDPOINT }),
  route('PUT', '/webhooks/{id}', updateWebhookEndpoint, { shows: WEBHOOK_ENDPOINT }),
  route('DELETE', '/webhooks/{id}', deleteWebhookEndpoint, {
    shows: CONFIRMATION,
    answer: () => confirmationBody('The webhook endpoint was deleted.'),
  }),
  route('POST', '/webhooks/{id}/rotate-secret', rotateWebhookSecret, { shows: NEW_WEBHOOK }),
  route('POST', '/webhooks/{id}/test', sendTestEvent, { shows: WEBHOOK_DELIVERY }),
  route('GET', '/webhooks/{id}/deliveries', listWebhookDeliveries, {
    query: [...PAGE_QUERY, 'status'],
    shows: WEBHOOK_DELIVERY,
  }),
  route('POST', '/webhooks/deliveries/{id}/redeliver', redeliver, { shows: WEBHOOK_DELIVERY }),
];

function ownAccount(): string {
  return '/v1/me';
}

async function withWarnings(job: ReadableJob, caller: Caller) {
  const warnings = await readWarnings(await caller.viewer(), job);
  return { ...job, warnings: warnings && warnings.map((one) => ({ ...one, field: wireName(one.field) })) };
}
