import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Resolver } from 'type-graphql';
import { endOtherSessions, endSession, listSessions } from '../../../market/operations/sessions/sessions.js';
import { perform, performWithin } from '../../../platform/call/operation.js';
import type { Context } from '../../context.js';
import { Connection, PageArgs } from '../../types/connection.js';
import { EndOtherSessionsPayload, EndSessionPayload } from '../../types/payloads.js';
import { ActiveSessionConnection, Viewer } from '../../types/account.js';
import { mutationOptions } from '../field-options.js';

@Resolver(() => Viewer)
export class SessionResolver {
  @Mutation(() => EndSessionPayload, mutationOptions(endSession))
  endSession(@Arg('id', () => ID, { description: 'The session.' }) id: string, @Ctx() { caller }: Context) {
    return perform(endSession, { id }, caller).then((session) => ({ session }));
  }

  @Mutation(() => EndOtherSessionsPayload, mutationOptions(endOtherSessions))
  endOtherSessions(@Ctx() { caller }: Context) {
    return perform(endOtherSessions, {}, caller);
  }

  @FieldResolver(() => ActiveSessionConnection, {
    nullable: true,
    description: 'Your active sessions, newest first. You can’t read them with an API key.',
  })
  async sessions(@Args(() => PageArgs) page: PageArgs, @Ctx() { caller }: Context) {
    return new Connection(await performWithin(listSessions, page, caller));
  }
}
