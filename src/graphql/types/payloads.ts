/**
 * Each mutation has its own payload, so one can get new fields without changing the others. Fields that return objects
 * are nullable. If an object can't be read, the mutation has still succeeded, and the rest of its result must reach the
 * client.
 */
import { Ctx, Field, ID, Int, ObjectType } from 'type-graphql';
import { readMe } from '../../market/operations/accounts/me.js';
import { performWithin } from '../../platform/call/operation.js';
import { NEW_API_KEY } from '../../market/rules/entities/api-key.js';
import { CHANGED_PASSWORD, PUBLICATION, UNDONE_EMAIL_CHANGE } from '../../market/rules/entities/session.js';
import { NEW_WEBHOOK, WEBHOOK_REPLAY } from '../../market/rules/entities/webhook.js';
import type { Context } from '../context.js';
import { Contractor, Session, User, Viewer, ActiveSession, ApiKey } from './account.js';
import { Bid, BidConnection, Job, JobConnection } from './jobs.js';
import { READ_POSITION } from '../../market/rules/entities/notification.js';
import { TEST_CLOCK } from '../../market/rules/entities/deadline.js';
import { DateTimeScalar, fieldOptions, FieldsOf } from './field.js';
import { NotificationSettings } from './notifications.js';
import { NEW_PURCHASE } from '../../market/rules/entities/purchase.js';
import { Purchase } from './purchases.js';
import { SavedSearch } from './saved-searches.js';
import { TokenTransfer } from './tokens.js';
import { WebhookDelivery, WebhookEndpoint } from './webhooks.js';

@ObjectType()
abstract class WithViewer {
  /** type-graphql calls this method unless the mutation has returned a `viewer`. */
  @Field(() => Viewer, {
    nullable: true,
    description: 'Your account after this mutation, including your token balance.',
  })
  viewer(@Ctx() { caller }: Context): object {
    return performWithin(readMe, {}, caller);
  }
}

type FieldOptions = ReturnType<typeof fieldOptions> & { readonly deprecationReason?: string };
type PayloadFields = Readonly<Record<string, readonly [type: object, options: FieldOptions]>>;

function payload(mutation: string, fields: PayloadFields = {}) {
  @ObjectType(nameOf(mutation), describe(mutation))
  class MutationPayload extends WithViewer {}

  return addFields(MutationPayload, fields);
}

/** For mutations that anyone can call. */
function payloadWithoutViewer(mutation: string, fields: PayloadFields) {
  @ObjectType(nameOf(mutation), describe(mutation))
  class MutationPayload {}

  return addFields(MutationPayload, fields);
}

/**
 * A mutation that starts a session has no `viewer`, because its request has no role yet. The client's next request can
 * read it with the new token.
 */
function sessionPayload(mutation: string) {
  @ObjectType(nameOf(mutation), { ...describe(mutation), implements: Session })
  class SessionPayload {}

  return SessionPayload;
}

function addFields<Payload extends new () => object>(payloadType: Payload, fields: PayloadFields): Payload {
  for (const [name, [type, options]] of Object.entries(fields))
    Field(() => type, options)(payloadType.prototype as object, name);
  return payloadType;
}

function nameOf(mutation: string): string {
  return `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
}

function describe(mutation: string) {
  return { description: `The payload of \`${mutation}\`.` };
}

function value(type: object, description: string) {
  return [type, fieldOptions(description)] as const;
}

function changed(type: object, description: string) {
  return [type, fieldOptions(description, 'nullable')] as const;
}

const job = changed(Job, 'The job after this mutation.');
const bid = changed(Bid, 'The bid after this mutation.');
const delivery = changed(WebhookDelivery, 'The delivery after this mutation.');
const { webhook, secret } = NEW_WEBHOOK.fields;
const webhookWithSecret = {
  webhookEndpoint: changed(WebhookEndpoint, webhook.description),
  secret: value(String, secret.description),
};
const { replayedCount, nextAfter } = WEBHOOK_REPLAY.fields;
const { changed: passwordChanged, noticeSent } = CHANGED_PASSWORD.fields;
const { readUpTo, unreadCount } = READ_POSITION.fields;
const { tokensCharged, remainingBalance } = PUBLICATION.fields;

export const SignUpHomeownerPayload = sessionPayload('signUpHomeowner');
export const SignUpContractorPayload = sessionPayload('signUpContractor');
export const LogInPayload = sessionPayload('logIn');
export const RefreshSessionPayload = sessionPayload('refreshSession');
export const RequestPasswordResetPayload = payloadWithoutViewer('requestPasswordReset', {
  requested: value(Boolean, 'Always true, even if no account has this address.'),
});
export const RequestEmailVerificationPayload = payload('requestEmailVerification', {
  requested: value(Boolean, 'True if an email is on its way. False if the address is already confirmed.'),
});
export const SendPasswordResetPayload = payload('sendPasswordReset', {
  requested: value(Boolean, 'Always true. The email is on its way.'),
});
export const ChangeEmailPayload = payload('changeEmail', {
  requested: value(Boolean, 'Always true. The email is on its way.'),
});
export const ResetPasswordPayload = payloadWithoutViewer('resetPassword', {
  changed: value(Boolean, passwordChanged.description),
});
export const VerifyEmailPayload = payloadWithoutViewer('verifyEmail', {
  email: value(String, 'The account’s email address.'),
});

@ObjectType({ description: UNDONE_EMAIL_CHANGE.description })
@FieldsOf(UNDONE_EMAIL_CHANGE)
export class UndoEmailChangePayload {}

export const SettleEmailUndoPayload = payload('settleEmailUndo', {
  user: changed(User, 'The user whose email undo was settled.'),
});
export const ChangePasswordPayload = payload('changePassword', {
  changed: value(Boolean, passwordChanged.description),
  noticeSent: value(Boolean, noticeSent.description),
});
export const UpdateProfilePayload = payload('updateProfile');
export const VerifyContractorPayload = payload('verifyContractor', {
  contractor: changed(Contractor, 'The verified contractor.'),
});
export const UnverifyContractorPayload = payload('unverifyContractor', {
  contractor: changed(Contractor, 'The contractor, who is no longer verified.'),
});
export const SuspendUserPayload = payload('suspendUser', { user: changed(User, 'The suspended user.') });
export const RestoreUserPayload = payload('restoreUser', {
  user: changed(User, 'The user, who is no longer suspended.'),
});
export const CreateApiKeyPayload = payload('createApiKey', {
  apiKey: changed(ApiKey, NEW_API_KEY.fields.apiKey.description),
  secret: value(String, NEW_API_KEY.fields.secret.description),
});
export const RevokeApiKeyPayload = payload('revokeApiKey', { apiKey: changed(ApiKey, 'The revoked key.') });
export const LogOutPayload = payloadWithoutViewer('logOut', {
  session: changed(ActiveSession, 'The session that ended.'),
  sessionId: [
    ID,
    { ...fieldOptions('The session’s ID.'), deprecationReason: 'Use `session { id }`, as in `endSession`.' },
  ],
});
export const EndUserSessionsPayload = payload('endUserSessions', {
  endedCount: value(Int, 'The number of sessions that ended.'),
});
export const ResendEmailVerificationPayload = payload('resendEmailVerification', {
  requested: value(Boolean, 'True if an email is on its way. False if the address is already confirmed.'),
});
export const EndSessionPayload = payload('endSession', { session: changed(ActiveSession, 'The session that ended.') });
export const EndOtherSessionsPayload = payload('endOtherSessions', {
  endedCount: value(Int, 'The number of sessions that ended.'),
});
export const BuyTokensPayload = payload('buyTokens', {
  purchase: changed(Purchase, 'The new purchase.'),
  checkoutUrl: changed(String, NEW_PURCHASE.fields.checkoutUrl.description),
});
export const RefundPurchasePayload = payload('refundPurchase', {
  purchase: changed(Purchase, 'The purchase after this mutation.'),
});
export const AdjustTokensPayload = payload('adjustTokens', { transfer: changed(TokenTransfer, 'The new transfer.') });

export const CreateJobPayload = payload('createJob', {
  job,
  jobEdge: changed(
    JobConnection.Edge,
    'The same job as an edge, for adding to the start of a list sorted newest first.',
  ),
});
export const UpdateJobPayload = payload('updateJob', { job });
export const DeleteJobPayload = payload('deleteJob', {
  job: changed(Job, 'The draft before it was deleted.'),
  deletedJobId: value(ID, 'The ID of the deleted draft.'),
});
export const PublishJobPayload = payload('publishJob', {
  job,
  tokensCharged: value(Int, tokensCharged.description),
  remainingBalance: value(Int, remainingBalance.description),
});
export const AwardJobPayload = payload('awardJob', { job });
export const DeclineAwardPayload = payload('declineAward', { job });
export const ReopenJobPayload = payload('reopenJob', { job });
export const CheckInJobPayload = payload('checkInJob', { job });
export const SubmitJobForReviewPayload = payload('submitJobForReview', { job });
export const ApproveJobPayload = payload('approveJob', { job });
export const RequestChangesPayload = payload('requestChanges', { job });
export const DisputeJobPayload = payload('disputeJob', { job });
export const EscalateJobPayload = payload('escalateJob', { job });
export const ResolveDisputePayload = payload('resolveDispute', { job });
export const AcceptResolutionPayload = payload('acceptResolution', { job });
export const ReachDecisionPayload = payload('reachDecision', { job });
export const AcceptDecisionPayload = payload('acceptDecision', { job });
export const FileAppealPayload = payload('fileAppeal', { job });
export const FinalizeAppealPayload = payload('finalizeAppeal', { job });
export const ReviewJobPayload = payload('reviewJob', { job });
export const ExtendDeadlinePayload = payload('extendDeadline', { job });
export const AdvanceClockPayload = payload('advanceClock', {
  now: value(DateTimeScalar, TEST_CLOCK.fields.now.description),
});
export const CompleteJobPayload = payload('completeJob', { job });
export const CancelJobPayload = payload('cancelJob', { job });

export const SubmitBidPayload = payload('submitBid', {
  bid,
  bidEdge: changed(BidConnection.Edge, 'The same bid as an edge, to add to the job’s list of bids.'),
});
export const ReviseBidPayload = payload('reviseBid', { bid });
export const ViewBidPayload = payload('viewBid', { bid });
export const ShortlistBidPayload = payload('shortlistBid', { bid });
export const RejectBidPayload = payload('rejectBid', { bid });
export const WithdrawBidPayload = payload('withdrawBid', { bid });

export const MarkNotificationsReadPayload = payload('markNotificationsRead', {
  readUpTo: value(String, readUpTo.description),
  unreadCount: value(Int, unreadCount.description),
});
export const UpdateNotificationSettingsPayload = payload('updateNotificationSettings', {
  notificationSettings: changed(NotificationSettings, 'The settings after this mutation.'),
});

export const CreateSavedSearchPayload = payload('createSavedSearch', {
  savedSearch: changed(SavedSearch, 'The new saved search.'),
});
export const UpdateSavedSearchPayload = payload('updateSavedSearch', {
  savedSearch: changed(SavedSearch, 'The saved search after this mutation.'),
});
export const DeleteSavedSearchPayload = payload('deleteSavedSearch', {
  deletedSavedSearchId: value(ID, 'The ID of the deleted search.'),
});
export const CreateWebhookEndpointPayload = payload('createWebhookEndpoint', webhookWithSecret);
export const UpdateWebhookEndpointPayload = payload('updateWebhookEndpoint', {
  webhookEndpoint: changed(WebhookEndpoint, 'The endpoint after this mutation.'),
});
export const DeleteWebhookEndpointPayload = payload('deleteWebhookEndpoint', {
  deletedWebhookEndpointId: value(ID, 'The ID of the deleted endpoint.'),
});
export const RotateWebhookSecretPayload = payload('rotateWebhookSecret', webhookWithSecret);
export const SendTestEventPayload = payload('sendTestEvent', { delivery });
export const RedeliverPayload = payload('redeliver', { delivery });
export const ReplayEventsPayload = payload('replayEvents', {
  webhookEndpoint: changed(WebhookEndpoint, WEBHOOK_REPLAY.fields.webhook.description),
  replayedCount: value(Int, replayedCount.description),
  nextAfter: changed(String, nextAfter.description),
});
