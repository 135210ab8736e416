import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import {
  changeEmail,
  requestEmailVerification,
  resendEmailVerification,
  verifyEmail,
} from '../../../market/operations/accounts/email.js';
import { settleEmailUndo, undoEmailChange } from '../../../market/operations/accounts/email-undo.js';
import {
  requestPasswordReset,
  resetPassword,
  sendPasswordReset,
} from '../../../market/operations/accounts/password-reset.js';
import { perform } from '../../../platform/call/operation.js';
import type { Context } from '../../context.js';
import { Input, inputOf } from '../../types/field.js';
import {
  ChangeEmailPayload,
  RequestEmailVerificationPayload,
  RequestPasswordResetPayload,
  ResendEmailVerificationPayload,
  ResetPasswordPayload,
  SendPasswordResetPayload,
  SettleEmailUndoPayload,
  UndoEmailChangePayload,
  VerifyEmailPayload,
} from '../../types/payloads.js';
import { mutationOptions } from '../field-options.js';

const RequestPasswordResetInput = inputOf(
  'RequestPasswordResetInput',
  requestPasswordReset.input,
  'The account’s email address.',
);
const ResetPasswordInput = inputOf('ResetPasswordInput', resetPassword.input, 'The link and the new password.');
const VerifyEmailInput = inputOf('VerifyEmailInput', verifyEmail.input, 'The link.');
const ChangeEmailInput = inputOf('ChangeEmailInput', changeEmail.input, 'The new address and the password.');
const UndoEmailChangeInput = inputOf('UndoEmailChangeInput', undoEmailChange.input, 'The link.');
const SettleEmailUndoInput = inputOf('SettleEmailUndoInput', settleEmailUndo.input, 'The decision and the reason.');

@Resolver()
export class EmailsAndPasswordsResolver {
  @Mutation(() => RequestPasswordResetPayload, mutationOptions(requestPasswordReset))
  requestPasswordReset(@Input(RequestPasswordResetInput) input: object, @Ctx() { caller }: Context) {
    return perform(requestPasswordReset, input, caller);
  }

  @Mutation(() => ResetPasswordPayload, mutationOptions(resetPassword))
  resetPassword(@Input(ResetPasswordInput) input: object, @Ctx() { caller }: Context) {
    return perform(resetPassword, input, caller);
  }

  @Mutation(() => SendPasswordResetPayload, mutationOptions(sendPasswordReset))
  sendPasswordReset(@Arg('userId', () => ID, { description: 'The user.' }) userId: string, @Ctx() { caller }: Context) {
    return perform(sendPasswordReset, { id: userId }, caller);
  }

  @Mutation(() => RequestEmailVerificationPayload, mutationOptions(requestEmailVerification))
  requestEmailVerification(@Ctx() { caller }: Context) {
    return perform(requestEmailVerification, {}, caller);
  }

  @Mutation(() => ResendEmailVerificationPayload, mutationOptions(resendEmailVerification))
  resendEmailVerification(
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
    @Ctx() { caller }: Context,
  ) {
    return perform(resendEmailVerification, { id: userId }, caller);
  }

  @Mutation(() => VerifyEmailPayload, mutationOptions(verifyEmail))
  verifyEmail(@Input(VerifyEmailInput) input: object, @Ctx() { caller }: Context) {
    return perform(verifyEmail, input, caller);
  }

  @Mutation(() => ChangeEmailPayload, mutationOptions(changeEmail))
  changeEmail(@Input(ChangeEmailInput) input: object, @Ctx() { caller }: Context) {
    return perform(changeEmail, input, caller);
  }

  @Mutation(() => UndoEmailChangePayload, mutationOptions(undoEmailChange))
  undoEmailChange(@Input(UndoEmailChangeInput) input: object, @Ctx() { caller }: Context) {
    return perform(undoEmailChange, input, caller);
  }

  @Mutation(() => SettleEmailUndoPayload, mutationOptions(settleEmailUndo))
  settleEmailUndo(
    @Arg('userId', () => ID, { description: 'The user whose account is disputed.' }) userId: string,
    @Input(SettleEmailUndoInput) input: object,
    @Ctx() { caller }: Context,
  ) {
    return perform(settleEmailUndo, Object.assign({}, input, { id: userId }), caller).then((user) => ({ user }));
  }
}
