import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import { perform, performWithin } from '../../operations/operation.js';
import type { Context } from '../context.js';
import { Input, inputOf } from '../inputs.js';
import { ChangePasswordResult, Contractor, LogOutResult, Session, UserConnection } from '../types/account.js';
import { Connection, PageArgs } from '../types/connection.js';
import { TokenTransferConnection } from '../types/tokens.js';
import { Viewer } from '../types/viewer.js';
import { of } from './says.js';

const { signUpHomeowner, signUpContractor, logIn, refreshSession, logOut, changePassword, readMe, updateProfile } =
  OPERATIONS;
const { readContractor, verifyContractor, listUsers, listTransfers } = OPERATIONS;

const SignUpHomeownerInput = inputOf('SignUpHomeownerInput', signUpHomeowner.input, 'Who joins as a homeowner.');
const SignUpContractorInput = inputOf('SignUpContractorInput', signUpContractor.input, 'Who joins as a contractor.');
const LogInInput = inputOf('LogInInput', logIn.input, 'Email and password.');
const RefreshSessionInput = inputOf('RefreshSessionInput', refreshSession.input, 'The session to carry on.');
const ChangePasswordInput = inputOf('ChangePasswordInput', changePassword.input, 'The old password and the new one.');
const UpdateProfileInput = inputOf(
  'UpdateProfileInput',
  updateProfile.input,
  'What to change: left out stays, null clears.',
);

@Resolver(() => Viewer)
export class AccountResolver {
  @Mutation(() => Session, of(signUpHomeowner))
  signUpHomeowner(@Input(SignUpHomeownerInput) input: object, @Ctx() { caller }: Context) {
    return perform(signUpHomeowner, input, caller);
  }

  @Mutation(() => Session, of(signUpContractor))
  signUpContractor(@Input(SignUpContractorInput) input: object, @Ctx() { caller }: Context) {
    return perform(signUpContractor, input, caller);
  }

  @Mutation(() => Session, of(logIn))
  logIn(@Input(LogInInput) input: object, @Ctx() { caller }: Context) {
    return perform(logIn, input, caller);
  }

  @Mutation(() => Session, of(refreshSession))
  refreshSession(@Input(RefreshSessionInput) input: object, @Ctx() { caller }: Context) {
    return perform(refreshSession, input, caller);
  }

  @Mutation(() => LogOutResult, of(logOut))
  logOut(@Ctx() { caller }: Context) {
    return perform(logOut, {}, caller);
  }

  @Mutation(() => ChangePasswordResult, of(changePassword))
  changePassword(@Input(ChangePasswordInput) input: object, @Ctx() { caller }: Context) {
    return perform(changePassword, input, caller);
  }

  @Query(() => Viewer, { ...of(readMe), nullable: true })
  viewer(@Ctx() { caller }: Context) {
    return perform(readMe, {}, caller);
  }

  @FieldResolver(() => TokenTransferConnection, { description: 'Every movement of these tokens, newest first.' })
  async tokenTransactions(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await performWithin(listTransfers, page, caller));
  }

  @Mutation(() => Viewer, of(updateProfile))
  updateProfile(@Input(UpdateProfileInput, 'nullable') input: object | undefined, @Ctx() { caller }: Context) {
    return perform(updateProfile, input, caller);
  }

  @Query(() => Contractor, { ...of(readContractor), nullable: true })
  contractor(@Arg('id', () => ID, { description: 'The contractor.' }) id: string, @Ctx() { caller }: Context) {
    return perform(readContractor, { id }, caller);
  }

  @Mutation(() => Contractor, of(verifyContractor))
  verifyContractor(@Arg('id', () => ID, { description: 'The contractor.' }) id: string, @Ctx() { caller }: Context) {
    return perform(verifyContractor, { id }, caller);
  }

  @Query(() => UserConnection, { ...of(listUsers), nullable: true })
  async users(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await perform(listUsers, page, caller));
  }
}
