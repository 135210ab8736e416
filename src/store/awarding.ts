/**
 * Awarding as one statement: the job moves, one live bid is accepted, the others are passed over and their holds
 * released, and each is told of. What is live is read without a lock; since all that happens to a job or its bids is
 * counted among its events, the job moves only while the count is the same. The locks come in the order job, bids,
 * holds, accounts.
 */
import { and, eq, sql } from 'drizzle-orm';
import { BID_CONSEQUENCES } from '../rules/bids.js';
import type { EventType } from '../rules/events.js';
import type { BidId, JobId } from '../rules/ids.js';
import { asAsked } from './beside.js';
import { isLive, settling } from './bids.js';
import { countOf, eventsOfBids, eventsToLog } from './events.js';
import { jobColumns, jobFields, seenBy } from './jobs.js';
import { ifMoved, moving, type MoveValues } from './moves.js';
import { sameNames, statement, type Values } from './statement.js';
import { bids } from './tables/bids.js';
import { events } from './tables/events.js';
import { jobs } from './tables/jobs.js';
import type { ViewerIds } from './visibility.js';

const { accept, passOver } = BID_CONSEQUENCES;
const outcome = ($: Values<{ bidId: BidId }>) =>
  sql`case when ${bids.id} = ${$.bidId} then ${accept.to}::bid_status else ${passOver.to}::bid_status end`;
const told = sql`case when b.status = ${accept.to} then ${accept.event} else ${passOver.event} end`;

export const awardToBid = asAsked((beside) => {
  const fields = jobFields(beside, 'eventCount');
  return statement((db, $: Values<MoveValues & { bidId: BidId }>, stands) => {
    const live = db.$with('live').as(
      db
        .select({ id: bids.id, contractorId: bids.contractorId })
        .from(bids)
        .where(and(eq(bids.jobId, $.id), isLive)),
    );
    const { set, when } = moving('award', $, {
      awardedBidId: sql`chosen.id`,
      awardedContractorId: sql`chosen.contractor_id`,
      eventCount: sql`${jobs.eventCount} + ${countOf($.events)} + (select count(*) from live)`,
    });
    const isAsItWas = sql`${jobs.eventCount} = (select seen.event_count from jobs seen where seen.id = ${$.id})`;
    const moved = db.$with('moved').as(
      db
        .update(jobs)
        .set(set)
        .from(sql`live chosen`)
        .where(and(when, sql`chosen.id = ${$.bidId}`, isAsItWas, stands))
        .returning(fields),
    );
    const { settled, released, freed } = settling(db, outcome($), and(eq(bids.jobId, $.id), ifMoved));
    const before = db
      .$with('before')
      .as(
        db
          .select({
            id: moved.id,
            eventCount: sql`${moved.eventCount} - (select count(*) from live)`.as('event_count'),
          })
          .from(moved),
      );
    const logged = db
      .$with('logged')
      .as(
        db
          .insert(events)
          .select(eventsToLog('before', $.events))
          .returning({ id: events.id, jobId: events.jobId, sequence: events.sequence, actorId: events.actorId }),
      );
    const bidsTold = db
      .$with('bids_told')
      .as(db.insert(events).select(eventsOfBids(told)).returning({ type: events.type, sequence: events.sequence }));
    return db
      .with(live, moved, settled, released, freed, before, logged, bidsTold)
      .select({
        job: sameNames(fields, moved),
        told: sql<EventType[]>`(select json_agg(type order by sequence) from bids_told)`,
      })
      .from(moved);
  });
});

/** What awarding hangs on. */
export const selectToAward = statement((db, $: Values<ViewerIds & { id: JobId; bidId: BidId }>) =>
  db
    .select({
      job: jobColumns,
      ...seenBy('homeowner', $),
      isLive: sql<boolean>`exists (select from ${bids} where ${bids.id} = ${$.bidId} and ${bids.jobId} = ${$.id} and ${isLive})`,
    })
    .from(jobs)
    .where(eq(jobs.id, $.id)),
);
