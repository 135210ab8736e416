/**
 * Conditions as data, so that a rule is written once: `holds` asks it of facts that were read, and
 * `store/conditions.ts` writes the same condition as SQL. A comparison with null is false in `holds` and neither true
 * nor false in SQL. Both refuse alike, since no condition negates a comparison: `no own bid in` negates an `exists`,
 * and `distinct` takes null for a value.
 */
import type { ContractorId, HomeownerId } from './ids.js';
import type { BidState, JobState } from './states.js';
import { isBlank, type ToPublish } from './publishing.js';
import type { Role } from './viewer.js';

/** What is known of a job, its viewer and the call when a condition is asked. What no condition names may be absent. */
export interface Facts {
  readonly viewer: ConditionedViewer;
  readonly job: ConditionedJob;
  readonly bid?: ConditionedBid;
  readonly event?: ConditionedEvent;
  /** The states of the viewer's own bids on the job, withdrawn ones among them. */
  readonly ownBids: readonly BidState[];
  /** The version that the caller has read; null if they don't say. */
  readonly expectedVersion?: number | null;
  /** The viewer's own balance less what is held. */
  readonly available?: number;
  /** What the call takes from the balance, where that follows from what is sent: a stake, or a raise of the urgency. */
  readonly cost?: number;
  /** How many live bids there are to award: of those that the call names, or of all. */
  readonly bidsToAward?: number;
}

export interface ConditionedViewer {
  readonly role: Role;
  readonly homeownerId: HomeownerId | null;
  readonly contractorId: ContractorId | null;
}

export interface ConditionedJob extends Partial<ToPublish> {
  readonly status: JobState;
  readonly homeownerId: HomeownerId;
  readonly awardedContractorId: ContractorId | null;
  readonly version?: number;
}

interface ConditionedBid {
  readonly contractorId: ContractorId;
  readonly status: BidState;
}

interface ConditionedEvent {
  readonly bidderId: ContractorId | null;
  readonly fromStatus: JobState | null;
  readonly toStatus: JobState | null;
}

export type CallFact = 'expectedVersion' | 'available' | 'cost' | 'bidsToAward';

/** What can be compared: a field of a row, of the viewer or of the call, a constant, or the price that a field sets. */
export type Term =
  | { readonly job: keyof ConditionedJob }
  | { readonly bid: keyof ConditionedBid }
  | { readonly event: keyof ConditionedEvent }
  | { readonly viewer: keyof ConditionedViewer }
  | { readonly call: CallFact }
  | { readonly constant: string | number }
  | { readonly priceBy: keyof ConditionedJob; readonly prices: Readonly<Record<string, number>> };

interface OwnBidIn {
  readonly kind: 'own bid in';
  readonly states: readonly BidState[];
}

export type Condition =
  | { readonly kind: 'equal' | 'distinct' | 'at least'; readonly left: Term; readonly right: Term }
  | { readonly kind: 'one of'; readonly term: Term; readonly values: readonly string[] }
  | { readonly kind: 'absent' | 'filled in'; readonly term: Term }
  | { readonly kind: 'has bid' }
  | OwnBidIn
  | { readonly kind: 'no own bid in'; readonly states: readonly BidState[] }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] };

export const job = (field: keyof ConditionedJob): Term => ({ job: field });
export const bid = (field: keyof ConditionedBid): Term => ({ bid: field });
export const event = (field: keyof ConditionedEvent): Term => ({ event: field });
export const viewer = (field: keyof ConditionedViewer): Term => ({ viewer: field });
export const call = (fact: CallFact): Term => ({ call: fact });
export const constant = (value: string | number): Term => ({ constant: value });
export const priceBy = (field: keyof ConditionedJob, prices: Readonly<Record<string, number>>): Term => {
  return { priceBy: field, prices };
};

export const equal = (left: Term, right: Term): Condition => ({ kind: 'equal', left, right });
export const distinct = (left: Term, right: Term): Condition => ({ kind: 'distinct', left, right });
export const atLeast = (left: Term, right: Term): Condition => ({ kind: 'at least', left, right });
export const oneOf = (term: Term, values: readonly string[]): Condition => ({ kind: 'one of', term, values });
export const absent = (term: Term): Condition => ({ kind: 'absent', term });
export const filledIn = (term: Term): Condition => ({ kind: 'filled in', term });
export const hasBid: Condition = { kind: 'has bid' };
export const ownBidIn = (states: readonly BidState[]): OwnBidIn => ({ kind: 'own bid in', states });
export const noOwnBidIn = (states: readonly BidState[]): Condition => ({ kind: 'no own bid in', states });
export const all = (...of: readonly Condition[]): Condition => ({ kind: 'all', of });
export const any = (...of: readonly Condition[]): Condition => ({ kind: 'any', of });

export function holds(condition: Condition, facts: Facts): boolean {
  switch (condition.kind) {
    case 'equal':
      return isEqual(valueOf(condition.left, facts), valueOf(condition.right, facts));
    case 'distinct':
      return valueOf(condition.left, facts) !== valueOf(condition.right, facts);
    case 'at least':
      return isAtLeast(valueOf(condition.left, facts), valueOf(condition.right, facts));
    case 'one of':
      return condition.values.some((value) => isEqual(valueOf(condition.term, facts), value));
    case 'absent':
      return valueOf(condition.term, facts) === null;
    case 'filled in':
      return !isBlank(asText(valueOf(condition.term, facts)));
    case 'has bid':
      return facts.ownBids.length > 0;
    case 'own bid in':
      return facts.ownBids.some((state) => condition.states.includes(state));
    case 'no own bid in':
      return !facts.ownBids.some((state) => condition.states.includes(state));
    case 'all':
      return condition.of.every((part) => holds(part, facts));
    case 'any':
      return condition.of.some((part) => holds(part, facts));
  }
}

type Value = string | number | null;

export function valueOf(term: Term, facts: Facts): Value {
  if ('job' in term) return facts.job[term.job] ?? null;
  if ('bid' in term) return facts.bid?.[term.bid] ?? null;
  if ('event' in term) return facts.event?.[term.event] ?? null;
  if ('viewer' in term) return facts.viewer[term.viewer];
  if ('call' in term) return facts[term.call] ?? null;
  if ('constant' in term) return term.constant;
  return term.prices[facts.job[term.priceBy] ?? ''] ?? null;
}

function isEqual(one: Value, other: Value): boolean {
  return one !== null && one === other;
}

function isAtLeast(one: Value, other: Value): boolean {
  return one !== null && other !== null && one >= other;
}

function asText(value: Value): string | null {
  return value === null ? null : String(value);
}
