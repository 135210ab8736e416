/**
 * The payloads of mutations. Each mutation has its own type, so fields can be added. A payload has the changed objects
 * and, for a signed-in caller, the `viewer`. Fields that are objects may be null: if one can't be read, the mutation
 * has still been done, and its result must not be lost.
 */
import { Ctx, Field, ID, Int, ObjectType } from 'type-graphql';
import { readMe } from '../../market/operations/accounts/me.js';
import { performWithin } from '../../platform/call/operation.js';
import { NEW_API_KEY } from '../../market/rules/entities/api-key.js';
import { CHANGED_PASSWORD, PUBLICATION, UNDONE_EMAIL_CHANGE } from '../../market/rules/entities/session.js';
import { NEW_WEBHOOK } from '../../market/rules/entities/webhook.js';
import type { Context } from '../context.js';
import { Contractor, Session, User } from './account.js';
import { ApiKey } from './api-keys.js';
import { Bid, BidConnection } from './bids.js';
import { fieldOptions, FieldsOf } from './field.js';
import { Job, JobConnection } from './jobs.js';
import { ActiveSession } from './sessions.js';
import { TokenTransfer } from './tokens.js';
import { Viewer } from './viewer.js';
import { WebhookDelivery, WebhookEndpoint } from './webhooks.js';

@ObjectType()
abstract class Payload {
  /** type-graphql calls this unless the mutation itself has returned a `viewer`. */
  @Field(() => Viewer, {
    nullable: true,
    description: 'Your account after this mutation, including your token balance.',
  })
  viewer(@Ctx() { caller }: Context): object {
    return performWithin(readMe, {}, caller);
  }
}

@ObjectType()
abstract class JobPayload extends Payload {
  @Field(() => Job, fieldOptions('The job after this mutation.', 'nullable'))
  job: Job | null;
}

@ObjectType()
abstract class BidPayload extends Payload {
  @Field(() => Bid, fieldOptions('The bid after this mutation.', 'nullable'))
  bid: Bid | null;
}

@ObjectType()
abstract class WebhookSecretPayload extends Payload {
  @Field(() => WebhookEndpoint, fieldOptions(NEW_WEBHOOK.fields.webhook.description, 'nullable'))
  webhookEndpoint: WebhookEndpoint | null;

  @Field(() => String, fieldOptions(NEW_WEBHOOK.fields.secret.description))
  secret: string;
}

@ObjectType()
abstract class DeliveryPayload extends Payload {
  @Field(() => WebhookDelivery, fieldOptions('The delivery after this mutation.', 'nullable'))
  delivery: WebhookDelivery | null;
}

// Without `viewer`: the session is new, and this request has no role yet. The next request reads it with the token.

@ObjectType({ implements: Session, description: 'The payload of `signUpHomeowner`.' })
export class SignUpHomeownerPayload {}

@ObjectType({ implements: Session, description: 'The payload of `signUpContractor`.' })
export class SignUpContractorPayload {}

@ObjectType({ implements: Session, description: 'The payload of `logIn`.' })
export class LogInPayload {}

@ObjectType({ implements: Session, description: 'The payload of `refreshSession`.' })
export class RefreshSessionPayload {}

@ObjectType({ description: 'The payload of `requestPasswordReset`.' })
export class RequestPasswordResetPayload {
  @Field(() => Boolean, fieldOptions('Always true, even if no account has this address.'))
  requested: boolean;
}

@ObjectType({ description: 'The payload of `requestEmailVerification`.' })
export class RequestEmailVerificationPayload extends Payload {
  @Field(() => Boolean, fieldOptions('True if an email is on its way. False if the address is already confirmed.'))
  requested: boolean;
}

@ObjectType({ description: 'The payload of `sendPasswordReset`.' })
export class SendPasswordResetPayload extends Payload {
  @Field(() => Boolean, fieldOptions('Always true. The email is on its way.'))
  requested: boolean;
}

@ObjectType({ description: 'The payload of `changeEmail`.' })
export class ChangeEmailPayload extends Payload {
  @Field(() => Boolean, fieldOptions('Always true. The email is on its way.'))
  requested: boolean;
}

@ObjectType({ description: 'The payload of `resetPassword`.' })
export class ResetPasswordPayload {
  @Field(() => Boolean, fieldOptions(CHANGED_PASSWORD.fields.changed.description))
  changed: boolean;
}

@ObjectType({ description: 'The payload of `verifyEmail`.' })
export class VerifyEmailPayload {
  @Field(() => String, fieldOptions('The account’s email address.'))
  email: string;
}

@ObjectType({ description: UNDONE_EMAIL_CHANGE.description })
@FieldsOf(UNDONE_EMAIL_CHANGE)
export class UndoEmailChangePayload {}

@ObjectType({ description: 'The payload of `settleEmailUndo`.' })
export class SettleEmailUndoPayload extends Payload {
  @Field(() => User, fieldOptions('The user whose email undo was settled.', 'nullable'))
  user: User | null;
}

@ObjectType({ description: 'The payload of `changePassword`.' })
export class ChangePasswordPayload extends Payload {
  @Field(() => Boolean, fieldOptions(CHANGED_PASSWORD.fields.changed.description))
  changed: boolean;

  @Field(() => Boolean, fieldOptions(CHANGED_PASSWORD.fields.noticeSent.description))
  noticeSent: boolean;
}

@ObjectType({ description: 'The payload of `updateProfile`.' })
export class UpdateProfilePayload extends Payload {}

@ObjectType({ description: 'The payload of `verifyContractor`.' })
export class VerifyContractorPayload extends Payload {
  @Field(() => Contractor, fieldOptions('The verified contractor.', 'nullable'))
  contractor: Contractor | null;
}

@ObjectType({ description: 'The payload of `unverifyContractor`.' })
export class UnverifyContractorPayload extends Payload {
  @Field(() => Contractor, fieldOptions('The contractor, who is no longer verified.', 'nullable'))
  contractor: Contractor | null;
}

@ObjectType({ description: 'The payload of `suspendUser`.' })
export class SuspendUserPayload extends Payload {
  @Field(() => User, fieldOptions('The suspended user.', 'nullable'))
  user: User | null;
}

@ObjectType({ description: 'The payload of `restoreUser`.' })
export class RestoreUserPayload extends Payload {
  @Field(() => User, fieldOptions('The user, who is no longer suspended.', 'nullable'))
  user: User | null;
}

@ObjectType({ description: 'The payload of `createApiKey`.' })
export class CreateApiKeyPayload extends Payload {
  @Field(() => ApiKey, fieldOptions(NEW_API_KEY.fields.apiKey.description, 'nullable'))
  apiKey: ApiKey | null;

  @Field(() => String, fieldOptions(NEW_API_KEY.fields.secret.description))
  secret: string;
}

@ObjectType({ description: 'The payload of `revokeApiKey`.' })
export class RevokeApiKeyPayload extends Payload {
  @Field(() => ApiKey, fieldOptions('The revoked key.', 'nullable'))
  apiKey: ApiKey | null;
}

@ObjectType({ description: 'The payload of `logOut`.' })
export class LogOutPayload {
  @Field(() => ActiveSession, fieldOptions('The session that ended.', 'nullable'))
  session: ActiveSession | null;

  @Field(() => ID, {
    ...fieldOptions('The session’s ID.'),
    deprecationReason: 'Use `session { id }`, as in `endSession`.',
  })
  sessionId: string;
}

@ObjectType({ description: 'The payload of `endUserSessions`.' })
export class EndUserSessionsPayload extends Payload {
  @Field(() => Int, fieldOptions('The number of sessions that ended.'))
  endedCount: number;
}

@ObjectType({ description: 'The payload of `resendEmailVerification`.' })
export class ResendEmailVerificationPayload extends Payload {
  @Field(() => Boolean, fieldOptions('True if an email is on its way. False if the address is already confirmed.'))
  requested: boolean;
}

@ObjectType({ description: 'The payload of `endSession`.' })
export class EndSessionPayload extends Payload {
  @Field(() => ActiveSession, fieldOptions('The session that ended.', 'nullable'))
  session: ActiveSession | null;
}

@ObjectType({ description: 'The payload of `endOtherSessions`.' })
export class EndOtherSessionsPayload extends Payload {
  @Field(() => Int, fieldOptions('The number of sessions that ended.'))
  endedCount: number;
}

@ObjectType({ description: 'The payload of `adjustTokens`.' })
export class AdjustTokensPayload extends Payload {
  @Field(() => TokenTransfer, fieldOptions('The new transfer.', 'nullable'))
  transfer: TokenTransfer | null;
}

@ObjectType({ description: 'The payload of `createJob`.' })
export class CreateJobPayload extends JobPayload {
  @Field(
    () => JobConnection.Edge,
    fieldOptions('The same job as an edge, to add to a list of jobs, newest first.', 'nullable'),
  )
  jobEdge: object | null;
}

@ObjectType({ description: 'The payload of `updateJob`.' })
export class UpdateJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `deleteJob`.' })
export class DeleteJobPayload extends Payload {
  @Field(() => Job, fieldOptions('The draft before it was deleted.', 'nullable'))
  job: Job | null;

  @Field(() => ID, fieldOptions('The ID of the deleted draft.'))
  deletedJobId: string;
}

@ObjectType({ description: 'The payload of `publishJob`.' })
export class PublishJobPayload extends JobPayload {
  @Field(() => Int, fieldOptions(PUBLICATION.fields.tokensCharged.description))
  tokensCharged: number;

  @Field(() => Int, fieldOptions(PUBLICATION.fields.remainingBalance.description))
  remainingBalance: number;
}

@ObjectType({ description: 'The payload of `awardJob`.' })
export class AwardJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `checkInJob`.' })
export class CheckInJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `submitJobForReview`.' })
export class SubmitJobForReviewPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `approveJob`.' })
export class ApproveJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `disputeJob`.' })
export class DisputeJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `escalateJob`.' })
export class EscalateJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `resolveDispute`.' })
export class ResolveDisputePayload extends JobPayload {}

@ObjectType({ description: 'The payload of `acceptResolution`.' })
export class AcceptResolutionPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `reachDecision`.' })
export class ReachDecisionPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `acceptDecision`.' })
export class AcceptDecisionPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `fileAppeal`.' })
export class FileAppealPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `finalizeAppeal`.' })
export class FinalizeAppealPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `reviewJob`.' })
export class ReviewJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `completeJob`.' })
export class CompleteJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `cancelJob`.' })
export class CancelJobPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `submitBid`.' })
export class SubmitBidPayload extends BidPayload {
  @Field(
    () => BidConnection.Edge,
    fieldOptions('The same bid as an edge, to add to the job’s list of bids.', 'nullable'),
  )
  bidEdge: object | null;
}

@ObjectType({ description: 'The payload of `viewBid`.' })
export class ViewBidPayload extends BidPayload {}

@ObjectType({ description: 'The payload of `shortlistBid`.' })
export class ShortlistBidPayload extends BidPayload {}

@ObjectType({ description: 'The payload of `rejectBid`.' })
export class RejectBidPayload extends BidPayload {}

@ObjectType({ description: 'The payload of `withdrawBid`.' })
export class WithdrawBidPayload extends BidPayload {}

@ObjectType({ description: 'The payload of `createWebhookEndpoint`.' })
export class CreateWebhookEndpointPayload extends WebhookSecretPayload {}

@ObjectType({ description: 'The payload of `updateWebhookEndpoint`.' })
export class UpdateWebhookEndpointPayload extends Payload {
  @Field(() => WebhookEndpoint, fieldOptions('The endpoint after this mutation.', 'nullable'))
  webhookEndpoint: WebhookEndpoint | null;
}

@ObjectType({ description: 'The payload of `deleteWebhookEndpoint`.' })
export class DeleteWebhookEndpointPayload extends Payload {
  @Field(() => ID, fieldOptions('The ID of the deleted endpoint.'))
  deletedWebhookEndpointId: string;
}

@ObjectType({ description: 'The payload of `rotateWebhookSecret`.' })
export class RotateWebhookSecretPayload extends WebhookSecretPayload {}

@ObjectType({ description: 'The payload of `sendTestEvent`.' })
export class SendTestEventPayload extends DeliveryPayload {}

@ObjectType({ description: 'The payload of `redeliver`.' })
export class RedeliverPayload extends DeliveryPayload {}
