/**
 * Who can see which jobs, bids, and events, as SQL conditions. The conditions repeat the rules of
 * `market/rules/parties.ts` and `market/rules/reading/timeline.ts`, because every query must find its rows with them.
 * `test/market/store/visibility.test.ts` compares the conditions with the rules on random rows. Columns are written
 * with their table's name, because Drizzle leaves out that name if a query selects from only one table.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import { BID_CONSEQUENCES } from '../rules/bids.js';
import type { ContractorId } from '../rules/ids.js';
import { partyToOwn, STATES_OPEN_TO_BIDS } from '../rules/parties.js';
import { COUNTED_BID_STATES } from '../rules/states.js';
import { REMINDER_EVENT } from '../rules/jobs/deadlines.js';
import {
  AWARD_EVENT,
  EDIT_EVENT,
  EXTENSION_EVENT,
  eventVisibilityOf,
  REMINDERS_FOR,
  type EventVisibility,
} from '../rules/reading/timeline.js';
import { ROLES, type Role, type Viewer } from '../rules/viewer.js';
import type { Placeholders } from '../../platform/db/statement.js';

export type ViewerIds = Pick<Viewer, 'userId' | 'homeownerId' | 'contractorId'>;

export function idsOf({ userId, homeownerId, contractorId }: Viewer): ViewerIds {
  return { userId, homeownerId, contractorId };
}

/** Each role's statement has only that role's conditions. */
export function forEachRole<S>(make: (role: Role) => S): Record<Role, S> {
  return Object.fromEntries(ROLES.map((role) => [role, make(role)])) as Record<Role, S>;
}

export const isOwnerSuspended = sql<boolean>`exists (select from homeowners h join users u on u.id = h.user_id
  where h.id = "jobs"."homeowner_id" and u.suspended_at is not null)`;

/**
 * These jobs are read once per statement, because few people are suspended. A check for each job would keep lists from
 * using an index.
 */
const HIDDEN_JOBS = sql`(select hidden.id from users u join homeowners h on h.user_id = u.id
  join jobs hidden on hidden.homeowner_id = h.id
  where u.suspended_at is not null and hidden.status ${oneOf(STATES_OPEN_TO_BIDS)})`;

export const isContractorSuspended = sql<boolean | null>`exists (select from users u
  where u.id = "contractors"."user_id" and u.suspended_at is not null)`;

export const isBidderSuspended = sql<boolean>`exists (select from contractors c join users u on u.id = c.user_id
  where c.id = "bids"."contractor_id" and u.suspended_at is not null)`;

/** True if support has to decide who owns the bidder's account. */
export const isBidderUndoPending = sql<boolean>`exists (select from contractors c join users u on u.id = c.user_id
  where c.id = "bids"."contractor_id" and u.email_undo = 'pending')`;

/** Suspended contractors are read once per statement, like `HIDDEN_JOBS`. */
export const isInDirectory = sql`"contractors"."id" not in (select c.id from users u
  join contractors c on c.user_id = u.id where u.suspended_at is not null)`;

export const isInOpenState = sql`"jobs"."status" ${oneOf(STATES_OPEN_TO_BIDS)}`;
export const isNotHiddenJob = (id: SQL): SQL => sql`${id} not in ${HIDDEN_JOBS}`;
export const isNotHidden = isNotHiddenJob(sql`"jobs"."id"`);

/** Every contractor can see a job that is open to bids. */
export const isOpenToBids = sql`(${isInOpenState} and ${isNotHidden})`;

/** A contractor can see a job that is closed to bids only if they have bid on it. */
export const isClosedToBids = sql`"jobs"."status" not ${oneOf(STATES_OPEN_TO_BIDS)}`;

export function visibleJobs(role: Role, $: Placeholders<ViewerIds>): SQL {
  switch (role) {
    case 'admin':
      return sql`true`;
    case 'homeowner':
      return sql`"jobs"."homeowner_id" = ${$('homeownerId')}::text`;
    case 'contractor':
      return sql`(${isOpenToBids} or exists (
        select 1 from bids own where own.job_id = "jobs"."id" and own.contractor_id = ${$('contractorId')}))`;
  }
}

/**
 * Leaves out suspended homeowners' open jobs. A contractor who has bid on such a job can still read it by its
 * identifier. Each half of the condition has its own index.
 */
export function listedJobs(role: Role, $: Placeholders<ViewerIds>): SQL {
  if (role !== 'contractor') return visibleJobs(role, $);
  return sql`(${isOpenToBids} or (${isClosedToBids} and exists (
    select 1 from bids own where own.job_id = "jobs"."id" and own.contractor_id = ${$('contractorId')})))`;
}

export function visibleBids(role: Role, $: Placeholders<ViewerIds>): SQL {
  switch (role) {
    case 'admin':
      return sql`true`;
    case 'homeowner':
      return sql`"jobs"."homeowner_id" = ${$('homeownerId')}::text`;
    case 'contractor':
      return sql`"bids"."contractor_id" = ${$('contractorId')}::text`;
  }
}

/** A contractor with a counted bid receives the job's events. */
export function isCountedBidOf($: Placeholders<Pick<ViewerIds, 'contractorId'>>): SQL {
  return sql`own.contractor_id = ${$('contractorId')} and own.status ${oneOf(COUNTED_BID_STATES)}`;
}

export function isAwardedTo(contractor: Placeholder | SQL): SQL<boolean> {
  return sql`("jobs"."awarded_contractor_id" = ${contractor}::text) is true`;
}

/** The awarded contractor reads an earlier award as a bidder (`readsAs`). */
export function isNotEarlierAward(awardedBidId: SQL): SQL {
  return sql`("events"."type" <> ${sql.raw(`'${AWARD_EVENT}'`)}
    or "events"."data" ->> 'bidId' is not distinct from ${awardedBidId})`;
}

/** A statement about many contractors takes the ID from a column instead of a parameter. */
type Contractor = Placeholder<'contractorId', ContractorId | null> | SQL;

export function visibleEvents(visibility: EventVisibility, contractor: Contractor): SQL {
  switch (visibility) {
    case 'all':
      return sql`true`;
    case 'own job':
      return isNotForOther(visibility);
    case 'job and own bid':
      return sql`(("events"."bidder_id" is null or "events"."bidder_id" = ${contractor}::text)
        and ${isNotForOther(visibility)} and ${IS_NOT_OF_OPEN_JOB})`;
    case 'own bid and changes':
      return sql`case when "events"."bidder_id" is null then (${HAS_MOVED} or ${IS_EDIT})
        else "events"."bidder_id" = ${contractor}::text end`;
    case 'status changes':
      return sql`("events"."bidder_id" is null and ${HAS_MOVED})`;
  }
}

function isNotForOther(visibility: keyof typeof REMINDERS_FOR): SQL {
  const reminder = sql.raw(`'${REMINDER_EVENT}'`);
  return sql`("events"."type" <> ${reminder} or "events"."data" ->> 'to' ${oneOf(REMINDERS_FOR[visibility])})`;
}

const IS_NOT_OF_OPEN_JOB = sql.raw(
  `("events"."type" <> '${EXTENSION_EVENT}' or "events"."from_status" is distinct from 'open')`,
);
const HAS_MOVED = sql`"events"."from_status" is distinct from "events"."to_status"`;
const IS_EDIT = sql.raw(`"events"."type" = '${EDIT_EVENT}'`);

/** The condition for rows of `events` of a homeowner's own jobs. */
export const visibleEventsOfOwner = isNotForOther('own job');

/**
 * The viewer must be allowed to see the job. What a contractor can read depends on the award, which is in the row of
 * `jobs`. A deleted draft has no row, and only its owner and admins can read its events.
 */
export function visibleEventsOfJob(role: Role, contractor: Contractor): SQL {
  if (role !== 'contractor') return visibleEvents(eventVisibilityOf(partyToOwn(role, false)), contractor);
  // Contractors who haven't bid can read the same events as an onlooker.
  const ofOnlooker = visibleEvents(eventVisibilityOf('onlooker'), contractor);
  const isForOnlookerOrHasBid = sql`(${ofOnlooker} or exists (select from bids own
    where own.job_id = "events"."job_id" and own.contractor_id = ${contractor}::text))`;
  return sql`(${visibleEventsOfBidder(contractor, isAwardedTo(contractor))} and ${isForOnlookerOrHasBid})`;
}

/** `isAwardee` is the caller's condition for the award, such as that the contractor's bid was accepted. */
export function visibleEventsOfBidder(contractor: Contractor, isAwardee: SQL): SQL {
  const as = (isAwarded: boolean) => visibleEvents(eventVisibilityOf(partyToOwn('contractor', isAwarded)), contractor);
  return sql`case when ${isAwardee} then ${as(true)} else ${as(false)} end`;
}

export const IS_ACCEPTED = sql`own.status = ${BID_CONSEQUENCES.accept.to}`;

export function ownBidStates(role: Role, $: Placeholders<Pick<ViewerIds, 'contractorId'>>): SQL {
  if (role !== 'contractor') return sql`'[]'::json`;
  return sql`(select coalesce(json_agg(own.status), '[]') from bids own
    where own.job_id = "jobs"."id" and own.contractor_id = ${$('contractorId')})`;
}

function oneOf(states: readonly string[]): SQL {
  return sql.raw(`in (${states.map((state) => `'${state}'`).join(', ')})`);
}
