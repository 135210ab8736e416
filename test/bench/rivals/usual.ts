/**
 * The usual stack: Apollo on Express, Drizzle's query builder on each call, a DataLoader per relation, and transactions
 * that read, check, and write. The code isn't clumsy. It follows each library's documentation.
 */
import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import DataLoader from 'dataloader';
import { and, asc, desc, eq, gt, inArray, isNull, ne, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/postgres-js';
import express from 'express';
import { GraphQLError } from 'graphql';
import postgres from 'postgres';
import { availableActions } from '../../../src/market/rules/jobs/available-actions.js';
import type { BidId, ContractorId, HomeownerId, JobId, UserId } from '../../../src/market/rules/ids.js';
import { BID_STATES, JOB_STATES, LIVE_BID_STATES } from '../../../src/market/rules/states.js';
import { PUBLISH_COST, URGENCIES } from '../../../src/market/rules/jobs/publishing.js';
import { ROLES, type Viewer } from '../../../src/market/rules/viewer.js';
import { newId } from '../../../src/market/store/new-id.js';
import { contractors, homeowners, users } from '../../../src/market/store/tables/accounts.js';
import { bids, holds } from '../../../src/market/store/tables/bids.js';
import { events } from '../../../src/market/store/tables/events.js';
import { jobs, type JobRow } from '../../../src/market/store/tables/jobs.js';
import { tokenBalances, tokenTransfers } from '../../../src/market/store/tables/ledger.js';
import { sessions } from '../../../src/market/store/tables/sessions.js';
import { claimsOf } from './access.js';
import { environment } from './environment.js';
import { NOTHING_SPECIAL } from './market.js';
import { listening, observe } from './observed.js';
import { POOL_SIZE } from './postgres.js';
import { SCALARS } from './resolvers.js';
import { TYPE_DEFS } from './schema.js';

const db = drizzle({
  client: postgres(environment('DATABASE_URL'), { max: POOL_SIZE, fetch_types: false, onnotice: () => {} }),
  casing: 'snake_case',
});

type Bid = typeof bids.$inferSelect;
type Homeowner = typeof homeowners.$inferSelect;
type Contractor = typeof contractors.$inferSelect;

async function viewerOf(authorization: string | undefined): Promise<Viewer | undefined> {
  const claims = claimsOf(authorization);
  if (!claims) return undefined;
  const [row] = await db
    .select({
      userId: users.id,
      sessionId: sessions.id,
      role: users.userType,
      homeownerId: homeowners.id,
      contractorId: contractors.id,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(homeowners, eq(homeowners.userId, users.id))
    .leftJoin(contractors, eq(contractors.userId, users.id))
    .where(
      and(
        eq(sessions.id, claims.sessionId as 'ses_'),
        eq(sessions.userId, claims.userId as UserId),
        isNull(sessions.revokedAt),
        gt(sessions.endsAt, sql`now()`),
      ),
    );
  return row as Viewer | undefined;
}

function byId<Key, Row extends { id: Key }>(read: (ids: Key[]) => Promise<Row[]>): DataLoader<Key, Row | null> {
  return new DataLoader(async (ids) => {
    const found = new Map((await read([...ids])).map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  });
}

function createLoaders(viewer: Viewer | undefined) {
  return {
    users: byId((ids: UserId[]) => db.select().from(users).where(inArray(users.id, ids))),
    homeowners: byId((ids: HomeownerId[]) => db.select().from(homeowners).where(inArray(homeowners.id, ids))),
    contractors: byId((ids: ContractorId[]) => db.select().from(contractors).where(inArray(contractors.id, ids))),
    bids: byId((ids: BidId[]) => db.select().from(bids).where(inArray(bids.id, ids))),
    ownBids: new DataLoader(async (ids: readonly JobId[]) => {
      const { contractorId } = viewer ?? {};
      const found = contractorId
        ? await db
            .select()
            .from(bids)
            .where(and(inArray(bids.jobId, [...ids]), eq(bids.contractorId, contractorId)))
            .orderBy(desc(bids.createdAt), desc(bids.id))
        : [];
      return ids.map((id) => found.filter((bid) => bid.jobId === id));
    }),
  };
}

interface Context {
  viewer: Viewer | undefined;
  loaders: ReturnType<typeof createLoaders>;
}

function refuse(code: string): GraphQLError {
  return new GraphQLError(code, { extensions: { code } });
}

function known({ viewer }: Context): Viewer {
  if (!viewer) throw refuse('UNAUTHENTICATED');
  return viewer;
}

type Tx = Parameters<Parameters<typeof db.transaction>[0]>[0];

async function lockedJob(tx: Tx, id: JobId): Promise<JobRow> {
  const [job] = await tx.select().from(jobs).where(eq(jobs.id, id)).for('update');
  if (!job) throw refuse('NOT_FOUND');
  return job;
}

async function checkInJob(viewer: Viewer, id: JobId, notes: string | undefined) {
  return db.transaction(async (tx) => {
    const job = await lockedJob(tx, id);
    if (job.awardedContractorId !== viewer.contractorId) throw refuse('FORBIDDEN');
    if (job.status !== 'awarded') throw refuse('INVALID_TRANSITION');
    const eventCount = job.eventCount + 1;
    const [moved] = await tx
      .update(jobs)
      .set({
        status: 'in_progress',
        version: job.version + 1,
        updatedAt: new Date(),
        eventCount,
        completionDateAtCheckIn: job.desiredCompletionDate,
      })
      .where(eq(jobs.id, id))
      .returning();
    await tx
      .insert(events)
      .values({
        id: newId('event'),
        jobId: id,
        homeownerId: job.homeownerId,
        sequence: eventCount,
        type: 'job.checked_in',
        actorId: viewer.userId,
        fromStatus: 'awarded',
        toStatus: 'in_progress',
        occurredAt: new Date(),
        data: notes === undefined ? {} : { notes },
      });
    return moved;
  });
}

async function publishJob(viewer: Viewer, id: JobId) {
  return db.transaction(async (tx) => {
    const job = await lockedJob(tx, id);
    if (job.homeownerId !== viewer.homeownerId) throw refuse('FORBIDDEN');
    if (job.status !== 'draft') throw refuse('INVALID_TRANSITION');
    if (!job.urgency || !job.category || !job.addressLine1 || !job.city || !job.state) throw refuse('MISSING_FIELDS');
    const tokensCharged = PUBLISH_COST[job.urgency];
    const [balance] = await tx
      .select()
      .from(tokenBalances)
      .where(eq(tokenBalances.userId, viewer.userId))
      .for('update');
    if (!balance || balance.balance - balance.held < tokensCharged) throw refuse('INSUFFICIENT_TOKENS');
    const eventCount = job.eventCount + 1;
    const [moved] = await tx
      .update(jobs)
      .set({
        status: 'open',
        version: job.version + 1,
        updatedAt: new Date(),
        eventCount,
        mostTokensPaid: tokensCharged,
        highestBudgetMin: job.budgetMin,
        highestBudgetMax: job.budgetMax,
      })
      .where(eq(jobs.id, id))
      .returning();
    await tx
      .update(tokenBalances)
      .set({ balance: balance.balance - tokensCharged })
      .where(eq(tokenBalances.userId, viewer.userId));
    await tx
      .insert(tokenTransfers)
      .values({
        id: newId('transfer'),
        fromAccount: viewer.userId,
        toAccount: 'fees',
        amount: tokensCharged,
        reason: 'publish',
        userId: viewer.userId,
        jobId: id,
      });
    await tx
      .insert(events)
      .values({
        id: newId('event'),
        jobId: id,
        homeownerId: job.homeownerId,
        sequence: eventCount,
        type: 'job.published',
        actorId: viewer.userId,
        fromStatus: 'draft',
        toStatus: 'open',
        occurredAt: new Date(),
        data: { tokensCharged },
      });
    return { job: moved, tokensCharged, remainingBalance: balance.balance - balance.held - tokensCharged };
  });
}

async function awardJob(viewer: Viewer, id: JobId, bidId: BidId) {
  return db.transaction(async (tx) => {
    const job = await lockedJob(tx, id);
    if (job.homeownerId !== viewer.homeownerId) throw refuse('FORBIDDEN');
    if (job.status !== 'open') throw refuse('INVALID_TRANSITION');
    const live = inArray(bids.status, [...LIVE_BID_STATES]);
    const [accepted] = await tx
      .update(bids)
      .set({ status: 'accepted', updatedAt: new Date() })
      .where(and(eq(bids.id, bidId), eq(bids.jobId, id), live))
      .returning();
    if (!accepted) throw refuse('UNKNOWN_BID');
    const rejected = await tx
      .update(bids)
      .set({ status: 'rejected', updatedAt: new Date() })
      .where(and(eq(bids.jobId, id), ne(bids.id, bidId), live))
      .returning();
    const staked = rejected.filter((bid) => bid.holdId !== null).map((bid) => bid.id);
    const released =
      staked.length === 0
        ? []
        : await tx
            .update(holds)
            .set({ status: 'released', releasedAt: new Date() })
            .where(and(inArray(holds.bidId, staked), eq(holds.status, 'active')))
            .returning();
    for (const hold of released.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))) {
      await tx
        .update(tokenBalances)
        .set({ held: sql`${tokenBalances.held} - ${hold.amount}` })
        .where(eq(tokenBalances.userId, hold.userId));
    }
    const eventCount = job.eventCount + 2 + rejected.length;
    const [moved] = await tx
      .update(jobs)
      .set({
        status: 'awarded',
        version: job.version + 1,
        updatedAt: new Date(),
        eventCount,
        awardedBidId: bidId,
        awardedContractorId: accepted.contractorId,
        liveBidCount: 0,
      })
      .where(eq(jobs.id, id))
      .returning();
    const occurredAt = new Date();
    const common = { jobId: id, homeownerId: job.homeownerId, actorId: viewer.userId, occurredAt };
    await tx
      .insert(events)
      .values([
        {
          ...common,
          id: newId('event'),
          sequence: job.eventCount + 1,
          type: 'job.awarded',
          fromStatus: 'open',
          toStatus: 'awarded',
          data: { bidId },
        },
        {
          ...common,
          id: newId('event'),
          sequence: job.eventCount + 2,
          type: 'bid.accepted',
          bidderId: accepted.contractorId,
          data: { bidId },
        },
        ...rejected.map((bid, at) => ({
          ...common,
          id: newId('event'),
          sequence: job.eventCount + 3 + at,
          type: 'bid.rejected' as const,
          bidderId: bid.contractorId,
          data: { bidId: bid.id },
        })),
      ]);
    return moved;
  });
}

const upperNames = <V extends string>(values: readonly V[]) =>
  Object.fromEntries(values.map((value) => [value.toUpperCase(), value]));

function connected<Row extends { id: string; createdAt?: Date }>(rows: Row[], first: number) {
  const nodes = rows.slice(0, first);
  const last = nodes.at(-1);
  const endCursor = last?.createdAt
    ? Buffer.from(JSON.stringify([last.createdAt.getTime(), last.id])).toString('base64url')
    : null;
  return { nodes, pageInfo: { hasNextPage: rows.length > first, endCursor } };
}

interface Paged {
  first?: number;
}

const resolvers = {
  ...SCALARS,
  JobStatus: upperNames(JOB_STATES),
  BidStatus: upperNames(BID_STATES),
  Urgency: upperNames(URGENCIES),
  UserType: upperNames(ROLES),
  Query: {
    jobs: async (
      _: unknown,
      { filter, first = 20 }: Paged & { filter?: { status?: JobRow['status'] } },
      context: Context,
    ) => {
      known(context);
      const where = filter?.status ? eq(jobs.status, filter.status) : undefined;
      return connected(
        await db
          .select()
          .from(jobs)
          .where(where)
          .orderBy(desc(jobs.createdAt), desc(jobs.id))
          .limit(first + 1),
        first,
      );
    },
    job: async (_: unknown, { id }: { id: JobId }, context: Context) => {
      const [job] = await db.select().from(jobs).where(eq(jobs.id, id));
      if (!job) throw refuse('NOT_FOUND');
      if (job.homeownerId !== known(context).homeownerId) throw refuse('FORBIDDEN');
      return job;
    },
    viewer: (_: unknown, __: unknown, context: Context) => known(context),
  },
  Viewer: {
    user: ({ userId }: Viewer, _: unknown, { loaders }: Context) => loaders.users.load(userId),
    homeowner: ({ homeownerId }: Viewer, _: unknown, { loaders }: Context) =>
      homeownerId && loaders.homeowners.load(homeownerId),
    contractor: ({ contractorId }: Viewer, _: unknown, { loaders }: Context) =>
      contractorId && loaders.contractors.load(contractorId),
    tokens: async ({ userId }: Viewer) => {
      const [tokens] = await db.select().from(tokenBalances).where(eq(tokenBalances.userId, userId));
      return tokens && { ...tokens, available: tokens.balance - tokens.held };
    },
    referralCode: async ({ userId }: Viewer, _: unknown, { loaders }: Context) =>
      (await loaders.users.load(userId))?.referralCode,
  },
  Homeowner: { user: ({ userId }: Homeowner, _: unknown, { loaders }: Context) => loaders.users.load(userId) },
  Contractor: {
    user: ({ userId }: Contractor, _: unknown, { loaders }: Context) => loaders.users.load(userId),
    ratingAverage: ({ ratingSum, ratingCount }: Contractor) =>
      ratingCount === 0 ? null : Math.round((ratingSum * 100) / ratingCount) / 100,
  },
  Bid: {
    contractor: ({ contractorId }: Bid, _: unknown, { loaders }: Context) => loaders.contractors.load(contractorId),
  },
  Job: {
    homeowner: ({ homeownerId }: JobRow, _: unknown, { loaders }: Context) => loaders.homeowners.load(homeownerId),
    awardedBid: ({ awardedBidId }: JobRow, _: unknown, { loaders }: Context) =>
      awardedBidId && loaders.bids.load(awardedBidId),
    myBid: async ({ id }: JobRow, _: unknown, { loaders }: Context) => (await loaders.ownBids.load(id))[0],
    bids: async ({ id }: JobRow, { first = 20 }: Paged) =>
      connected(
        await db
          .select()
          .from(bids)
          .where(eq(bids.jobId, id))
          .orderBy(desc(bids.guaranteedView), desc(bids.createdAt), desc(bids.id))
          .limit(first + 1),
        first,
      ),
    timeline: async ({ id }: JobRow, { first = 20 }: Paged) =>
      connected(
        await db
          .select()
          .from(events)
          .where(eq(events.jobId, id))
          .orderBy(asc(events.sequence))
          .limit(first + 1),
        first,
      ),
    availableActions: async (job: JobRow, _: unknown, context: Context) => {
      const viewer = known(context);
      const [own, [tokens]] = await Promise.all([
        context.loaders.ownBids.load(job.id),
        db.select().from(tokenBalances).where(eq(tokenBalances.userId, viewer.userId)),
      ]);
      const availableTokens = tokens ? tokens.balance - tokens.held : 0;
      return availableActions(viewer, job, {
        ...NOTHING_SPECIAL,
        ownBids: own.map(({ status }) => status),
        bidsToAward: job.liveBidCount,
        availableTokens,
      });
    },
  },
  Mutation: {
    publishJob: (_: unknown, { id }: { id: JobId }, context: Context) => publishJob(known(context), id),
    awardJob: (_: unknown, { id, input }: { id: JobId; input: { bidId: BidId } }, context: Context) =>
      awardJob(known(context), id, input.bidId).then((job) => ({ job })),
    checkInJob: (_: unknown, { id, input }: { id: JobId; input?: { notes?: string } }, context: Context) =>
      checkInJob(known(context), id, input?.notes).then((job) => ({ job })),
  },
};

const apollo = new ApolloServer<Context>({ typeDefs: TYPE_DEFS, resolvers, introspection: false });
await apollo.start();
const app = express();
app.use((request, response, next) => {
  observe(request, response, () => 'POST /graphql');
  next();
});
app.use(
  '/graphql',
  express.json(),
  expressMiddleware(apollo, {
    context: async ({ req }) => {
      const viewer = await viewerOf(req.headers.authorization);
      return { viewer, loaders: createLoaders(viewer) };
    },
  }),
);
const port = Number(environment('PORT'));
app.listen(port, '127.0.0.1', () => listening('usual', port));
