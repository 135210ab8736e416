/**
 * Who sees which jobs, bids, and events, in SQL. These conditions repeat the rules, because lists, single rows, and
 * nested fields must all find their rows with them. `market/rules/parties.ts` and `market/rules/reading/timeline.ts`
 * say the same, and test/market/store/visibility.test.ts compares them on random rows. Columns are written with their
 * tables, because Drizzle drops a table's name if it selects from only one.
 */
import { sql, type Placeholder, type SQL } from 'drizzle-orm';
import { BID_CONSEQUENCES } from '../rules/bids.js';
import type { ContractorId } from '../rules/ids.js';
import { partyToOwn, STATES_OPEN_TO_BIDS } from '../rules/parties.js';
import { COUNTED_BID_STATES } from '../rules/states.js';
import { EDIT_EVENT, eventVisibilityOf, type EventVisibility } from '../rules/reading/timeline.js';
import { ROLES, type Role, type Viewer } from '../rules/viewer.js';
import type { Placeholders } from '../../platform/db/statement.js';

/** The parameters of every statement with a visibility condition. */
export type ViewerIds = Pick<Viewer, 'userId' | 'homeownerId' | 'contractorId'>;

export function idsOf({ userId, homeownerId, contractorId }: Viewer): ViewerIds {
  return { userId, homeownerId, contractorId };
}

/** Creates one statement per role, with only that role's conditions. */
export function forEachRole<S>(make: (role: Role) => S): Record<Role, S> {
  return Object.fromEntries(ROLES.map((role) => [role, make(role)])) as Record<Role, S>;
}

/** The homeowner of the row of `jobs` is suspended. */
export const isOwnerSuspended = sql<boolean>`exists (select from homeowners h join users u on u.id = h.user_id
  where h.id = "jobs"."homeowner_id" and u.suspended_at is not null)`;

/**
 * Read once per statement, since few people are suspended. A condition on each job would keep lists from using an
 * index.
 */
const HIDDEN_JOBS = sql`(select hidden.id from users u join homeowners h on h.user_id = u.id
  join jobs hidden on hidden.homeowner_id = h.id
  where u.suspended_at is not null and hidden.status ${oneOf(STATES_OPEN_TO_BIDS)})`;

/** The contractor of the row of `contractors` is suspended. */
export const isContractorSuspended = sql<boolean | null>`exists (select from users u
  where u.id = "contractors"."user_id" and u.suspended_at is not null)`;

/** The contractor of the row of `bids` is suspended. */
export const isBidderSuspended = sql<boolean>`exists (select from contractors c join users u on u.id = c.user_id
  where c.id = "bids"."contractor_id" and u.suspended_at is not null)`;

/** The directory doesn't list suspended contractors. They are read once per statement, like `HIDDEN_JOBS`. */
export const isInDirectory = sql`"contractors"."id" not in (select c.id from users u
  join contractors c on c.user_id = u.id where u.suspended_at is not null)`;

export const isInOpenState = sql`"jobs"."status" ${oneOf(STATES_OPEN_TO_BIDS)}`;
export const isNotHidden = sql`"jobs"."id" not in ${HIDDEN_JOBS}`;

/** Open jobs, which every contractor sees. */
export const isOpenToBids = sql`(${isInOpenState} and ${isNotHidden})`;

/** Jobs in other states. A contractor sees those that they have bid on. */
export const isClosedToBids = sql`"jobs"."status" not ${oneOf(STATES_OPEN_TO_BIDS)}`;

/** The condition on the table `jobs`. */
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
 * The visible jobs that lists show. For a contractor, they exclude the open jobs of suspended homeowners, which
 * contractors who have bid can still read one by one. Two indexes serve the two halves.
 */
export function listedJobs(role: Role, $: Placeholders<ViewerIds>): SQL {
  if (role !== 'contractor') return visibleJobs(role, $);
  return sql`(${isOpenToBids} or (${isClosedToBids} and exists (
    select 1 from bids own where own.job_id = "jobs"."id" and own.contractor_id = ${$('contractorId')})))`;
}

/** The condition on the joined tables `bids` and `jobs`. */
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

/** For a row `own` of `bids`: true if its contractor receives the job's events because of it. */
export function isCountedBidOf($: Placeholders<Pick<ViewerIds, 'contractorId'>>): SQL {
  return sql`own.contractor_id = ${$('contractorId')} and own.status ${oneOf(COUNTED_BID_STATES)}`;
}

/** For the row of `jobs`: true if it was awarded to this contractor. */
export function isAwardedTo(contractor: Placeholder | SQL): SQL<boolean> {
  return sql`("jobs"."awarded_contractor_id" = ${contractor}::text) is true`;
}

/** A statement about many contractors has a column for the viewer's ID. */
type Contractor = Placeholder<'contractorId', ContractorId | null> | SQL;

/** The condition on a row of `events` for somebody who reads its job's events with this visibility. */
export function visibleEvents(visibility: EventVisibility, contractor: Contractor): SQL {
  switch (visibility) {
    case 'all':
      return sql`true`;
    case 'job and own bid':
      return sql`("events"."bidder_id" is null or "events"."bidder_id" = ${contractor}::text)`;
    case 'own bid and changes':
      return sql`case when "events"."bidder_id" is null then (${HAS_MOVED} or ${IS_EDIT})
        else "events"."bidder_id" = ${contractor}::text end`;
    case 'status changes':
      return sql`("events"."bidder_id" is null and ${HAS_MOVED})`;
  }
}

const HAS_MOVED = sql`"events"."from_status" is distinct from "events"."to_status"`;
const IS_EDIT = sql.raw(`"events"."type" = '${EDIT_EVENT}'`);

/**
 * The same for a viewer who may see the job. What contractors read depends on whether it was awarded to them, which the
 * row of `jobs` says. A deleted draft has no row, and only its owner reads it.
 */
export function visibleEventsOfJob(role: Role, contractor: Contractor): SQL {
  if (role !== 'contractor') return visibleEvents(eventVisibilityOf(partyToOwn(role, false)), contractor);
  // Contractors who haven't bid read the same as an onlooker.
  const ofOnlooker = visibleEvents(eventVisibilityOf('onlooker'), contractor);
  const isForOnlookerOrHasBid = sql`(${ofOnlooker} or exists (select from bids own
    where own.job_id = "events"."job_id" and own.contractor_id = ${contractor}::text))`;
  return sql`(${visibleEventsOfBidder(contractor, isAwardedTo(contractor))} and ${isForOnlookerOrHasBid})`;
}

/**
 * The same for a contractor who has bid on the job, however the award is known: the awarded contractor's bid is the
 * accepted one.
 */
export function visibleEventsOfBidder(contractor: Contractor, isAwardee: SQL): SQL {
  const as = (isAwarded: boolean) => visibleEvents(eventVisibilityOf(partyToOwn('contractor', isAwarded)), contractor);
  return sql`case when ${isAwardee} then ${as(true)} else ${as(false)} end`;
}

export const IS_ACCEPTED = sql`own.status = ${BID_CONSEQUENCES.accept.to}`;

/** The states of the viewer's own bids on the row of `jobs`. */
export function ownBidStates(role: Role, $: Placeholders<Pick<ViewerIds, 'contractorId'>>): SQL {
  if (role !== 'contractor') return sql`'[]'::json`;
  return sql`(select coalesce(json_agg(own.status), '[]') from bids own
    where own.job_id = "jobs"."id" and own.contractor_id = ${$('contractorId')})`;
}

function oneOf(states: readonly string[]): SQL {
  return sql.raw(`in (${states.map((state) => `'${state}'`).join(', ')})`);
}
