/** The events of all jobs by their positions: a page of what is somebody's, and batches of what is everybody's. */
import { and, eq, sql } from 'drizzle-orm';
import type { ContractorId, HomeownerId, JobId } from '../rules/ids.js';
import { COUNTED_BID_STATES, type BidState, type JobState } from '../rules/lifecycle.js';
import type { Viewer } from '../rules/viewer.js';
import type { Db } from './database.js';
import { eventShape, reachOnJob, type EventRow } from './events.js';
import { listing, type Page } from './page.js';
import { asArray, statement, type Values } from './statement.js';
import { events } from './tables/events.js';
import { jobs } from './tables/jobs.js';
import { idsOf, visibleJobs, type ViewerIds } from './visibility.js';

/** An event, and whether its job was awarded to the contractor who reads it. */
export type OwnEvent = EventRow & { readonly isAwardee: boolean };

interface Asked {
  readonly size: number;
  /** Positions from behind this one; from the beginning, unless told. */
  readonly after?: string | undefined;
  /** As far as this one; to the end, unless told. */
  readonly upTo?: string | undefined;
}

type LogValues = Pick<ViewerIds, 'homeownerId' | 'contractorId' | 'role'> & { upTo: string };

/** Behind every position that there will ever be. */
const END = String(2n ** 63n - 1n);
const BEGINNING = '0';

const asOther = { ...eventShape, isAwardee: sql<boolean>`false` };
const notBehind = ($: Values<{ upTo: string }>) => sql`${events.position} <= ${$.upTo}::bigint`;
const BY_POSITION = { keys: { position: events.position }, order: 'oldest first' } as const;

/** Events without a position are not there yet: `position > …` is no for them. */
const ofEverybody = listing({
  ...BY_POSITION,
  rows: (db, $: Values<LogValues>, within) =>
    db
      .select(asOther)
      .from(events)
      .where(and(notBehind($), within))
      .$dynamic(),
});

const ofHomeowner = listing({
  ...BY_POSITION,
  rows: (db, $: Values<LogValues>, within) =>
    db
      .select(asOther)
      .from(events)
      .where(and(eq(events.homeownerId, $.homeownerId), notBehind($), within))
      .$dynamic(),
});

/** Of each job with a bid that counts, no more than fit on the page. */
const ofContractor = listing({
  ...BY_POSITION,
  rows: (db, $: Values<LogValues>, within, { atMost }) => {
    const ofJob = sql`select * from events where job_id = own.job_id and ${reachOnJob('contractor', $)}
      and ${and(notBehind($), within)} order by position limit ${sql.raw(String(atMost))}`;
    const gathered = sql`(select of_job.*, jobs.awarded_contractor_id is not distinct from own.contractor_id as is_awardee
      from bids own join jobs on jobs.id = own.job_id cross join lateral (${ofJob}) of_job
      where own.contractor_id = ${$.contractorId} and own.status in (${COUNTED})) "events"`;
    return db
      .select({ ...eventShape, isAwardee: sql<boolean>`"events"."is_awardee"` })
      .from(gathered)
      .$dynamic();
  },
});

const COUNTED = sql.raw(COUNTED_BID_STATES.map((state) => `'${state}'`).join(', '));

const OWN = { admin: ofEverybody, homeowner: ofHomeowner, contractor: ofContractor };

/** What is a viewer's own, the oldest first. */
export function listOwnEvents(db: Db, viewer: Viewer, { size, after, upTo = END }: Asked): Promise<Page<OwnEvent>> {
  return OWN[viewer.role](db, { ...idsOf(viewer), upTo }, { size, after: [after ?? BEGINNING] });
}

const isAwardee = ($: Values<LogValues>) =>
  sql<boolean>`"jobs"."awarded_contractor_id" is not distinct from ${$.contractorId}`;

type OfOneJob = LogValues & { jobId: JobId };

/** A deleted draft goes on having events, for its owner and admins. */
const ofOneJob = {
  admin: listing({
    ...BY_POSITION,
    rows: (db, $: Values<OfOneJob>, within) =>
      db
        .select(asOther)
        .from(events)
        .where(and(eq(events.jobId, $.jobId), notBehind($), within))
        .$dynamic(),
  }),
  homeowner: listing({
    ...BY_POSITION,
    rows: (db, $: Values<OfOneJob>, within) =>
      db
        .select(asOther)
        .from(events)
        .where(and(eq(events.jobId, $.jobId), eq(events.homeownerId, $.homeownerId), notBehind($), within))
        .$dynamic(),
  }),
  contractor: listing({
    ...BY_POSITION,
    rows: (db, $: Values<OfOneJob>, within) =>
      db
        .select({ ...eventShape, isAwardee: isAwardee($) })
        .from(events)
        .innerJoin(jobs, eq(jobs.id, events.jobId))
        .where(
          and(
            eq(events.jobId, $.jobId),
            visibleJobs('contractor', $),
            reachOnJob('contractor', $),
            notBehind($),
            within,
          ),
        )
        .$dynamic(),
  }),
};

/** What happened to one job, the oldest first; nothing of a job that the viewer may not see. */
export function listEventsOfOneJob(
  db: Db,
  viewer: Viewer,
  jobId: JobId,
  { size, after, upTo = END }: Asked,
): Promise<Page<OwnEvent>> {
  return ofOneJob[viewer.role](db, { ...idsOf(viewer), jobId, upTo }, { size, after: [after ?? BEGINNING] });
}

/** An event, and what must be known of its job to say who reads it. */
export interface EventWithParties {
  readonly event: EventRow;
  readonly homeownerId: HomeownerId;
  /** Null for a deleted draft. */
  readonly status: JobState | null;
  readonly awardedContractorId: ContractorId | null;
  /** Bids of those contractors that were named. */
  readonly bids: readonly { readonly contractorId: ContractorId; readonly status: BidState }[];
}

/** How many are read at once; whoever gets as many asks again. */
export const BATCH_MAX = 500;

const bidsOf = ($: Values<{ contractorIds: string }>) => sql<EventWithParties['bids']>`(
  select coalesce(json_agg(json_build_object('contractorId', b.contractor_id, 'status', b.status)), '[]')
  from bids b where b.job_id = "events"."job_id" and b.contractor_id = any(${$.contractorIds}::text[]))`;

const selectBatch = statement(
  (db, $: Values<{ after: string; upTo: string; contractorIds: string }>) =>
    db
      .select({
        event: eventShape,
        homeownerId: events.homeownerId,
        status: jobs.status,
        awardedContractorId: jobs.awardedContractorId,
        bids: bidsOf($),
      })
      .from(events)
      .leftJoin(jobs, eq(jobs.id, events.jobId))
      .where(sql`${events.position} > ${$.after}::bigint and ${notBehind($)}`)
      .orderBy(events.position)
      .limit(BATCH_MAX),
  'json',
);

/** What happened, for everybody: each event as it is, with its job as it is now. */
export function readBatch(
  db: Db,
  { after, upTo, contractorIds }: { after: bigint; upTo: bigint; contractorIds: readonly ContractorId[] },
): Promise<EventWithParties[]> {
  const values = { after: String(after), upTo: String(upTo), contractorIds: asArray(contractorIds) };
  return selectBatch(db, values) as Promise<EventWithParties[]>;
}
