/**
 * The conditions of the rules as SQL, over the row of `jobs` (and of `bids` or `events`, where a condition names a bid
 * or an event). Columns are written out with their tables, because Drizzle drops a table's name where it selects from
 * one alone.
 */
import { sql, type SQL } from 'drizzle-orm';
import { toSnakeCase } from 'drizzle-orm/casing';
import type { CallFact, Condition, Term } from '../rules/conditions.js';
import type { BidId, UserId } from '../rules/ids.js';
import { LIVE_BID_STATES, type BidState } from '../rules/states.js';
import { BLANKS } from '../rules/publishing.js';
import type { Role, Viewer } from '../rules/viewer.js';
import { availableTo } from './ledger.js';
import type { Values } from './statement.js';

/** The values of the viewer and the call that conditions may use. A statement gets those that its conditions use. */
export interface ConditionValues extends Pick<Viewer, 'role' | 'homeownerId' | 'contractorId'> {
  userId: UserId;
  expectedVersion: number | null;
  cost: number;
  bidId: BidId | null;
}

type Parameters = Values<ConditionValues>;

/** A statement about many contractors has a column for the viewer's. */
export type Given = Partial<
  Omit<Parameters, 'contractorId'> & { readonly contractorId: Parameters['contractorId'] | SQL }
>;

export function conditionSql(condition: Condition, $: Given): SQL {
  switch (condition.kind) {
    case 'equal':
      return sql`${termSql(condition.left, $)} = ${termSql(condition.right, $)}`;
    case 'distinct':
      return sql`${termSql(condition.left, $)} is distinct from ${termSql(condition.right, $)}`;
    case 'at least':
      return sql`${termSql(condition.left, $)} >= ${termSql(condition.right, $)}`;
    case 'one of':
      return isOneOf(termSql(condition.term, $), condition.values);
    case 'absent':
      return sql`${termSql(condition.term, $)} is null`;
    case 'filled in':
      return sql`btrim(${termSql(condition.term, $)}::text, ${BLANKS}) <> ''`;
    case 'has bid':
      return sql`exists (${OWN_BIDS} and ${isOwnBid($)})`;
    case 'own bid in':
      return sql`exists (${OWN_BIDS} and ${isOwnBidIn(condition.states, $)})`;
    case 'no own bid in':
      return sql`not exists (${OWN_BIDS} and ${isOwnBidIn(condition.states, $)})`;
    case 'all':
      return joined(condition.of, $, { with: sql` and `, none: sql`true` });
    case 'any':
      return joined(condition.of, $, { with: sql` or `, none: sql`false` });
  }
}

export function termSql(term: Term, $: Given): SQL {
  if ('job' in term) return column('jobs', term.job);
  if ('bid' in term) return column('bids', term.bid);
  if ('event' in term) return column('events', term.event);
  if ('viewer' in term) return sql`${given($, term.viewer)}::text`;
  if ('call' in term) return CALL_FACTS[term.call]($);
  if ('constant' in term) return sql`${term.constant}`;
  const cases = Object.entries(term.prices).map(([value, price]) => sql`when ${value} then ${price}::int`);
  return sql`case ${column('jobs', term.priceBy)} ${sql.join(cases, sql` `)} end`;
}

const CALL_FACTS: Readonly<Record<CallFact, ($: Given) => SQL>> = {
  expectedVersion: ($) => sql`${given($, 'expectedVersion')}::int`,
  cost: ($) => sql`${given($, 'cost')}::int`,
  available: ($) => availableTo({ userId: given($, 'userId') }),
  bidsToAward: ($) =>
    sql`(select count(*) from bids named where named.job_id = "jobs"."id" and named.id = ${given($, 'bidId')}
      and ${isOneOf(sql`named.status`, LIVE_BID_STATES)})`,
};

/**
 * A condition for a known role: its terms about the role are evaluated already, so that the statement contains only
 * those that apply to this role.
 */
export function conditionForRole(condition: Condition, role: Role, $: Given): SQL {
  return conditionSql(knowingTheRole(condition, role), $);
}

function knowingTheRole(condition: Condition, role: Role): Condition {
  if (condition.kind === 'equal') return isOfRole(condition.left, condition.right, role) ?? condition;
  if (condition.kind !== 'all' && condition.kind !== 'any') return condition;
  const parts = condition.of.map((part) => knowingTheRole(part, role));
  const open = parts.filter((part) => !(part.kind === condition.kind && part.of.length === 0));
  return open.length === 1 && open[0] ? open[0] : { kind: condition.kind, of: open };
}

/** An empty `all` is true, and an empty `any` is false. */
function isOfRole(left: Term, right: Term, role: Role): Condition | undefined {
  if (!('viewer' in left) || left.viewer !== 'role' || !('constant' in right)) return undefined;
  return { kind: right.constant === role ? 'all' : 'any', of: [] };
}

const OWN_BIDS = sql`select 1 from bids own where own.job_id = "jobs"."id"`;

function isOwnBid($: Given): SQL {
  return sql`own.contractor_id = ${given($, 'contractorId')}`;
}

/** The condition `own bid in`, over a row of `bids` that is called `own`: a list may begin at the bids. */
export function isOwnBidIn(states: readonly BidState[], $: Given): SQL {
  return sql`${isOwnBid($)} and ${isOneOf(sql`own.status`, states)}`;
}

function isOneOf(term: SQL, values: readonly string[]): SQL {
  const [only] = values;
  if (values.length === 1) return sql`${term} = ${only}`;
  return sql`${term} in (${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )})`;
}

function joined(parts: readonly Condition[], $: Given, by: { with: SQL; none: SQL }): SQL {
  const written = parts.map((part) => conditionSql(part, $));
  if (written.length === 0) return by.none;
  return written.length === 1 ? sql`${written[0]}` : sql`(${sql.join(written, by.with)})`;
}

function column(table: 'jobs' | 'bids' | 'events', name: string): SQL {
  return sql`${sql.identifier(table)}.${sql.identifier(toSnakeCase(name))}`;
}

function given<Name extends keyof ConditionValues>($: Given, name: Name): NonNullable<Given[Name]> {
  const value = $[name];
  if (!value) throw new Error(`A condition names ${name}, which its statement does not take.`);
  return value;
}
