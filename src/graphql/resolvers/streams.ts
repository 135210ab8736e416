import { Arg, ID, Resolver, Root, Subscription } from 'type-graphql';
import { NOT_AMONG_OWN_EVENTS, streamJobEvents, streamMyEvents } from '../../market/operations/events/events.js';
import type { EventsToCome } from '../../market/operations/events/events.js';
import { streamMyNotifications } from '../../market/operations/notifications/notifications.js';
import { type Operation, perform } from '../../platform/call/operation.js';
import type { Context } from '../context.js';
import { JobEvent } from '../types/jobs.js';
import { Notification } from '../types/notifications.js';

const AFTER = {
  nullable: true,
  description:
    'The position of the last event you saw. The events since then are sent first. By default, the stream starts now.',
};

const AFTER_NOTIFICATION = {
  nullable: true,
  description:
    'The position of the last notification you saw. The notifications since then are sent first. By default, the ' +
    'stream starts now.',
};

/** Subscriptions. The methods only declare arguments. Each event becomes the field's value. */
@Resolver()
export class StreamResolver {
  @Subscription(() => JobEvent, { description: streamJobEvents.description, subscribe: streamOf(streamJobEvents) })
  jobEvents(
    @Root() event: object,
    @Arg('jobId', () => ID, { description: 'The job.' }) _jobId: string,
    @Arg('after', () => String, AFTER) _after: string | undefined,
  ): object {
    return event;
  }

  @Subscription(() => JobEvent, {
    description: `${streamMyEvents.description} ${NOT_AMONG_OWN_EVENTS}`,
    subscribe: streamOf(streamMyEvents),
  })
  myEvents(@Root() event: object, @Arg('after', () => String, AFTER) _after: string | undefined): object {
    return event;
  }

  @Subscription(() => Notification, {
    description: streamMyNotifications.description,
    subscribe: streamOf(streamMyNotifications),
  })
  myNotifications(
    @Root() notification: object,
    @Arg('after', () => String, AFTER_NOTIFICATION) _after: string | undefined,
  ): object {
    return notification;
  }
}

interface SubscribeRequest {
  // type-graphql uses these types for `args` and the root value.
  readonly args: Record<string, unknown>;
  readonly context: object;
}

function streamOf<Input>(operation: Operation<Input, EventsToCome<object>>) {
  return async ({ args, context }: SubscribeRequest): Promise<AsyncIterable<unknown>> => {
    const { caller, opening } = context as Context;
    const { open } = await perform(operation, args, caller);
    // A stream's own reads must include everything up to the position where the stream starts.
    caller.pool.readPrimary();
    if (!opening) throw new Error('A subscription ran outside of a stream.');
    return opening.begin(() => open(caller.pool));
  };
}
