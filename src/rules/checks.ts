/**
 * What must be true before an operation on a job may happen: for each operation a list of conditions in the order in
 * which they refuse, each with its refusal. The frame of the operations, the SQL of what happens in one statement and
 * `availableActions` read this list. Besides, `editing.ts` refuses what an edit may not change, and the database what
 * it cannot charge because another transaction spends at the same moment.
 */
import { BID_TRANSITION_LIST, mayBid, type BidTransition } from './bids.js';
import * as conditions from './conditions.js';
import { all, any, atLeast, call, equal, filledIn, holds, job, oneOf, priceBy, valueOf } from './conditions.js';
import type { Condition, Facts } from './conditions.js';
import { REFUSALS, refuse, type RefusalCode, type RefusalFacts } from './errors.js';
import { JOB_ACTION_LIST, JOB_ACTIONS, statesAllowing } from './lifecycle.js';
import { BID_STATES, JOB_STATES, LIVE_BID_STATES } from './states.js';
import type { JobAction, JobActionKey, PartyWord } from './lifecycle.js';
import type { BidState, JobState } from './states.js';
import { isFor, isOneOfThe, mayActOnBid, partyOf, PARTY_WORDS, type Party } from './parties.js';
import { missingToPublish, PUBLISH_COST, REQUIRED_TO_PUBLISH, type ToPublish } from './publishing.js';
import { eitherOf } from './words.js';

export interface Check {
  readonly condition: Condition;
  /** What the call is refused with where the condition does not hold. */
  readonly code: RefusalCode;
  /** What the refusal holds besides its code. */
  explain?(facts: Facts): RefusalFacts;
}

/**
 * In this order: may this caller do this to this job, do they know its version, does its state allow it, and what else
 * there is. Editing alone is refused field by field where the state does not allow it, by `editing.ts`; the further
 * checks of an edit come after that, which says what it costs.
 */
export function checksOf(key: JobActionKey): readonly Check[] {
  const row: JobAction = JOB_ACTIONS[key];
  const first = [isForThe(row.by), knowsTheVersion];
  return key === 'update' ? first : [...first, isInState(row), ...furtherChecksOf(key)];
}

/** The checks that the lifecycle's table alone asks for: who, and in which state. */
export function checksOfRow(key: JobActionKey): readonly Check[] {
  return [isForThe(JOB_ACTIONS[key].by), isInState(JOB_ACTIONS[key])];
}

/** What follows once the table allows the call. */
export function furtherChecksOf(key: JobActionKey): readonly Check[] {
  return FURTHER[key] ?? [];
}

/** The first refusal there is; undefined where the operation may happen. */
export function firstFailing(checks: readonly Check[], facts: Facts): Check | undefined {
  return checks.find(({ condition }) => !holds(condition, facts));
}

/** Why not, in a sentence for a person. */
export function sentenceOf({ code, explain }: Check, facts: Facts): string {
  return explain?.(facts).message ?? REFUSALS[code][1];
}

export function assertAllowed(checks: readonly Check[], facts: Facts): void {
  const failing = firstFailing(checks, facts);
  if (failing) throw refuse(failing.code, failing.explain?.(facts));
}

function isForThe(by: PartyWord): Check {
  return {
    condition: isOneOfThe(by),
    code: 'FORBIDDEN',
    explain: () => ({ message: `Only ${ALL_OF[by] ?? PARTY_WORDS[by].description} may do this.` }),
  };
}

/** Party words of which there are many, in the plural. */
const ALL_OF: { readonly [By in PartyWord]?: string } = { contractor: 'contractors', admin: 'admins' };

const knowsTheVersion: Check = {
  condition: any(conditions.absent(call('expectedVersion')), equal(job('version'), call('expectedVersion'))),
  code: 'STALE_VERSION',
  explain: ({ expectedVersion, job: { version } }) => ({ details: { expectedVersion, version } }),
};

function isInState(row: JobAction): Check {
  return {
    condition: oneOf(job('status'), statesAllowing(row)),
    code: refusalElsewhere(row),
    explain: ({ viewer, job: { status }, ownBids, job: its }) => ({
      message: mustBe('job', statesAllowing(row), JOB_STATES),
      details: {
        fromState: status,
        allowedOperations: operationsAllowedFrom(status, partyOf(viewer, its, ownBids.length > 0)),
      },
    }),
  };
}

/** The same of what people do with bids: may this caller do this to this bid, and does its state allow it. */
export function checksOfBid({ by, from }: BidTransition): readonly Check[] {
  return [
    { ...isForThe(by), condition: mayActOnBid(by) },
    {
      condition: oneOf(conditions.bid('status'), from),
      code: 'INVALID_TRANSITION',
      explain: (facts) => (facts.bid ? bidInAnotherState(from, facts.bid.status, facts) : {}),
    },
  ];
}

function bidInAnotherState(allowing: readonly BidState[], fromState: BidState, facts: Facts): RefusalFacts {
  const allowed = BID_TRANSITION_LIST.filter(
    ({ by, from }) => from.includes(fromState) && holds(mayActOnBid(by), facts),
  );
  return {
    message: mustBe('bid', allowing, BID_STATES),
    details: { fromState, allowedOperations: allowed.map((row) => row.operation) },
  };
}

/** In which states the call is possible; where it is in most of them, in which it is not. */
function mustBe(noun: string, allowing: readonly string[], all: readonly string[]): string {
  const others = all.filter((state) => !allowing.includes(state));
  if (others.length < allowing.length) return `The ${noun} must not be ${eitherOf(others)}.`;
  return `The ${noun} must be ${eitherOf(allowing)}.`;
}

/** What being in the wrong state is called, for this operation. */
export function refusalElsewhere(row: JobAction): RefusalCode {
  return row.elsewhere ?? 'INVALID_TRANSITION';
}

/** The operations that this party could call in this state, for a refused caller to choose from. */
export function operationsAllowedFrom(state: JobState, party: Party): string[] {
  const allowed = JOB_ACTION_LIST.filter((row) => isFor(row.by, party) && statesAllowing(row).includes(state));
  return allowed.map((row) => row.operation);
}

const costOfPublishing = priceBy('urgency', PUBLISH_COST);

const isWhole: Check = {
  condition: all(...REQUIRED_TO_PUBLISH.map((field) => filledIn(job(field)))),
  code: 'MISSING_FIELDS',
  explain: ({ job: draft }) => ({
    message: 'To publish the job, fill in the missing fields first.',
    fields: Object.fromEntries(missingToPublish(draft as ToPublish).map((field) => [field, 'is required to publish'])),
  }),
};

function isCovered(required: conditions.Term): Check {
  return {
    condition: atLeast(call('available'), required),
    code: 'INSUFFICIENT_TOKENS',
    explain: (facts) => ({ details: { required: valueOf(required, facts), available: facts.available } }),
  };
}

const hasBidToAward: Check = {
  condition: atLeast(call('bidsToAward'), conditions.constant(1)),
  code: 'UNKNOWN_BID',
  // `awardJob` refuses a wrong bid with this sentence, and `availableActions` a job without a bid to award.
  explain: () => ({
    message: `There is no bid to award: it must be one on this job that is ${eitherOf(LIVE_BID_STATES)}.`,
    fields: { bidId: 'is no bid on this job that could be awarded' },
  }),
};

/** The price comes last. */
const FURTHER: { readonly [Key in JobActionKey]?: readonly Check[] } = {
  publish: [isWhole, isCovered(costOfPublishing)],
  award: [hasBidToAward],
  submitBid: [{ condition: mayBid, code: 'DUPLICATE_BID' }, isCovered(call('cost'))],
  update: [isCovered(call('cost'))],
};
