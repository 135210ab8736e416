import { Arg, Ctx, ID, Mutation, Resolver } from 'type-graphql';
import { endUserSessions, restoreUser, suspendUser } from '../../../market/operations/admins/suspension.js';
import { perform } from '../../../platform/call/operation.js';
import type { Context } from '../../context.js';
import { Input, inputOf } from '../../types/field.js';
import { EndUserSessionsPayload, RestoreUserPayload, SuspendUserPayload } from '../../types/payloads.js';
import { mutationOptions } from '../field-options.js';

const SuspendUserInput = inputOf('SuspendUserInput', suspendUser.input, 'The reason and the end of the suspension.');
const RestoreUserInput = inputOf('RestoreUserInput', restoreUser.input, 'The reason.');
const EndUserSessionsInput = inputOf('EndUserSessionsInput', endUserSessions.input, 'The reason.');

@Resolver()
export class SuspensionResolver {
  @Mutation(() => SuspendUserPayload, mutationOptions(suspendUser))
  suspendUser(
    @Arg('id', () => ID, { description: 'The user.' }) id: string,
    @Input(SuspendUserInput) input: object,
    @Ctx() { caller }: Context,
  ) {
    return perform(suspendUser, Object.assign({}, input, { id }), caller).then((user) => ({ user }));
  }

  @Mutation(() => RestoreUserPayload, mutationOptions(restoreUser))
  restoreUser(
    @Arg('id', () => ID, { description: 'The user.' }) id: string,
    @Input(RestoreUserInput, 'nullable') input: object | undefined,
    @Ctx() { caller }: Context,
  ) {
    return perform(restoreUser, Object.assign({}, input, { id }), caller).then((user) => ({ user }));
  }

  @Mutation(() => EndUserSessionsPayload, mutationOptions(endUserSessions))
  endUserSessions(
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
    @Input(EndUserSessionsInput) input: object,
    @Ctx() { caller }: Context,
  ) {
    return perform(endUserSessions, Object.assign({}, input, { id: userId }), caller);
  }
}
