/** The list of all operations, which both APIs, the contracts, and the tests use. */
import type { BidOperationName } from '../rules/bids.js';
import type { JobOperationName, JobTransitionName } from '../rules/lifecycle.js';
import {
  endOtherSessions,
  endSession,
  listSessions,
  readSession,
  logIn,
  logOut,
  refreshSession,
} from './sessions/sessions.js';
import { listAdminActions, readAdminAction } from './admins/admin-actions.js';
import { createApiKey, listApiKeys, readApiKey, revokeApiKey } from './sessions/api-keys.js';
import { changePassword } from './accounts/change-password.js';
import { changeEmail, requestEmailVerification, resendEmailVerification, verifyEmail } from './accounts/email.js';
import { settleEmailUndo, undoEmailChange } from './accounts/email-undo.js';
import { requestPasswordReset, resetPassword, sendPasswordReset } from './accounts/password-reset.js';
import { listContractorBids, listContractorJobs } from './people/contractor-work.js';
import { listContractors, readContractor, unverifyContractor, verifyContractor } from './people/contractors.js';
import { readMe, updateProfile } from './accounts/me.js';
import { listReviews } from './people/reviews.js';
import { signUpContractor, signUpHomeowner } from './accounts/sign-up.js';
import { endUserSessions, restoreUser, suspendUser } from './admins/suspension.js';
import { listUsers, readHomeowner, readUser } from './people/users.js';
import { listBidRevisions, listBids, listOwnBids, readBid, readHold } from './bids/read.js';
import { reviseBid } from './bids/revise.js';
import { submitBid } from './bids/submit.js';
import { rejectBid, shortlistBid, viewBid, withdrawBid } from './bids/transition.js';
import { countOwnJobs, readBidActions, readJobActions } from './jobs/actions.js';
import { advanceClock, readUpcoming } from './jobs/clock-operations.js';
import { createJob, deleteJob, updateJob } from './jobs/edit.js';
import { extendDeadline } from './jobs/extend-deadline.js';
import { listOwnEvents, streamJobEvents, streamMyEvents } from './events/events.js';
import { readNotificationSettings, updateNotificationSettings } from './notifications/notification-settings.js';
import {
  listNotifications,
  markNotificationsRead,
  readUnreadCount,
  streamMyNotifications,
} from './notifications/notifications.js';
import { listEvents, listJobs, readDispute, readJob } from './jobs/read.js';
import { reviewJob } from './jobs/review.js';
import { TRANSITIONS } from './jobs/transitions.js';
import {
  createSavedSearch,
  deleteSavedSearch,
  listSavedSearches,
  readSavedSearch,
  updateSavedSearch,
} from './searches/saved-searches.js';
import { readNode } from './node.js';
import { readCatalog, readLifecycle } from './reference.js';
import { buyTokens, listPurchases, readPurchase, refundPurchase } from './purchases/purchases.js';
import { adjustTokens, auditTokens, findTransfers, listTransfers, readTokens, readTransfer } from './tokens/tokens.js';
import { listWebhookDeliveries, redeliver, sendTestEvent } from './webhooks/deliveries.js';
import { replayEvents } from './webhooks/replay.js';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from './webhooks/endpoints.js';

export const OPERATIONS = {
  signUpHomeowner,
  signUpContractor,
  logIn,
  refreshSession,
  logOut,
  changePassword,
  requestPasswordReset,
  resetPassword,
  sendPasswordReset,
  requestEmailVerification,
  resendEmailVerification,
  verifyEmail,
  changeEmail,
  undoEmailChange,
  settleEmailUndo,
  createApiKey,
  listApiKeys,
  readApiKey,
  revokeApiKey,
  listSessions,
  readSession,
  endSession,
  endOtherSessions,
  readMe,
  updateProfile,
  readContractor,
  listContractors,
  listReviews,
  listContractorJobs,
  listContractorBids,
  verifyContractor,
  unverifyContractor,
  listAdminActions,
  readAdminAction,
  listUsers,
  readUser,
  suspendUser,
  restoreUser,
  endUserSessions,
  readHomeowner,
  readTokens,
  listTransfers,
  findTransfers,
  readTransfer,
  adjustTokens,
  auditTokens,

  buyTokens,
  listPurchases,
  readPurchase,
  refundPurchase,

  createJob,
  readJob,
  listJobs,
  updateJob,
  deleteJob,
  ...TRANSITIONS,
  reviewJob,
  extendDeadline,
  readUpcoming,
  advanceClock,
  readDispute,
  listEvents,
  listOwnEvents,
  streamJobEvents,
  streamMyEvents,
  readJobActions,
  readBidActions,
  countOwnJobs,

  submitBid,
  reviseBid,
  listBidRevisions,
  readBid,
  readHold,
  listBids,
  listOwnBids,
  viewBid,
  shortlistBid,
  rejectBid,
  withdrawBid,

  createWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  listWebhookDeliveries,
  sendTestEvent,
  redeliver,
  replayEvents,

  createSavedSearch,
  listSavedSearches,
  readSavedSearch,
  updateSavedSearch,
  deleteSavedSearch,

  listNotifications,
  readUnreadCount,
  markNotificationsRead,
  streamMyNotifications,
  readNotificationSettings,
  updateNotificationSettings,

  readNode,
  readLifecycle,
  readCatalog,
} satisfies Readonly<Record<Exclude<JobOperationName, JobTransitionName> | BidOperationName, object>> &
  Readonly<Record<string, object>>;

export type OperationName = keyof typeof OPERATIONS;
