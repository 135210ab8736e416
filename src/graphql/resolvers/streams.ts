import { Arg, Ctx, ID, Resolver, Subscription } from 'type-graphql';
import { OPERATIONS } from '../../operations/index.js';
import type { EventsToCome } from '../../operations/jobs/streams.js';
import { perform, type Operation } from '../../operations/operation.js';
import type { Context } from '../context.js';
import { placedDirectly } from '../direct.js';
import { JobEvent } from '../types/jobs.js';

const { streamJobEvents, streamMyEvents } = OPERATIONS;

const AFTER = {
  nullable: true,
  description:
    'The position of the last event that was seen: what was missed since comes first. From now on, unless told.',
};

@Resolver()
export class StreamResolver {
  @Subscription(() => JobEvent, { description: streamJobEvents.says, subscribe: placedDirectly })
  jobEvents(
    @Arg('jobId', () => ID, { description: 'The job.' }) jobId: string,
    @Arg('after', () => String, AFTER) after: string | undefined,
    @Ctx() context: Context,
  ) {
    return begin(streamJobEvents, { jobId, after }, context);
  }

  @Subscription(() => JobEvent, { description: streamMyEvents.says, subscribe: placedDirectly })
  myEvents(@Arg('after', () => String, AFTER) after: string | undefined, @Ctx() context: Context) {
    return begin(streamMyEvents, { after }, context);
  }
}

async function begin<Input>(operation: Operation<Input, EventsToCome>, input: object, { caller, opening }: Context) {
  const { open } = await perform(operation, input, caller);
  if (!opening) throw new Error('A subscription was executed where no stream is opened.');
  return opening.begin(open);
}
