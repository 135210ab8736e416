/**
 * How a job moves from state to state: one statement a transition. The job moves only from a state that the table
 * allows, by a party that it allows, and its events are added. No row comes back from a job that could not move.
 */
import { and, eq, inArray, sql, type SQL } from 'drizzle-orm';
import { BASES_TAKEN } from '../rules/edit-bases.js';
import type { JobId } from '../rules/ids.js';
import { JOB_TRANSITIONS, type JobTransition, type JobTransitionKey, type PartyWord } from '../rules/lifecycle.js';
import { asAsked } from './beside.js';
import { logging } from './events.js';
import { advance, jobColumns, jobFields, type JobRow, type Logged } from './jobs.js';
import { statement, type Values } from './statement.js';
import { jobs } from './tables/jobs.js';
import type { ViewerIds } from './visibility.js';

export interface MoveValues extends ViewerIds, Logged {
  id: JobId;
  expectedVersion: number | null;
}

export type JobChanges = Partial<Record<keyof JobRow, SQL | number>>;

/** What a transition sets besides the state. */
const SETS: { readonly [Key in JobTransitionKey]?: JobChanges } = {
  publish: basesTaken(BASES_TAKEN.publish),
  award: { liveBidCount: 0 },
  checkIn: basesTaken(BASES_TAKEN.checkIn),
  cancel: { liveBidCount: 0 },
  complete: { liveBidCount: 0 },
};

function basesTaken(taken: Readonly<Record<string, keyof JobRow>>): JobChanges {
  return Object.fromEntries(Object.entries(taken).map(([base, field]) => [base, sql`${jobColumns[field]}`]));
}

const IS_PARTY: Record<Exclude<PartyWord, 'bidder' | 'contractor'>, ($: Values<ViewerIds>) => SQL | undefined> = {
  owner: ($) => sql`${jobs.homeownerId} = ${$.homeownerId}`,
  awardee: ($) => sql`${jobs.awardedContractorId} = ${$.contractorId}`,
  parties: ($) => sql`(${jobs.homeownerId} = ${$.homeownerId} or ${jobs.awardedContractorId} = ${$.contractorId})`,
  admin: () => undefined,
};

/** What moves, and when. */
export function moving(key: JobTransitionKey, $: Values<MoveValues>, changes: JobChanges = {}) {
  const { by, from, to }: JobTransition = JOB_TRANSITIONS[key];
  const isParty = IS_PARTY[by as keyof typeof IS_PARTY];
  const knowsItAsItIs = sql`coalesce(${$.expectedVersion}::int = ${jobs.version}, true)`;
  return {
    set: { status: to, ...advance($), ...(SETS[key] as object), ...(changes as object) },
    when: and(eq(jobs.id, $.id), inArray(jobs.status, [...from]), isParty($), knowsItAsItIs),
  };
}

/** For what hangs on the move, in the statement that has one. */
export const ifMoved = sql`exists (select from moved)`;

/** The transitions that have a statement of their own, in which all that they lead to happens. */
export type MovesMore = 'publish' | 'award';
export type MovesJob = Exclude<JobTransitionKey, MovesMore>;

function forEachMove<S>(make: (key: MovesJob) => S): Record<MovesJob, S> {
  const { publish: _publish, award: _award, ...others } = JOB_TRANSITIONS;
  return Object.fromEntries(Object.keys(others).map((key) => [key, make(key as MovesJob)])) as Record<MovesJob, S>;
}

/** Of the moved job comes back what is asked for. */
export const moveJob = forEachMove((key) =>
  asAsked((beside) =>
    statement((db, $: Values<MoveValues>, stands) => {
      const { set, when } = moving(key, $);
      const moved = db
        .$with('moved')
        .as(db.update(jobs).set(set).where(and(when, stands)).returning(jobFields(beside, 'eventCount')));
      return db
        .with(moved, logging(db, 'moved', $.events))
        .select()
        .from(moved);
    }),
  ),
);
