import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { type Me, readMe, updateProfile } from '../../../market/operations/accounts/me.js';
import { changePassword } from '../../../market/operations/accounts/change-password.js';
import {
  contractorFilter,
  listContractors,
  readContractor,
  unverifyContractor,
  verifyContractor,
} from '../../../market/operations/people/contractors.js';
import { logIn, logOut, refreshSession } from '../../../market/operations/sessions/sessions.js';
import { signUpContractor, signUpHomeowner } from '../../../market/operations/accounts/sign-up.js';
import { listUsers, userFilter } from '../../../market/operations/people/users.js';
import { listTransfers } from '../../../market/operations/tokens/tokens.js';
import { siblingOf } from '../../../market/rules/ids.js';
import { perform, performWithin } from '../../../platform/call/operation.js';
import type { Context } from '../../context.js';
import { ContractorOrderEnum } from '../../enums.js';
import { Input, inputOf } from '../../types/field.js';
import { Contractor, ContractorConnection, UserConnection, Viewer } from '../../types/account.js';
import { Connection, PageArgs } from '../../types/connection.js';
import type { ContractorOrder } from '../../../market/rules/entities/people.js';
import {
  ChangePasswordPayload,
  LogInPayload,
  LogOutPayload,
  RefreshSessionPayload,
  SignUpContractorPayload,
  SignUpHomeownerPayload,
  UnverifyContractorPayload,
  UpdateProfilePayload,
  VerifyContractorPayload,
} from '../../types/payloads.js';
import { TokenTransferConnection } from '../../types/tokens.js';
import { mutationOptions, queryOptions } from '../field-options.js';

const SignUpHomeownerInput = inputOf('SignUpHomeownerInput', signUpHomeowner.input, 'The new homeowner.');
const SignUpContractorInput = inputOf('SignUpContractorInput', signUpContractor.input, 'The new contractor.');
const LogInInput = inputOf('LogInInput', logIn.input, 'The email address and password.');
const RefreshSessionInput = inputOf('RefreshSessionInput', refreshSession.input, 'The refresh token to exchange.');
const ChangePasswordInput = inputOf(
  'ChangePasswordInput',
  changePassword.input,
  'The current password and the new one.',
);
const UpdateProfileInput = inputOf(
  'UpdateProfileInput',
  updateProfile.input,
  'The fields to change. Omitted fields are unchanged; null clears a field.',
);
const VerifyContractorInput = inputOf('VerifyContractorInput', verifyContractor.input, 'The reason.');
const UnverifyContractorInput = inputOf('UnverifyContractorInput', unverifyContractor.input, 'The reason.');
const ContractorFilter = inputOf('ContractorFilter', contractorFilter, 'Filters a list of contractors.');
const UserFilter = inputOf('UserFilter', userFilter, 'Filters a list of accounts.');

@Resolver(() => Viewer)
export class AccountResolver {
  @Mutation(() => SignUpHomeownerPayload, mutationOptions(signUpHomeowner))
  signUpHomeowner(@Input(SignUpHomeownerInput) input: object, @Ctx() { caller }: Context) {
    return perform(signUpHomeowner, input, caller);
  }

  @Mutation(() => SignUpContractorPayload, mutationOptions(signUpContractor))
  signUpContractor(@Input(SignUpContractorInput) input: object, @Ctx() { caller }: Context) {
    return perform(signUpContractor, input, caller);
  }

  @Mutation(() => LogInPayload, mutationOptions(logIn))
  logIn(@Input(LogInInput) input: object, @Ctx() { caller }: Context) {
    return perform(logIn, input, caller);
  }

  @Mutation(() => RefreshSessionPayload, mutationOptions(refreshSession))
  refreshSession(@Input(RefreshSessionInput) input: object, @Ctx() { caller }: Context) {
    return perform(refreshSession, input, caller);
  }

  @Mutation(() => LogOutPayload, mutationOptions(logOut))
  logOut(@Ctx() { caller }: Context) {
    return perform(logOut, {}, caller);
  }

  @Mutation(() => ChangePasswordPayload, mutationOptions(changePassword))
  changePassword(@Input(ChangePasswordInput) input: object, @Ctx() { caller }: Context) {
    return perform(changePassword, input, caller);
  }

  @Query(() => Viewer, { ...queryOptions(readMe), nullable: true })
  viewer(@Ctx() { caller }: Context) {
    return perform(readMe, {}, caller);
  }

  @FieldResolver(() => ID, { description: 'The ID of this `Viewer` object. For the user’s ID, use `user { id }`.' })
  id(@Root() { user }: Me) {
    return siblingOf('viewer', user.id);
  }

  @FieldResolver(() => TokenTransferConnection, { description: 'The account’s token transfers, newest first.' })
  async tokenTransactions(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await performWithin(listTransfers, page, caller));
  }

  @Mutation(() => UpdateProfilePayload, mutationOptions(updateProfile))
  updateProfile(@Input(UpdateProfileInput, 'nullable') input: object | undefined, @Ctx() { caller }: Context) {
    return perform(updateProfile, input ?? {}, caller).then((viewer) => ({ viewer }));
  }

  @Query(() => Contractor, { ...queryOptions(readContractor), nullable: true })
  contractor(@Arg('id', () => ID, { description: 'The contractor.' }) id: string, @Ctx() { caller }: Context) {
    return perform(readContractor, { id }, caller);
  }

  @Query(() => ContractorConnection, { ...queryOptions(listContractors), nullable: true })
  async contractors(
    @Arg('filter', () => ContractorFilter, { nullable: true, description: 'Filters the list.' })
    filter: object | undefined,
    @Arg('orderBy', () => ContractorOrderEnum, {
      nullable: true,
      description: 'The order of the list. The default is newest first. `NEAREST` requires a place in the filter.',
    })
    orderBy: ContractorOrder | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { caller }: Context,
  ) {
    return new Connection(await perform(listContractors, Object.assign({}, filter, page, { orderBy }), caller));
  }

  @Mutation(() => VerifyContractorPayload, mutationOptions(verifyContractor))
  verifyContractor(
    @Arg('id', () => ID, { description: 'The contractor.' }) id: string,
    @Input(VerifyContractorInput, 'nullable') input: object | undefined,
    @Ctx() { caller }: Context,
  ) {
    return perform(verifyContractor, Object.assign({}, input, { id }), caller).then((contractor) => ({ contractor }));
  }

  @Mutation(() => UnverifyContractorPayload, mutationOptions(unverifyContractor))
  unverifyContractor(
    @Arg('id', () => ID, { description: 'The contractor.' }) id: string,
    @Input(UnverifyContractorInput) input: object,
    @Ctx() { caller }: Context,
  ) {
    return perform(unverifyContractor, Object.assign({}, input, { id }), caller).then((contractor) => ({ contractor }));
  }

  @Query(() => UserConnection, { ...queryOptions(listUsers), nullable: true })
  async users(
    @Arg('filter', () => UserFilter, { nullable: true, description: 'Filters the list.' }) filter: object | undefined,
    @Args(() => PageArgs) page: PageArgs,
    @Ctx() { caller }: Context,
  ) {
    return new Connection(await perform(listUsers, Object.assign({}, filter, page), caller));
  }
}
