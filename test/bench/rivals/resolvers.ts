/**
 * Resolvers on the handwritten market. They join rows where the floor does, and run one statement per requested list.
 */
import { GraphQLError, GraphQLScalarType } from 'graphql';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { findViewer } from './access.js';
import { actionsOn, award, bidsOn, checkIn, listOpenJobs, me, ownJob, publish, Refused, timelineOf } from './market.js';

export interface Context {
  viewer: Viewer | undefined;
}

export async function contextOf(authorization: string | undefined): Promise<Context> {
  return { viewer: await findViewer(authorization) };
}

function known({ viewer }: Context): Viewer {
  if (!viewer) throw new GraphQLError('UNAUTHENTICATED', { extensions: { code: 'UNAUTHENTICATED' } });
  return viewer;
}

async function worded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refused ? new GraphQLError(error.code, { extensions: { code: error.code } }) : error;
  }
}

type OwnJob = Awaited<ReturnType<typeof ownJob>>;
type WithId = { id: string };

const asIs = (name: string) => new GraphQLScalarType({ name, serialize: (value) => value });

export const SCALARS = {
  DateTime: new GraphQLScalarType({
    name: 'DateTime',
    serialize: (value) => (value instanceof Date ? value.toISOString() : value),
  }),
  Date: asIs('Date'),
  JSON: asIs('JSON'),
};

export const RESOLVERS = {
  ...SCALARS,
  Query: {
    jobs: (_: unknown, __: unknown, context: Context) => listOpenJobs(known(context)),
    job: (_: unknown, { id }: WithId, context: Context) => worded(ownJob(known(context), id)),
    viewer: (_: unknown, __: unknown, context: Context) => me(known(context)),
  },
  Job: {
    bids: ({ id }: OwnJob) => bidsOn(id),
    timeline: ({ id }: OwnJob) => timelineOf(id),
    availableActions: ({ facts }: OwnJob, _: unknown, context: Context) => actionsOn(known(context), facts),
  },
  Mutation: {
    publishJob: (_: unknown, { id }: WithId, context: Context) => worded(publish(known(context), id)),
    awardJob: (_: unknown, { id, input }: WithId & { input: { bidId: string } }, context: Context) =>
      worded(award(known(context), id, input.bidId).then((job) => ({ job }))),
    checkInJob: (_: unknown, { id, input }: WithId & { input?: { notes?: string } }, context: Context) =>
      worded(checkIn(known(context), id, input?.notes ?? null).then((job) => ({ job }))),
  },
};
