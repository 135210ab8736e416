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
  @Field(() => Viewer, { nullable: true, description: 'Oneself as one is now, tokens included.' })
  viewer(@Ctx() { caller }: Context): object {
    return performWithin(readMe, {}, caller);
  }
}

@ObjectType()
abstract class JobPayload extends Payload {
  @Field(() => Job, fieldOptions('The job as it is now.', 'nullable'))
  job: Job | null;
}

@ObjectType()
abstract class BidPayload extends Payload {
  @Field(() => Bid, fieldOptions('The bid as it is now.', 'nullable'))
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
  @Field(() => WebhookDelivery, fieldOptions('The delivery as it is now.', 'nullable'))
  delivery: WebhookDelivery | null;
}

// Without `viewer`: the session is new, and this request has no role yet. The next request reads it with the token.

@ObjectType({ implements: Session, description: 'What `signUpHomeowner` answers.' })
export class SignUpHomeownerPayload {}

@ObjectType({ implements: Session, description: 'What `signUpContractor` answers.' })
export class SignUpContractorPayload {}

@ObjectType({ implements: Session, description: 'What `logIn` answers.' })
export class LogInPayload {}

@ObjectType({ implements: Session, description: 'What `refreshSession` answers.' })
export class RefreshSessionPayload {}

@ObjectType({ description: 'What `requestPasswordReset` answers.' })
export class RequestPasswordResetPayload {
  @Field(() => Boolean, fieldOptions('Always true, whether or not an account has the address.'))
  requested: boolean;
}

@ObjectType({ description: 'What `requestEmailVerification` answers.' })
export class RequestEmailVerificationPayload extends Payload {
  @Field(() => Boolean, fieldOptions('Whether a mail is on its way: not if the address is confirmed already.'))
  requested: boolean;
}

@ObjectType({ description: 'What `sendPasswordReset` answers.' })
export class SendPasswordResetPayload extends Payload {
  @Field(() => Boolean, fieldOptions('Always true: a mail is on its way.'))
  requested: boolean;
}

@ObjectType({ description: 'What `changeEmail` answers.' })
export class ChangeEmailPayload extends Payload {
  @Field(() => Boolean, fieldOptions('Always true: a mail is on its way.'))
  requested: boolean;
}

@ObjectType({ description: 'What `resetPassword` answers.' })
export class ResetPasswordPayload {
  @Field(() => Boolean, fieldOptions(CHANGED_PASSWORD.fields.changed.description))
  changed: boolean;
}

@ObjectType({ description: 'The payload of `verifyEmail`.' })
export class VerifyEmailPayload {
  @Field(() => String, fieldOptions('The address that the account has now.'))
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

@ObjectType({ description: 'What `changePassword` answers.' })
export class ChangePasswordPayload extends Payload {
  @Field(() => Boolean, fieldOptions(CHANGED_PASSWORD.fields.changed.description))
  changed: boolean;

  @Field(() => Boolean, fieldOptions(CHANGED_PASSWORD.fields.noticeSent.description))
  noticeSent: boolean;
}

@ObjectType({ description: 'What `updateProfile` answers.' })
export class UpdateProfilePayload extends Payload {}

@ObjectType({ description: 'What `verifyContractor` answers.' })
export class VerifyContractorPayload extends Payload {
  @Field(() => Contractor, fieldOptions('The contractor, who is verified now.', 'nullable'))
  contractor: Contractor | null;
}

@ObjectType({ description: 'What `unverifyContractor` answers.' })
export class UnverifyContractorPayload extends Payload {
  @Field(() => Contractor, fieldOptions('The contractor, who is not verified now.', 'nullable'))
  contractor: Contractor | null;
}

@ObjectType({ description: 'What `suspendUser` answers.' })
export class SuspendUserPayload extends Payload {
  @Field(() => User, fieldOptions('The person, who is suspended now.', 'nullable'))
  user: User | null;
}

@ObjectType({ description: 'What `restoreUser` answers.' })
export class RestoreUserPayload extends Payload {
  @Field(() => User, fieldOptions('The person, who is not suspended now.', 'nullable'))
  user: User | null;
}

@ObjectType({ description: 'What `createApiKey` answers.' })
export class CreateApiKeyPayload extends Payload {
  @Field(() => ApiKey, fieldOptions(NEW_API_KEY.fields.apiKey.description, 'nullable'))
  apiKey: ApiKey | null;

  @Field(() => String, fieldOptions(NEW_API_KEY.fields.secret.description))
  secret: string;
}

@ObjectType({ description: 'What `revokeApiKey` answers.' })
export class RevokeApiKeyPayload extends Payload {
  @Field(() => ApiKey, fieldOptions('The key as it was.', 'nullable'))
  apiKey: ApiKey | null;
}

@ObjectType({ description: 'The payload of `logOut`.' })
export class LogOutPayload {
  @Field(() => ActiveSession, fieldOptions('The session that was ended.', 'nullable'))
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

@ObjectType({ description: 'What `endSession` answers.' })
export class EndSessionPayload extends Payload {
  @Field(() => ActiveSession, fieldOptions('The log-in as it was.', 'nullable'))
  session: ActiveSession | null;
}

@ObjectType({ description: 'What `endOtherSessions` answers.' })
export class EndOtherSessionsPayload extends Payload {
  @Field(() => Int, fieldOptions('How many log-ins were ended.'))
  endedCount: number;
}

@ObjectType({ description: 'What `adjustTokens` answers.' })
export class AdjustTokensPayload extends Payload {
  @Field(() => TokenTransfer, fieldOptions('The transfer that was made.', 'nullable'))
  transfer: TokenTransfer | null;
}

@ObjectType({ description: 'What `createJob` answers.' })
export class CreateJobPayload extends JobPayload {
  @Field(() => JobConnection.Edge, fieldOptions('The same, to put into a list of jobs, newest first.', 'nullable'))
  jobEdge: object | null;
}

@ObjectType({ description: 'What `updateJob` answers.' })
export class UpdateJobPayload extends JobPayload {}

@ObjectType({ description: 'What `deleteJob` answers.' })
export class DeleteJobPayload extends Payload {
  @Field(() => Job, fieldOptions('The draft as it last was.', 'nullable'))
  job: Job | null;

  @Field(() => ID, fieldOptions('The identifier of the draft, which is gone.'))
  deletedJobId: string;
}

@ObjectType({ description: 'What `publishJob` answers.' })
export class PublishJobPayload extends JobPayload {
  @Field(() => Int, fieldOptions(PUBLICATION.fields.tokensCharged.description))
  tokensCharged: number;

  @Field(() => Int, fieldOptions(PUBLICATION.fields.remainingBalance.description))
  remainingBalance: number;
}

@ObjectType({ description: 'What `awardJob` answers.' })
export class AwardJobPayload extends JobPayload {}

@ObjectType({ description: 'What `checkInJob` answers.' })
export class CheckInJobPayload extends JobPayload {}

@ObjectType({ description: 'What `submitJobForReview` answers.' })
export class SubmitJobForReviewPayload extends JobPayload {}

@ObjectType({ description: 'What `approveJob` answers.' })
export class ApproveJobPayload extends JobPayload {}

@ObjectType({ description: 'What `disputeJob` answers.' })
export class DisputeJobPayload extends JobPayload {}

@ObjectType({ description: 'What `escalateJob` answers.' })
export class EscalateJobPayload extends JobPayload {}

@ObjectType({ description: 'What `resolveDispute` answers.' })
export class ResolveDisputePayload extends JobPayload {}

@ObjectType({ description: 'The payload of `acceptResolution`.' })
export class AcceptResolutionPayload extends JobPayload {}

@ObjectType({ description: 'What `reachDecision` answers.' })
export class ReachDecisionPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `acceptDecision`.' })
export class AcceptDecisionPayload extends JobPayload {}

@ObjectType({ description: 'What `fileAppeal` answers.' })
export class FileAppealPayload extends JobPayload {}

@ObjectType({ description: 'What `finalizeAppeal` answers.' })
export class FinalizeAppealPayload extends JobPayload {}

@ObjectType({ description: 'The payload of `reviewJob`.' })
export class ReviewJobPayload extends JobPayload {}

@ObjectType({ description: 'What `completeJob` answers.' })
export class CompleteJobPayload extends JobPayload {}

@ObjectType({ description: 'What `cancelJob` answers.' })
export class CancelJobPayload extends JobPayload {}

@ObjectType({ description: 'What `submitBid` answers.' })
export class SubmitBidPayload extends BidPayload {
  @Field(() => BidConnection.Edge, fieldOptions('The same, to put into the list of bids on its job.', 'nullable'))
  bidEdge: object | null;
}

@ObjectType({ description: 'What `viewBid` answers.' })
export class ViewBidPayload extends BidPayload {}

@ObjectType({ description: 'What `shortlistBid` answers.' })
export class ShortlistBidPayload extends BidPayload {}

@ObjectType({ description: 'What `rejectBid` answers.' })
export class RejectBidPayload extends BidPayload {}

@ObjectType({ description: 'What `withdrawBid` answers.' })
export class WithdrawBidPayload extends BidPayload {}

@ObjectType({ description: 'What `createWebhookEndpoint` answers.' })
export class CreateWebhookEndpointPayload extends WebhookSecretPayload {}

@ObjectType({ description: 'What `updateWebhookEndpoint` answers.' })
export class UpdateWebhookEndpointPayload extends Payload {
  @Field(() => WebhookEndpoint, fieldOptions('The endpoint as it is now.', 'nullable'))
  webhookEndpoint: WebhookEndpoint | null;
}

@ObjectType({ description: 'What `deleteWebhookEndpoint` answers.' })
export class DeleteWebhookEndpointPayload extends Payload {
  @Field(() => ID, fieldOptions('The identifier of the endpoint, which is gone.'))
  deletedWebhookEndpointId: string;
}

@ObjectType({ description: 'What `rotateWebhookSecret` answers.' })
export class RotateWebhookSecretPayload extends WebhookSecretPayload {}

@ObjectType({ description: 'What `sendTestEvent` answers.' })
export class SendTestEventPayload extends DeliveryPayload {}

@ObjectType({ description: 'What `redeliver` answers.' })
export class RedeliverPayload extends DeliveryPayload {}
