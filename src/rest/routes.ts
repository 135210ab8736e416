/** All REST routes of operations, in the documentation's order. Stripe's events go to `stripe-webhook.ts`. */
import { OPERATIONS } from '../market/operations/index.js';
import type { Caller } from '../market/operations/operation.js';
import type { ReadableJob } from '../market/operations/jobs/visible-job.js';
import { readWarnings } from '../market/operations/jobs/read.js';
import type { BidOperationName } from '../market/rules/bids.js';
import { ADMIN_ACTION } from '../market/rules/entities/admin-action.js';
import { API_KEY, NEW_API_KEY } from '../market/rules/entities/api-key.js';
import { ACTIVE_SESSION } from '../market/rules/entities/session.js';
import { BID, BID_REVISION, HOLD } from '../market/rules/entities/bid.js';
import { TEST_CLOCK } from '../market/rules/entities/deadline.js';
import { DISPUTE } from '../market/rules/entities/dispute.js';
import { JOB_EVENT } from '../market/rules/entities/event.js';
import { NOTIFICATION_SETTINGS, READ_POSITION } from '../market/rules/entities/notification.js';
import { CATALOG } from '../market/rules/entities/reference.js';
import { CONTRACTOR } from '../market/rules/entities/people.js';
import { REVIEW } from '../market/rules/entities/review.js';
import type { JobOperationName } from '../market/rules/lifecycle.js';
import { NEW_PURCHASE, PURCHASE } from '../market/rules/entities/purchase.js';
import { SAVED_SEARCH } from '../market/rules/entities/saved-search.js';
import { TOKEN_AUDIT, TOKEN_BALANCE, TOKEN_TRANSFER } from '../market/rules/entities/tokens.js';
import { NEW_WEBHOOK, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT, WEBHOOK_REPLAY } from '../market/rules/entities/webhook.js';
import {
  AVAILABLE_BID_ACTIONS,
  CHANGED_PASSWORD,
  CONFIRMED_EMAIL,
  CONFIRMATION,
  EVENT_LOG,
  AVAILABLE_JOB_ACTIONS,
  JOB_COUNTS,
  LIFECYCLE_ON_WIRE,
  NOTIFICATION_FEED,
  ME,
  NEW_CONTRACTOR_SESSION,
  NEW_HOMEOWNER_SESSION,
  CONTRACTOR_LIST_ITEM,
  JOB_LIST_ITEM,
  USER_LIST_ITEM,
  PUBLICATION,
  REFRESHED_SESSION,
  REQUESTED_EMAIL,
  PUBLIC_HOMEOWNER,
  PUBLIC_USER,
  SESSION,
  UNDONE_EMAIL_CHANGE,
  JOB_WITH_WARNINGS,
  type MeOnWire,
  UPCOMING_ACTIONS,
} from './bodies.js';
import { eventOnWire } from '../market/webhooks/event-body.js';
import { route, type Route } from '../platform/openapi/route.js';
import { wireName } from '../platform/openapi/wire.js';
import type { Notification } from '../market/operations/notifications/live-notifications.js';
import type { Me } from '../market/operations/accounts/me.js';
import type { readCatalog, readLifecycle } from '../market/operations/reference.js';
import type { AvailableAction, AvailableBidAction } from '../market/rules/jobs/available-actions.js';
import type { ShownRow } from '../platform/fields/entity.js';

/** Field names from the API's first examples. Requests can still use them. */
const OLD_NAMES = { trade: 'category', priority: 'urgency' };

const UNDO_DONE = 'Your account has this address again. We sent you an email with a link to set a new password.';
const UNDO_PENDING =
  'Our support team will decide who keeps the account, because it was used after the change or because of another ' +
  'request to undo a change. Contact them and tell them that the account was yours.';

const PAGE_QUERY = ['page', 'perPage', 'after'];

const NEAR_QUERY = ['nearZip', 'nearCity', 'nearState', 'withinMiles'];

const JOBS_QUERY = [
  'orderBy',
  'search',
  'status',
  'statuses',
  'category',
  'categories',
  'urgency',
  'budgetMin',
  'budgetMax',
  'homeownerId',
  'contractorId',
  'updatedSince',
  'statusChangedBefore',
  ...NEAR_QUERY,
];

const ONE_JOB = { shows: JOB_WITH_WARNINGS, answer: withWarnings };

const ONE_EMAIL = {
  shows: REQUESTED_EMAIL,
  answer: ({ message, ...rest }: { requested: boolean; message: string }) => ({
    ...confirmationBody(message),
    ...rest,
  }),
};

function confirms(message: string) {
  return { shows: CONFIRMATION, answer: () => confirmationBody(message) };
}

/** A body with the created resource. The Location header has its path. */
interface Created {
  readonly id: string;
}

const JOB_ROUTES = {
  updateJob: route('PUT', '/jobs/{id}', OPERATIONS.updateJob, { aliases: OLD_NAMES, ...ONE_JOB }),
  deleteJob: route('DELETE', '/jobs/{id}', OPERATIONS.deleteJob, confirms('The draft was deleted.')),
  publishJob: route('POST', '/jobs/{id}/publish', OPERATIONS.publishJob, {
    shows: PUBLICATION,
    answer: async ({ job, ...rest }, caller: Caller) => ({ ...rest, job: await withWarnings(job, caller) }),
  }),
  awardJob: route('POST', '/jobs/{id}/award', OPERATIONS.awardJob, ONE_JOB),
  declineAward: route('POST', '/jobs/{id}/decline-award', OPERATIONS.declineAward, ONE_JOB),
  reopenJob: route('POST', '/jobs/{id}/reopen', OPERATIONS.reopenJob, ONE_JOB),
  checkInJob: route('POST', '/jobs/{id}/checkin', OPERATIONS.checkInJob, ONE_JOB),
  submitJobForReview: route('POST', '/jobs/{id}/submit-for-review', OPERATIONS.submitJobForReview, ONE_JOB),
  approveJob: route('POST', '/jobs/{id}/approve', OPERATIONS.approveJob, ONE_JOB),
  requestChanges: route('POST', '/jobs/{id}/request-changes', OPERATIONS.requestChanges, ONE_JOB),
  disputeJob: route('POST', '/jobs/{id}/dispute', OPERATIONS.disputeJob, ONE_JOB),
  escalateJob: route('POST', '/jobs/{id}/escalate', OPERATIONS.escalateJob, ONE_JOB),
  resolveDispute: route('POST', '/jobs/{id}/resolve-dispute', OPERATIONS.resolveDispute, ONE_JOB),
  acceptResolution: route('POST', '/jobs/{id}/accept-resolution', OPERATIONS.acceptResolution, ONE_JOB),
  reachDecision: route('POST', '/jobs/{id}/reach-decision', OPERATIONS.reachDecision, ONE_JOB),
  acceptDecision: route('POST', '/jobs/{id}/accept-decision', OPERATIONS.acceptDecision, ONE_JOB),
  fileAppeal: route('POST', '/jobs/{id}/file-appeal', OPERATIONS.fileAppeal, ONE_JOB),
  finalizeAppeal: route('POST', '/jobs/{id}/finalize-appeal', OPERATIONS.finalizeAppeal, ONE_JOB),
  completeJob: route('POST', '/jobs/{id}/complete', OPERATIONS.completeJob, ONE_JOB),
  cancelJob: route('POST', '/jobs/{id}/cancel', OPERATIONS.cancelJob, ONE_JOB),
  reviewJob: route('POST', '/jobs/{id}/review', OPERATIONS.reviewJob, ONE_JOB),
  extendDeadline: route('POST', '/jobs/{id}/extend-deadline', OPERATIONS.extendDeadline, ONE_JOB),
} satisfies Readonly<Record<Exclude<JobOperationName, 'submitBid'>, Route>>;

const BID_ROUTES = {
  submitBid: route('POST', '/jobs/{jobId}/bids', OPERATIONS.submitBid, {
    status: 201,
    location: ({ id }: Created) => `/v1/bids/${id}`,
    shows: BID,
  }),
  reviseBid: route('PUT', '/jobs/{jobId}/bids/{id}', OPERATIONS.reviseBid, { shows: BID }),
  viewBid: route('POST', '/jobs/{jobId}/bids/{id}/view', OPERATIONS.viewBid, { shows: BID }),
  shortlistBid: route('POST', '/jobs/{jobId}/bids/{id}/shortlist', OPERATIONS.shortlistBid, { shows: BID }),
  rejectBid: route('POST', '/jobs/{jobId}/bids/{id}/reject', OPERATIONS.rejectBid, { shows: BID }),
  withdrawBid: route('POST', '/jobs/{jobId}/bids/{id}/withdraw', OPERATIONS.withdrawBid, { shows: BID }),
} satisfies Readonly<Record<BidOperationName | 'submitBid', Route>>;

export const ROUTES: readonly Route[] = [
  route('POST', '/auth/signup/homeowner', OPERATIONS.signUpHomeowner, {
    status: 201,
    location: ownAccount,
    shows: NEW_HOMEOWNER_SESSION,
  }),
  route('POST', '/auth/signup/contractor', OPERATIONS.signUpContractor, {
    status: 201,
    location: ownAccount,
    shows: NEW_CONTRACTOR_SESSION,
  }),
  route('POST', '/auth/login', OPERATIONS.logIn, { shows: SESSION }),
  route('POST', '/auth/refresh', OPERATIONS.refreshSession, { shows: REFRESHED_SESSION }),
  route('POST', '/auth/logout', OPERATIONS.logOut, confirms('You’re logged out.')),
  route(
    'POST',
    '/auth/password-reset',
    OPERATIONS.requestPasswordReset,
    confirms('If an account has this address, an email is on its way.'),
  ),
  route(
    'POST',
    '/auth/password-reset/confirm',
    OPERATIONS.resetPassword,
    confirms('The password was changed. All sessions have ended, and all API keys are revoked.'),
  ),
  route('POST', '/auth/verify-email', OPERATIONS.verifyEmail, {
    shows: CONFIRMED_EMAIL,
    answer: ({ email }) => ({ ...confirmationBody(`${email} is confirmed as your account’s email address.`), email }),
  }),
  route('POST', '/auth/undo-email-change', OPERATIONS.undoEmailChange, {
    shows: UNDONE_EMAIL_CHANGE,
    answer: (undo) => ({ ...confirmationBody(undo.pending ? UNDO_PENDING : UNDO_DONE), ...undo }),
  }),
  route('GET', '/me', OPERATIONS.readMe, { shows: ME, answer: onlyOwnProfile }),
  route('PUT', '/me', OPERATIONS.updateProfile, { shows: ME, answer: onlyOwnProfile }),
  route('POST', '/me/password', OPERATIONS.changePassword, {
    shows: CHANGED_PASSWORD,
    answer: ({ noticeSent }) => ({
      ...confirmationBody('The password was changed. All other sessions have ended, and all API keys are revoked.'),
      noticeSent,
    }),
  }),
  route(
    'POST',
    '/me/email',
    OPERATIONS.changeEmail,
    confirms('We sent a link to the new address. The address changes once you open the link and confirm the change.'),
  ),
  route(
    'POST',
    '/me/email/verification',
    OPERATIONS.requestEmailVerification,
    confirms('Unless the address is already confirmed, an email is on its way.'),
  ),
  route('GET', '/api-keys', OPERATIONS.listApiKeys, { query: PAGE_QUERY, shows: API_KEY }),
  route('POST', '/api-keys', OPERATIONS.createApiKey, {
    status: 201,
    location: ({ api_key: key }: { api_key: Created }) => `/v1/api-keys/${key.id}`,
    shows: NEW_API_KEY,
  }),
  route('GET', '/api-keys/{id}', OPERATIONS.readApiKey, { shows: API_KEY }),
  route('DELETE', '/api-keys/{id}', OPERATIONS.revokeApiKey, confirms('The API key is revoked.')),
  route('GET', '/sessions', OPERATIONS.listSessions, { query: PAGE_QUERY, shows: ACTIVE_SESSION }),
  route('DELETE', '/sessions', OPERATIONS.endOtherSessions, confirms('All other sessions have ended.')),
  route('GET', '/sessions/{id}', OPERATIONS.readSession, { shows: ACTIVE_SESSION }),
  route('DELETE', '/sessions/{id}', OPERATIONS.endSession, confirms('The session has ended.')),
  route('GET', '/me/job-counts', OPERATIONS.countOwnJobs, { shows: JOB_COUNTS }),
  route('POST', '/test-clock', OPERATIONS.advanceClock, { shows: TEST_CLOCK }),
  route('GET', '/catalog', OPERATIONS.readCatalog, { shows: CATALOG, answer: catalogOnWire }),
  route('GET', '/lifecycle', OPERATIONS.readLifecycle, { shows: LIFECYCLE_ON_WIRE, answer: lifecycleOnWire }),
  route('GET', '/contractors', OPERATIONS.listContractors, {
    query: [...PAGE_QUERY, 'search', 'specialty', 'serviceArea', 'verified', 'orderBy', ...NEAR_QUERY],
    shows: CONTRACTOR_LIST_ITEM,
  }),
  route('GET', '/contractors/{id}', OPERATIONS.readContractor, { shows: CONTRACTOR }),
  route('GET', '/contractors/{id}/reviews', OPERATIONS.listReviews, { query: PAGE_QUERY, shows: REVIEW }),
  route('GET', '/contractors/{id}/jobs', OPERATIONS.listContractorJobs, { query: PAGE_QUERY, ...ONE_JOB }),
  route('GET', '/contractors/{id}/bids', OPERATIONS.listContractorBids, { query: PAGE_QUERY, shows: BID }),
  route('POST', '/contractors/{id}/verify', OPERATIONS.verifyContractor, { shows: CONTRACTOR }),
  route('POST', '/contractors/{id}/unverify', OPERATIONS.unverifyContractor, { shows: CONTRACTOR }),
  route('GET', '/users', OPERATIONS.listUsers, {
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
  route('GET', '/users/{id}', OPERATIONS.readUser, { shows: PUBLIC_USER }),
  route('POST', '/users/{id}/suspend', OPERATIONS.suspendUser, { shows: PUBLIC_USER }),
  route('POST', '/users/{id}/restore', OPERATIONS.restoreUser, { shows: PUBLIC_USER }),
  route(
    'POST',
    '/users/{id}/end-sessions',
    OPERATIONS.endUserSessions,
    confirms('All of the user’s sessions have ended.'),
  ),
  route('GET', '/admin-actions', OPERATIONS.listAdminActions, {
    query: [...PAGE_QUERY, 'adminId', 'userId', 'jobId', 'action'],
    shows: ADMIN_ACTION,
  }),
  route('GET', '/admin-actions/{id}', OPERATIONS.readAdminAction, { shows: ADMIN_ACTION }),
  route('POST', '/users/{id}/password-reset', OPERATIONS.sendPasswordReset, ONE_EMAIL),
  route('POST', '/users/{id}/email-undo', OPERATIONS.settleEmailUndo, { shows: PUBLIC_USER }),
  route('POST', '/users/{id}/email/verification', OPERATIONS.resendEmailVerification, ONE_EMAIL),
  route('GET', '/homeowners/{id}', OPERATIONS.readHomeowner, { shows: PUBLIC_HOMEOWNER }),
  route('GET', '/tokens', OPERATIONS.readTokens, { query: ['userId'], shows: TOKEN_BALANCE }),
  route('GET', '/tokens/transactions', OPERATIONS.listTransfers, {
    query: [...PAGE_QUERY, 'userId'],
    shows: TOKEN_TRANSFER,
  }),
  route('GET', '/tokens/transactions/{id}', OPERATIONS.readTransfer, { shows: TOKEN_TRANSFER }),
  route('POST', '/tokens/adjustments', OPERATIONS.adjustTokens, {
    status: 201,
    location: ({ id }: Created) => `/v1/tokens/transactions/${id}`,
    shows: TOKEN_TRANSFER,
  }),
  route('GET', '/tokens/transfers', OPERATIONS.findTransfers, {
    query: [...PAGE_QUERY, 'externalReference'],
    shows: TOKEN_TRANSFER,
  }),
  route('GET', '/tokens/audit', OPERATIONS.auditTokens, { shows: TOKEN_AUDIT }),
  route('GET', '/purchases', OPERATIONS.listPurchases, { query: [...PAGE_QUERY, 'userId'], shows: PURCHASE }),
  route('POST', '/purchases', OPERATIONS.buyTokens, {
    status: 201,
    location: ({ purchase }: { purchase: Created }) => `/v1/purchases/${purchase.id}`,
    shows: NEW_PURCHASE,
  }),
  route('GET', '/purchases/{id}', OPERATIONS.readPurchase, { shows: PURCHASE }),
  route('POST', '/purchases/{id}/refund', OPERATIONS.refundPurchase, { shows: PURCHASE }),

  route('GET', '/jobs', OPERATIONS.listJobs, {
    query: [...PAGE_QUERY, ...JOBS_QUERY],
    several: { status: 'statuses', category: 'categories' },
    shows: JOB_LIST_ITEM,
  }),
  route('POST', '/jobs', OPERATIONS.createJob, {
    status: 201,
    location: ({ id }: Created) => `/v1/jobs/${id}`,
    aliases: OLD_NAMES,
    ...ONE_JOB,
  }),
  route('GET', '/jobs/{id}', OPERATIONS.readJob, { isVersioned: true, ...ONE_JOB }),
  ...Object.values(JOB_ROUTES),
  route('GET', '/jobs/{id}/actions', OPERATIONS.readJobActions, {
    shows: AVAILABLE_JOB_ACTIONS,
    answer: actionsOnWire,
  }),
  route('GET', '/jobs/{id}/upcoming', OPERATIONS.readUpcoming, { shows: UPCOMING_ACTIONS }),
  route('GET', '/jobs/{id}/dispute', OPERATIONS.readDispute, { shows: DISPUTE }),
  route('GET', '/jobs/{id}/events', OPERATIONS.listEvents, {
    query: PAGE_QUERY,
    shows: JOB_EVENT,
    answer: eventOnWire,
  }),

  route('GET', '/events', OPERATIONS.listOwnEvents, {
    query: ['after', 'perPage'],
    shows: EVENT_LOG,
    answer: ({ page, nextAfter }) => ({ data: page.rows.map(eventOnWire), nextAfter }),
  }),
  route('GET', '/notifications', OPERATIONS.listNotifications, {
    query: ['unread', 'after', 'perPage'],
    shows: NOTIFICATION_FEED,
    answer: async ({ page, nextAfter, unreadCount }) => ({
      data: page.rows.map(notificationOnWire),
      unreadCount: await unreadCount(),
      nextAfter,
    }),
  }),
  route('POST', '/notifications/read', OPERATIONS.markNotificationsRead, { shows: READ_POSITION }),
  route('GET', '/me/notification-settings', OPERATIONS.readNotificationSettings, { shows: NOTIFICATION_SETTINGS }),
  route('PUT', '/me/notification-settings', OPERATIONS.updateNotificationSettings, { shows: NOTIFICATION_SETTINGS }),

  route('GET', '/jobs/{id}/bids', OPERATIONS.listBids, { query: [...PAGE_QUERY, 'status'], shows: BID }),
  ...Object.values(BID_ROUTES),
  route('GET', '/bids', OPERATIONS.listOwnBids, { query: [...PAGE_QUERY, 'status'], shows: BID }),
  route('GET', '/bids/{id}', OPERATIONS.readBid, { shows: BID }),
  route('GET', '/bids/{id}/hold', OPERATIONS.readHold, { shows: HOLD }),
  route('GET', '/bids/{id}/revisions', OPERATIONS.listBidRevisions, { query: PAGE_QUERY, shows: BID_REVISION }),
  route('GET', '/bids/{id}/actions', OPERATIONS.readBidActions, {
    shows: AVAILABLE_BID_ACTIONS,
    answer: bidActionsOnWire,
  }),

  route('GET', '/saved-searches', OPERATIONS.listSavedSearches, { query: PAGE_QUERY, shows: SAVED_SEARCH }),
  route('POST', '/saved-searches', OPERATIONS.createSavedSearch, {
    status: 201,
    location: ({ id }: Created) => `/v1/saved-searches/${id}`,
    shows: SAVED_SEARCH,
  }),
  route('GET', '/saved-searches/{id}', OPERATIONS.readSavedSearch, { shows: SAVED_SEARCH }),
  route('PUT', '/saved-searches/{id}', OPERATIONS.updateSavedSearch, { shows: SAVED_SEARCH }),
  route('DELETE', '/saved-searches/{id}', OPERATIONS.deleteSavedSearch, confirms('The saved search was deleted.')),

  route('GET', '/webhooks', OPERATIONS.listWebhookEndpoints, { query: PAGE_QUERY, shows: WEBHOOK_ENDPOINT }),
  route('POST', '/webhooks', OPERATIONS.createWebhookEndpoint, {
    status: 201,
    location: ({ webhook }: { webhook: Created }) => `/v1/webhooks/${webhook.id}`,
    shows: NEW_WEBHOOK,
  }),
  route('GET', '/webhooks/{id}', OPERATIONS.readWebhookEndpoint, { shows: WEBHOOK_ENDPOINT }),
  route('PUT', '/webhooks/{id}', OPERATIONS.updateWebhookEndpoint, { shows: WEBHOOK_ENDPOINT }),
  route('DELETE', '/webhooks/{id}', OPERATIONS.deleteWebhookEndpoint, confirms('The webhook endpoint was deleted.')),
  route('POST', '/webhooks/{id}/rotate-secret', OPERATIONS.rotateWebhookSecret, { shows: NEW_WEBHOOK }),
  route('POST', '/webhooks/{id}/test', OPERATIONS.sendTestEvent, { shows: WEBHOOK_DELIVERY }),
  route('GET', '/webhooks/{id}/deliveries', OPERATIONS.listWebhookDeliveries, {
    query: [...PAGE_QUERY, 'status'],
    shows: WEBHOOK_DELIVERY,
  }),
  route('POST', '/webhooks/{id}/replay', OPERATIONS.replayEvents, { shows: WEBHOOK_REPLAY }),
  route('POST', '/webhooks/deliveries/{id}/redeliver', OPERATIONS.redeliver, { shows: WEBHOOK_DELIVERY }),
];

function ownAccount(): string {
  return '/v1/me';
}

async function withWarnings(job: ReadableJob, caller: Caller) {
  const warnings = await readWarnings(await caller.viewer(), job);
  return { ...job, warnings: warnings && warnings.map((one) => ({ ...one, field: wireName(one.field) })) };
}

export function confirmationBody(message: string): ShownRow<typeof CONFIRMATION> {
  return { status: 200, message, data: {} };
}

export function onlyOwnProfile({ user, homeowner, contractor, ...rest }: Me): MeOnWire {
  return { user, ...(homeowner && { homeowner }), ...(contractor && { contractor }), ...rest };
}

/** Converts names to REST's spelling, such as `check_in` and `address_line1`. */
export function actionsOnWire({ data }: { data: AvailableAction[] }) {
  return {
    data: data.map(({ action, missingFields, ...rest }) => ({
      ...rest,
      action: action.toLowerCase(),
      missingFields: missingFields.map(wireName),
    })),
  };
}

export function bidActionsOnWire({ data }: { data: AvailableBidAction[] }) {
  return { data: data.map(({ action, ...rest }) => ({ ...rest, action: action.toLowerCase() })) };
}

function notificationOnWire({ event, ...rest }: Notification) {
  return { ...rest, event: 'jobId' in event ? eventOnWire(event) : event };
}

type CatalogRead = Awaited<ReturnType<typeof readCatalog.run>>;
type LifecycleRead = Awaited<ReturnType<typeof readLifecycle.run>>;

export function catalogOnWire({ categories, businessTypes, propertyTypes, ...rest }: CatalogRead) {
  return { categories: [...categories], businessTypes: [...businessTypes], propertyTypes: [...propertyTypes], ...rest };
}

export function lifecycleOnWire({ actions, requiredToPublish, ...rest }: LifecycleRead) {
  return {
    ...rest,
    requiredToPublish: requiredToPublish.map(wireName),
    actions: actions.map(({ action, ...row }) => ({ ...row, action: action.toLowerCase() })),
  };
}
