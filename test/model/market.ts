/**
 * The market, written a second time from the interface and the decisions only. It imports nothing from the service but
 * types, so it can't repeat a mistake of the service. Numbers are also typed in again.
 */
import type { JobState } from '../../src/market/rules/states.js';
import {
  actionName,
  EDITABLE,
  isIn,
  JOB_ACTION_KEYS,
  NOT_EDITABLE_AFTER_CHANGES,
  OPERATIONS_ON_JOBS,
  statesAllowing,
  EXTENDED_BY,
  type Transition,
} from '../story/specified.js';
import {
  actsAt,
  due,
  lengthOf,
  planFor,
  planForStake,
  rowFor,
  type ClockAction,
  type Countdown,
  type JobCountdown,
  type Reminded,
} from './deadlines.js';
import * as shapes from './shapes.js';
import { packFor, PACKS, refundedAmountOf, Wallet, type TokenSplit, type Purchase as PurchaseBy } from './wallet.js';
import type { Flaw } from './shapes.js';

export type Role = 'homeowner' | 'contractor' | 'admin';
export type Api = 'rest' | 'graphql';

export type { JobState };
export type BidState = 'pending' | 'viewed' | 'shortlisted' | 'accepted' | 'rejected' | 'withdrawn';

export type { Transition };
export type BidMove = 'viewBid' | 'shortlistBid' | 'rejectBid' | 'withdrawBid';
export type Op =
  | 'createJob'
  | 'updateJob'
  | 'deleteJob'
  | Transition
  | 'reviewJob'
  | 'extendDeadline'
  | 'advanceClock'
  | 'submitBid'
  | BidMove
  | 'reviseBid'
  | 'listRevisions'
  | 'adjustTokens'
  | 'buyTokens'
  | 'refundPurchase'
  | Report
  | 'suspendUser'
  | 'restoreUser'
  | 'readJob'
  | 'listJobs'
  | 'listBids'
  | 'ownBids'
  | 'listEvents'
  | 'readDispute'
  | 'readUpcoming'
  | 'readTokens'
  | 'readPurchase'
  | 'readContractor';

/** What the payment provider reports. Nobody calls it. */
export type Report = (typeof REPORTS)[number];
export const REPORTS = ['payPurchase', 'expirePurchase', 'chargeBack'] as const;

export interface Person {
  readonly name: string;
  readonly role: Role;
  readonly userId: string;
  readonly profileId: string;
}

export type Fields = Record<string, unknown>;

export interface Call {
  readonly op: Op;
  readonly by: Person | null;
  readonly api: Api;
  readonly job?: string;
  readonly bid?: string;
  readonly user?: string;
  readonly purchase?: string;
  readonly version?: number;
  /** The body in camelCase, or the query for reads. */
  readonly body: Fields;
}

export interface Bid {
  id: string;
  readonly job: Job;
  readonly by: Person;
  state: BidState;
  fields: Fields;
  /** Rises with each revision. */
  version: number;
  /** The earlier offers, oldest first. */
  readonly revisions: { readonly version: number; readonly fields: Fields }[];
  /** The job's number of public edits at the time of the offer. */
  editsSeen: number;
  readonly guaranteed: boolean;
  holdId: string | null;
  /** Undefined if nothing was staked. */
  hold: 'active' | 'released' | undefined;
  /** What the clock counts for the stake. */
  readonly countdown: Countdown;
  createdAt: string;
}

export type Purchase = PurchaseBy<Person>;

export interface Happening {
  readonly type: string;
  readonly bidder: Person | null;
  readonly from: JobState | null;
  readonly to: JobState | null;
  /** What the caller wrote. */
  readonly texts: Fields;
  /** The contractor who lost the award. No other contractor knows why. */
  readonly loser?: Person;
  /** Null if the clock did it. */
  readonly by: Person | null;
  /** The people whom the clock reminded. Only they and admins see it. */
  readonly reminded?: readonly Person[];
  /** In seconds since the history began, in the time of deadlines. */
  readonly at: number;
}

export interface Dispute {
  reason: string;
  details: string | null;
  /** The service assigns the ID. */
  proposal: { id: string; resolution: string; by: Person; agreedBy: string | null } | null;
  /** `by` is null if the clock did it. */
  escalation: { by: Person | null; reason: string } | null;
  decision: { by: Person; decision: string; ruling: string; resolutionTerms: string | null } | null;
  appeal: { by: Person; reason: string; supportingEvidence: string | null } | null;
  finalDecision: { by: Person; finalDecision: string; ruling: string } | null;
  ending: {
    by: Person | null;
    how: 'agreement' | 'decision_accepted' | 'decision_stood' | 'final_decision' | 'completed_by_admin';
    text: string;
  } | null;
}

export interface Job {
  id: string;
  readonly owner: Person;
  state: JobState;
  fields: Fields;
  version: number;
  createdAt: string;
  /** When the job entered its state, as the service reported it on the last read in that state. */
  changed: { readonly state: JobState; readonly at: string } | null;
  readonly bids: Bid[];
  awarded: Bid | null;
  /** The bids that the last award rejected, with their states before it. */
  passedOver: ReadonlyMap<Bid, BidState>;
  changeRequests: number;
  reopenings: number;
  /** The number of edits that changed a field that contractors read. */
  publicEdits: number;
  rating: number | null;
  review: string | null;
  /** The highest budget since publication, in cents. */
  highest: { budgetMin: number | null; budgetMax: number | null };
  mostPaid: number;
  /** The bought ones among the tokens that were paid. */
  boughtPaid: number;
  completionBase: string | null;
  readonly happenings: Happening[];
  dispute: Dispute | null;
  readonly countdown: JobCountdown;
  /** Since when the deadline is paused. */
  stoppedSince: number | null;
  /** For how long it was paused before that. */
  stoodStill: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
}

export interface Refusal {
  readonly code: string;
  /** Undefined if no fields are specified. */
  readonly fields?: readonly string[];
  readonly blocked?: readonly string[];
  readonly details?: Fields;
}

export type Answer =
  | { readonly is: 'refused'; readonly refusal: Refusal }
  | {
      readonly is: 'job';
      readonly job: Job;
      readonly created?: boolean;
      readonly paid?: { tokensCharged: number; remainingBalance: number };
    }
  | { readonly is: 'gone'; readonly job: Job }
  | { readonly is: 'bid'; readonly bid: Bid; readonly created?: boolean }
  | { readonly is: 'transfer'; readonly to: Person; readonly amount: number; readonly bought: number }
  | { readonly is: 'purchase'; readonly purchase: Purchase; readonly created?: boolean }
  | { readonly is: 'settled'; readonly purchase: Purchase }
  | { readonly is: 'user'; readonly person: Person; readonly isSuspended: boolean }
  | { readonly is: 'jobs'; readonly page: Page<Job> }
  | { readonly is: 'bids'; readonly page: Page<Bid> }
  | { readonly is: 'revisions'; readonly page: Page<Bid['revisions'][number]> }
  | { readonly is: 'events'; readonly page: Page<SeenHappening> }
  | { readonly is: 'dispute'; readonly dispute: Dispute | null }
  | { readonly is: 'upcoming'; readonly upcoming: readonly Upcoming[] }
  | { readonly is: 'clock'; readonly now: number }
  | { readonly is: 'tokens'; readonly tokens: Tokens }
  | { readonly is: 'contractor'; readonly contractor: Person; readonly record: Record_ };

export interface SeenHappening extends Happening {
  readonly sequence: number;
  /** True if this reader gets all texts. Otherwise they get only the review. */
  readonly whole: boolean;
  /** Null if the clock did it. No contractor reads that another contractor did it. */
  readonly actorId: string | null;
}

export interface Tokens {
  readonly balance: number;
  readonly held: number;
  readonly available: number;
  readonly bought: number;
  readonly debt: number;
}

interface Record_ {
  completedJobs: number;
  ratings: number[];
}

/** What the clock will do, and when. */
export interface Upcoming {
  readonly action: ClockAction;
  readonly at: number;
}

/** An admin's action on a user. */
export interface Act {
  readonly action: Op;
  readonly userId: string;
  readonly jobId: string | null;
  readonly reason: string | null;
}

export interface Action {
  readonly allowed: boolean;
  readonly reason: string | null;
  readonly missingFields: readonly string[];
  readonly tokenCost: number | null;
  /** When the clock ends the chance to act. */
  readonly until: number | null;
}

interface Turn {
  readonly from: number;
  readonly to: number;
  readonly suspended: ReadonlySet<Person>;
}

/** Something that the clock did, and the state of the job in which it did that. */
interface ClockDecision {
  readonly state: JobState;
  readonly did: string;
}

class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.code);
  }
}

const COST: Record<string, number> = { standard: 5, priority: 15, urgent: 30 };
const RANK = ['standard', 'priority', 'urgent'];
const STAKE = 5;
const REVISIONS_MAX = 10;
const CHANGE_REQUESTS_MAX = 3;
const REOPENINGS_MAX = 2;
const BIDS_ON_ONE_JOB_MAX = 10;
const OPEN_PURCHASES_MAX = 5;
const NEEDED = ['title', 'description', 'category', 'urgency', 'addressLine1', 'city', 'state'];
const LIVE: readonly BidState[] = ['pending', 'viewed', 'shortlisted'];
export const PRIVATE = ['addressLine1', 'addressLine2', 'zipCode', 'latitude', 'longitude'];

function mayEdit({ state, changeRequests }: Job, field: string): boolean {
  const editable = EDITABLE[state];
  if (changeRequests > 0 && NOT_EDITABLE_AFTER_CHANGES.some((one) => one === field)) return false;
  return editable === 'all' || editable?.some((one) => one === field) === true;
}

/** True if the place exists. It only knows the places in the histories. */
export function isLocated({ zipCode, city, state }: Fields): boolean {
  return zipCode === '78701' || zipCode === '10001' || (city === 'Austin' && state === 'TX');
}

/** Each transition's actor, target state, and event name. */
const TRANSITIONS = new Map(
  JOB_ACTION_KEYS.flatMap((key) => {
    const { operation, actor, to, event } = OPERATIONS_ON_JOBS[key];
    if (to === 'stays' || to === 'gone') return [];
    return [[operation, { key, by: actor as keyof typeof ROLES, to, event }]];
  }),
);
function mayStart(key: (typeof JOB_ACTION_KEYS)[number], { state, changeRequests }: Job): boolean {
  return statesAllowing(key, changeRequests > 0 ? 'after changes' : 'before changes').includes(state);
}

export const TRANSITION_NAMES = [...TRANSITIONS.keys()];

const ROLES = {
  owner: ['homeowner'],
  awardee: ['contractor'],
  parties: ['homeowner', 'contractor'],
  admin: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

const BID_MOVES: Record<BidMove, { by: Role; from: readonly BidState[]; to: BidState; event: string }> = {
  viewBid: { by: 'homeowner', from: ['pending'], to: 'viewed', event: 'bid.viewed' },
  shortlistBid: { by: 'homeowner', from: ['pending', 'viewed'], to: 'shortlisted', event: 'bid.shortlisted' },
  rejectBid: { by: 'homeowner', from: LIVE, to: 'rejected', event: 'bid.rejected' },
  withdrawBid: { by: 'contractor', from: LIVE, to: 'withdrawn', event: 'bid.withdrawn' },
};

export class Market {
  readonly jobs: Job[] = [];
  /** Identifiers of drafts that were deleted. */
  readonly gone: string[] = [];
  readonly acts: Act[] = [];
  readonly suspended = new Set<Person>();
  /** In the order in which they were made. */
  readonly purchases: Purchase[] = [];
  private readonly wallets = new Map<Person, Wallet<Person>>();
  private readonly records = new Map<Person, Record_>();

  /** In the time of deadlines, in seconds since the history began. */
  now = 0;
  /** What the clock did in its last turn. */
  clockActions: ClockDecision[] = [];
  /** True if the last call moved the clock. */
  isAgeing = false;
  /** What the last call did to tokens, and the people whose bought tokens or debts may have changed. */
  tokenSteps: string[] = [];
  readonly accountsToCheck = new Set<Person>();
  /** Each move of the clock, and who was suspended at the time. */
  readonly turns: Turn[] = [];
  /** Whoever acts. Null while the clock acts. */
  private actor: Person | null = null;

  /** `startedAt` is the real time, in milliseconds. */
  constructor(
    readonly people: readonly Person[],
    balances: ReadonlyMap<Person, number>,
    readonly startedAt: number,
  ) {
    for (const person of people) this.wallets.set(person, new Wallet(balances.get(person) ?? 0));
    for (const person of people) this.records.set(person, { completedJobs: 0, ratings: [] });
  }

  /** The response that the service must return. The model has already applied the call's effects. */
  perform(call: Call): Answer {
    this.isAgeing = call.op === 'advanceClock';
    this.tokenSteps = [];
    this.accountsToCheck.clear();
    try {
      return this.run(call);
    } catch (error) {
      if (error instanceof Refused) return { is: 'refused', refusal: error.refusal };
      throw error;
    }
  }

  tokensOf(person: Person): Tokens {
    const { balance, bought, debt } = this.walletOf(person);
    const held =
      this.jobs.flatMap(({ bids }) => bids).filter(({ by, hold }) => by === person && hold === 'active').length * STAKE;
    return { balance, held, available: balance - held, bought, debt };
  }

  private walletOf(person: Person): Wallet<Person> {
    return this.wallets.get(person)!;
  }

  /** What a refund can take back now. */
  refundable({ by, left }: Purchase): number {
    return Math.min(left, this.tokensOf(by).available);
  }

  openPurchasesOf(person: Person): Purchase[] {
    return this.purchases.filter(({ by, state }) => by === person && state === 'pending');
  }

  purchasesOf(person: Person): Purchase[] {
    return this.purchases.filter(({ by }) => by === person).sort(newestFirst);
  }

  recordOf(person: Person): Record_ {
    return this.records.get(person)!;
  }

  sees(person: Person, job: Job): boolean {
    if (person.role === 'admin' || person === job.owner) return true;
    return person.role === 'contractor' && (this.takesBids(job) || job.bids.some(({ by }) => by === person));
  }

  private takesBids(job: Job): boolean {
    return statesAllowing('submitBid').includes(job.state) && !this.suspended.has(job.owner);
  }

  /** Contractors' lists omit jobs of suspended owners, who can't receive bids, even if the contractor has bid. */
  listedJobs(person: Person): Job[] {
    const isHidden = (job: Job) =>
      person.role === 'contractor' && statesAllowing('submitBid').includes(job.state) && !this.takesBids(job);
    return this.jobs.filter((job) => this.sees(person, job) && !isHidden(job)).sort(newestFirst);
  }

  visibleBids(person: Person, job: Job): Bid[] {
    return job.bids
      .filter(({ by }) => person.role !== 'contractor' || by === person)
      .sort((a, b) => Number(b.guaranteed) - Number(a.guaranteed) || newestFirst(a, b));
  }

  ownBids(person: Person): Bid[] {
    return this.jobs
      .flatMap(({ bids }) => bids)
      .filter(({ by }) => by === person)
      .sort(newestFirst);
  }

  /** The owner, the awarded contractor, and admins read all of the job itself. */
  readsAll(person: Person, job: Job): boolean {
    return person.role === 'admin' || person === job.owner || person === job.awarded?.by;
  }

  eventsFor(person: Person, job: Job): SeenHappening[] {
    const whole = this.readsAll(person, job);
    const hasBid = job.bids.some(({ by }) => by === person);
    return job.happenings
      .map((happening, at) => {
        const { bidder, by, loser, reminded } = happening;
        const isRival = person.role === 'contractor' && by?.role === 'contractor' && by !== person;
        const actorId = isRival ? null : (by?.userId ?? null);
        const readsLoss = person.role === 'admin' || person === job.owner || person === loser;
        const readsTexts = whole || bidder === person || reminded?.includes(person) === true;
        return { ...happening, sequence: at + 1, actorId, whole: loser ? readsLoss : readsTexts };
      })
      .filter(({ type, bidder, from, to, reminded }) => {
        if (reminded) return person.role === 'admin' || reminded.includes(person);
        if (type === 'job.deadline_extended' && from === 'open') return whole && person.role !== 'contractor';
        if (bidder !== null) return bidder === person || (whole && person.role !== 'contractor');
        return whole || from !== to || (hasBid && type === 'job.updated');
      });
  }

  disputeFor(person: Person, job: Job): Dispute | null {
    return this.readsAll(person, job) ? job.dispute : null;
  }

  /**
   * For every operation on the job: whether a valid call by this person would succeed now and, if not, the first
   * refusal.
   */
  actionsFor(person: Person, job: Job): Record<string, Action> {
    return Object.fromEntries(
      JOB_ACTION_KEYS.map((key) => {
        const action = this.actionFor(person, job, OPERATIONS_ON_JOBS[key].operation);
        return [actionName(key), { ...action, until: action.allowed ? this.chanceEnds(person, job, key) : null }];
      }),
    );
  }

  private chanceEnds(person: Person, job: Job, key: (typeof JOB_ACTION_KEYS)[number]): number | null {
    const end = rowFor(job)?.end;
    const at = this.upcomingFor(person, job).find(({ action }) => action === end?.action)?.at;
    return !end || at === undefined || mayStart(key, { ...job, state: end.to }) ? null : at;
  }

  /** What the clock will do if nobody acts, soonest first. */
  upcomingFor(person: Person, job: Job): Upcoming[] {
    const row = rowFor(job);
    const sees = this.readsAll(person, job) || isIn('bidding', job.state);
    if (!row || !sees || job.stoppedSince !== null) return [];
    const now = this.running(job);
    const list: Upcoming[] = [];
    if (row.end)
      list.push({ action: row.end.action, at: actsAt(planFor(job.state, job.countdown), job.countdown, now) });
    const visible = this.visibleBids(person, job);
    for (const { countdown } of stakesOf(job).filter((bid) => visible.includes(bid)))
      list.push({ action: 'RELEASE_STAKE', at: actsAt(planForStake(countdown), countdown, now) });
    return list.map(({ action, at }) => ({ action, at: at + job.stoodStill })).sort((a, b) => a.at - b.at);
  }

  private actionFor(person: Person, job: Job, op: Op): Omit<Action, 'until'> {
    const refused = (reason: string) => ({ allowed: false, reason, missingFields: [], tokenCost: null });
    const allowed = { allowed: true, reason: null, missingFields: [], tokenCost: null };
    switch (op) {
      case 'updateJob':
        if (person !== job.owner) return refused('FORBIDDEN');
        return EDITABLE[job.state] ? allowed : refused('FIELD_NOT_EDITABLE');
      case 'deleteJob':
        if (person !== job.owner) return refused('FORBIDDEN');
        return statesAllowing('delete').includes(job.state) ? allowed : refused('INVALID_TRANSITION');
      case 'submitBid':
        if (person.role !== 'contractor') return refused('FORBIDDEN');
        if (!statesAllowing('submitBid').includes(job.state)) return refused('INVALID_TRANSITION');
        if (this.suspended.has(job.owner)) return refused('FORBIDDEN');
        if (job.bids.some(({ by, state }) => by === person && state !== 'withdrawn')) return refused('DUPLICATE_BID');
        return hasBidTooOften(person, job) ? refused('INVALID_TRANSITION') : allowed;
      case 'reviewJob':
        if (person !== job.owner) return refused('FORBIDDEN');
        return mayBeReviewed(job) ? allowed : refused('INVALID_TRANSITION');
      case 'extendDeadline': {
        if (person !== job.owner && person.role !== 'admin') return refused('FORBIDDEN');
        const extender = EXTENDED_BY[job.state];
        if (!extender) return refused('INVALID_TRANSITION');
        if (!this.isParty(person, job, extender)) return refused('FORBIDDEN');
        return wasExtended(job) ? refused('INVALID_TRANSITION') : allowed;
      }
      default: {
        const row = TRANSITIONS.get(op as Transition)!;
        if (!this.isParty(person, job, row.by)) return refused('FORBIDDEN');
        if (op === 'acceptResolution' && job.dispute?.proposal?.by === person) return refused('FORBIDDEN');
        if (!mayStart(row.key, job)) return refused('INVALID_TRANSITION');
        if (op === 'requestChanges' && job.changeRequests >= CHANGE_REQUESTS_MAX) return refused('INVALID_TRANSITION');
        if (op === 'reopenJob' && job.reopenings >= REOPENINGS_MAX) return refused('INVALID_TRANSITION');
        if (op === 'acceptResolution' && !job.dispute?.proposal) return refused('INVALID_TRANSITION');
        if (op === 'awardJob') return job.bids.some((bid) => this.mayBeAwarded(bid)) ? allowed : refused('UNKNOWN_BID');
        if (op !== 'publishJob') return allowed;
        const missingFields = this.missing(job);
        const tokenCost = COST[String(job.fields.urgency)] ?? null;
        if (missingFields.length > 0) return { ...refused('MISSING_FIELDS'), missingFields, tokenCost };
        return {
          ...((tokenCost ?? 0) > this.tokensOf(person).available ? refused('INSUFFICIENT_TOKENS') : allowed),
          tokenCost,
        };
      }
    }
  }

  private run(call: Call): Answer {
    const { op } = call;
    switch (op) {
      case 'createJob':
        return this.create(call);
      case 'updateJob':
        return this.update(call);
      case 'deleteJob':
        return this.remove(call);
      case 'reviewJob':
        return this.review(call);
      case 'extendDeadline':
        return this.extend(call);
      case 'advanceClock':
        return this.advance(call);
      case 'submitBid':
        return this.submitBid(call);
      case 'viewBid':
      case 'shortlistBid':
      case 'rejectBid':
      case 'withdrawBid':
        return this.moveBid(call, op);
      case 'reviseBid':
        return this.reviseBid(call);
      case 'listRevisions':
        return this.listRevisions(call);
      case 'adjustTokens':
        return this.adjust(call);
      case 'buyTokens':
        return this.buy(call);
      case 'refundPurchase':
        return this.refundPurchase(call);
      case 'payPurchase':
      case 'expirePurchase':
      case 'chargeBack':
        return this.settle(call, op);
      case 'suspendUser':
        return this.suspend(call);
      case 'restoreUser':
        return this.restore(call);
      case 'readJob':
        return { is: 'job', job: this.found(call, this.admit(call, ANYONE, shapes.NOTHING)) };
      case 'listJobs':
        return this.list(call);
      case 'listBids':
        return this.listBids(call);
      case 'ownBids':
        return this.listOwnBids(call);
      case 'listEvents':
        return this.listEvents(call);
      case 'readDispute':
        return this.readDispute(call);
      case 'readUpcoming': {
        const person = this.admit(call, ANYONE, shapes.NOTHING);
        return { is: 'upcoming', upcoming: this.upcomingFor(person, this.found(call, person)) };
      }
      case 'readTokens':
        return { is: 'tokens', tokens: this.tokensOf(this.admit(call, ANYONE, shapes.NOTHING)) };
      case 'readPurchase':
        return this.readPurchase(call);
      case 'readContractor':
        return this.readContractor(call);
      default:
        return this.transition(call, op);
    }
  }

  /** Checks the caller's identity, the role, and the shape of the input. */
  private admit(call: Call, roles: readonly Role[], shape: shapes.Shape): Person {
    const flaws = shapes.flawsIn(shape, call.body);
    // GraphQL checks types and required fields before authentication.
    if (call.api === 'graphql' && flaws.some(({ byType }) => byType)) throw new Refused({ code: 'VALIDATION_FAILED' });
    if (call.by === null || this.suspended.has(call.by)) throw new Refused({ code: 'UNAUTHENTICATED' });
    if (!roles.includes(call.by.role)) throw new Refused({ code: 'FORBIDDEN' });
    if (flaws.length > 0)
      throw new Refused({ code: 'VALIDATION_FAILED', fields: flaws.map(({ field }: Flaw) => field).sort() });
    this.actor = call.by;
    return call.by;
  }

  private found({ job: id }: Call, person: Person): Job {
    const job = this.jobs.find((one) => one.id === id);
    if (!job) throw new Refused({ code: 'NOT_FOUND' });
    if (!this.sees(person, job)) throw new Refused({ code: 'FORBIDDEN' });
    return job;
  }

  /**
   * A list that belongs to a job. In GraphQL, it is a field of the job, and its arguments are checked after the job.
   */
  private within(call: Call, shape: shapes.Shape): { person: Person; job: Job } {
    const typed = shapes.flawsIn(shape, call.body).some(({ byType }) => byType);
    if (call.api === 'rest' || typed) {
      const person = this.admit(call, ANYONE, shape);
      return { person, job: this.found(call, person) };
    }
    const job = this.found(call, this.admit({ ...call, body: {} }, ANYONE, shape));
    return { person: this.admit(call, ANYONE, shape), job };
  }

  private isParty(person: Person, job: Job, by: keyof typeof ROLES): boolean {
    const isOwner = person === job.owner;
    const isAwardee = person === job.awarded?.by;
    return { owner: isOwner, awardee: isAwardee, parties: isOwner || isAwardee, admin: person.role === 'admin' }[by];
  }

  private foundFor(call: Call, person: Person, by: keyof typeof ROLES): Job {
    const job = this.found(call, person);
    if (!this.isParty(person, job, by)) throw new Refused({ code: 'FORBIDDEN' });
    // Nobody can accept their own proposal.
    if (call.op === 'acceptResolution' && job.dispute?.proposal?.by === person)
      throw new Refused({ code: 'FORBIDDEN' });
    if (call.version !== undefined && call.version !== job.version)
      throw new Refused({ code: 'STALE_VERSION', details: { version: job.version } });
    return job;
  }

  private create(call: Call): Answer {
    const owner = this.admit(call, ['homeowner'], shapes.CREATE);
    const fields = {
      ...Object.fromEntries(shapes.JOB_FIELDS.map((field) => [field, null])),
      ...shapes.normal(call.body),
    };
    const job: Job = {
      id: '',
      owner,
      state: 'draft',
      fields,
      version: 1,
      createdAt: '',
      changed: null,
      bids: [],
      awarded: null,
      passedOver: new Map(),
      changeRequests: 0,
      reopenings: 0,
      publicEdits: 0,
      rating: null,
      review: null,
      highest: { budgetMin: null, budgetMax: null },
      mostPaid: 0,
      boughtPaid: 0,
      completionBase: null,
      dispute: null,
      happenings: [],
      countdown: { from: this.now, reminded: null, disputed: null, extension: 0 },
      stoppedSince: null,
      stoodStill: 0,
    };
    this.log(job, { type: 'job.created', bidder: null, from: null, to: 'draft', texts: {} });
    this.jobs.push(job);
    return { is: 'job', job, created: true };
  }

  private update(call: Call): Answer {
    // A body that names a different job than the URL contradicts itself, whatever that job is.
    const misaddressed = call.api === 'rest' && call.body.id !== undefined && call.body.id !== call.job;
    const person = this.admit(
      misaddressed ? { ...call, body: {} } : call,
      ['homeowner'],
      call.api === 'rest' ? shapes.UPDATE_WITH_READ_ONLY : shapes.UPDATE,
    );
    if (misaddressed) throw new Refused({ code: 'VALIDATION_FAILED' });
    const job = this.foundFor(call, person, 'owner');
    const { readOnly, patch } = shapes.partsOfUpdate(call.body);

    const current: Fields = {
      id: job.id,
      status: job.state,
      homeownerId: job.owner.profileId,
      awardedBidId: job.awarded?.id ?? null,
      rating: job.rating,
      review: job.review,
      createdAt: job.createdAt,
    };
    // The model doesn't know the coordinates of known places, so any that the caller sends are forged. An unknown place
    // doesn't have coordinates.
    current.latitude = current.longitude = isLocated(job.fields) ? undefined : null;
    const forged = Object.keys(readOnly)
      .filter((name) => name in current && readOnly[name] !== current[name])
      .sort();
    if (forged.length > 0) throw new Refused({ code: 'VALIDATION_FAILED', fields: forged });

    const changed = Object.keys(patch)
      .filter((field) => patch[field] !== job.fields[field])
      .sort();
    const blocked = changed.filter((field) => !mayEdit(job, field));
    if (blocked.length > 0) throw new Refused({ code: 'FIELD_NOT_EDITABLE', blocked });

    const after: Fields = { ...job.fields, ...patch };
    if (isIn('bidding', job.state)) this.checkOpen(job, after, changed);
    if (job.state === 'in_progress') checkCompletion(job, after, changed);
    const cleared = changed.filter(
      (field) =>
        (isIn('unpublished', job.state) ? ['title', 'description'] : NEEDED).includes(field) && after[field] === null,
    );
    if (cleared.length > 0) throw new Refused({ code: 'VALIDATION_FAILED', fields: cleared });
    const contradictions = contradictionsIn(after).filter((field) => changed.includes(field));
    if (contradictions.length > 0) throw new Refused({ code: 'VALIDATION_FAILED', fields: contradictions });

    const charge =
      isIn('bidding', job.state) && changed.includes('urgency')
        ? Math.max(0, COST[String(after.urgency)]! - job.mostPaid)
        : 0;
    const { bought } = this.pay(person, charge);
    if (changed.length === 0) return { is: 'job', job };
    job.fields = after;
    if (changed.some((field) => !PRIVATE.includes(field))) job.publicEdits += 1;
    job.mostPaid += charge;
    job.boughtPaid += bought;
    if (isIn('bidding', job.state)) {
      for (const budget of ['budgetMin', 'budgetMax'] as const)
        job.highest[budget] = larger(job.highest[budget], cents(after[budget]));
    }
    if (job.state === 'in_progress') job.completionBase ??= after.desiredCompletionDate as string | null;
    job.version += 1;
    this.log(job, { type: 'job.updated', bidder: null, from: job.state, to: job.state, texts: {} });
    return { is: 'job', job };
  }

  private checkOpen(job: Job, after: Fields, changed: readonly string[]): void {
    const low = (['budgetMin', 'budgetMax'] as const).filter((budget) => {
      const highest = job.highest[budget];
      // At most ten percent below the highest: ten times the new amount is at least nine times the highest, in whole
      // cents.
      return (
        changed.includes(budget) &&
        highest !== null &&
        (after[budget] === null || cents(after[budget])! * 10 < highest * 9)
      );
    });
    if (low.length > 0) throw new Refused({ code: 'BUDGET_DECREASE_TOO_LARGE', fields: low.sort() });
    const lowered =
      changed.includes('urgency') &&
      after.urgency !== null &&
      RANK.indexOf(String(after.urgency)) < RANK.indexOf(String(job.fields.urgency));
    if (lowered && job.bids.some(({ state, by }) => state !== 'withdrawn' && !this.suspended.has(by)))
      throw new Refused({ code: 'URGENCY_LOCKED', fields: ['urgency'] });
  }

  private remove(call: Call): Answer {
    const person = this.admit(call, ['homeowner'], shapes.NOTHING);
    const job = this.foundFor(call, person, 'owner');
    if (!statesAllowing('delete').includes(job.state)) throw invalidTransition(job.state);
    this.jobs.splice(this.jobs.indexOf(job), 1);
    this.gone.push(job.id);
    return { is: 'gone', job };
  }

  private transition(call: Call, op: Transition): Answer {
    const row = TRANSITIONS.get(op)!;
    const person = this.admit(call, ROLES[row.by], shapes.TRANSITION[op]);
    const job = this.foundFor(call, person, row.by);
    if (!mayStart(row.key, job)) throw invalidTransition(job.state);
    const said = shapes.normal(call.body);
    const from = job.state;
    const addEvent = (type: string, to: JobState, texts: Fields = said, more: Pick<Happening, 'loser'> = {}) =>
      this.log(job, { type, bidder: null, from, to, texts, ...more });
    const arrive = (texts?: Fields, more?: Pick<Happening, 'loser'>) => {
      addEvent(row.event, row.to, texts, more);
      this.enter(job, row.to);
      if (person.role === 'admin') this.record(op, job.owner, said.reason, job);
    };

    switch (op) {
      case 'publishJob': {
        const missing = this.missing(job);
        if (missing.length > 0) throw new Refused({ code: 'MISSING_FIELDS', fields: [...missing].sort() });
        const tokensCharged = COST[String(job.fields.urgency)]!;
        job.boughtPaid = this.pay(person, tokensCharged).bought;
        job.mostPaid = tokensCharged;
        job.highest = { budgetMin: cents(job.fields.budgetMin), budgetMax: cents(job.fields.budgetMax) };
        arrive({});
        return { is: 'job', job, paid: { tokensCharged, remainingBalance: this.tokensOf(person).available } };
      }
      case 'awardJob': {
        const bid = job.bids.find((one) => one.id === said.bidId && this.mayBeAwarded(one));
        if (!bid) throw new Refused({ code: 'UNKNOWN_BID', fields: ['bidId'] });
        const { expectedBidVersion } = said;
        if (bid.version > 1 && expectedBidVersion === undefined)
          throw new Refused({ code: 'VALIDATION_FAILED', fields: ['expectedBidVersion'] });
        if (expectedBidVersion !== undefined && expectedBidVersion !== bid.version)
          throw new Refused({ code: 'STALE_VERSION', details: { version: bid.version } });
        arrive({});
        bid.state = 'accepted';
        job.awarded = bid;
        job.passedOver = new Map(job.bids.filter(({ state }) => LIVE.includes(state)).map((one) => [one, one.state]));
        this.log(job, ofBid('bid.accepted', bid));
        this.rejectLive(job);
        break;
      }
      case 'declineAward':
        arrive(said, { loser: job.awarded!.by });
        this.endAward(job, 'withdrawn');
        break;
      case 'reopenJob':
        if (job.reopenings >= REOPENINGS_MAX) throw invalidTransition(job.state);
        job.reopenings += 1;
        arrive(said, { loser: job.awarded!.by });
        this.endAward(job, 'rejected');
        break;
      case 'requestChanges':
        if (job.changeRequests >= CHANGE_REQUESTS_MAX) throw invalidTransition(job.state);
        job.changeRequests += 1;
        arrive();
        break;
      case 'checkInJob':
        job.completionBase = job.fields.desiredCompletionDate as string | null;
        arrive();
        break;
      case 'submitJobForReview':
        arrive();
        break;
      case 'approveJob': {
        arrive();
        const record = this.recordOf(job.awarded!.by);
        record.completedJobs += 1;
        if (typeof said.rating === 'number') record.ratings.push(said.rating);
        job.rating = typeof said.rating === 'number' ? said.rating : null;
        job.review = textOf(said.review);
        break;
      }
      case 'disputeJob':
        arrive();
        job.dispute = {
          reason: String(said.reason),
          details: textOf(said.details),
          proposal: null,
          escalation: null,
          decision: null,
          appeal: null,
          finalDecision: null,
          ending: null,
        };
        break;
      case 'escalateJob':
        arrive();
        job.dispute!.escalation = { by: person, reason: String(said.escalationReason) };
        job.dispute!.proposal = null;
        break;
      case 'resolveDispute':
        return this.resolve(job, person, said, arrive, () => addEvent('job.resolution_proposed', from));
      case 'acceptResolution': {
        const { proposal } = job.dispute!;
        if (!proposal) throw invalidTransition(job.state);
        if (proposal.id !== said.proposalId) throw new Refused({ code: 'STALE_VERSION', fields: ['proposalId'] });
        arrive();
        job.dispute!.proposal = null;
        job.dispute!.ending = { by: person, how: 'agreement', text: proposal.resolution };
        break;
      }
      case 'acceptDecision':
        arrive();
        job.dispute!.ending = { by: person, how: 'decision_accepted', text: job.dispute!.decision!.decision };
        break;
      case 'reachDecision':
        arrive();
        job.dispute!.decision = {
          by: person,
          decision: String(said.decision),
          ruling: String(said.ruling),
          resolutionTerms: textOf(said.resolutionTerms),
        };
        break;
      case 'fileAppeal':
        arrive();
        job.dispute!.appeal = {
          by: person,
          reason: String(said.appealReason),
          supportingEvidence: textOf(said.supportingEvidence),
        };
        break;
      case 'finalizeAppeal':
        arrive();
        job.dispute!.finalDecision = {
          by: person,
          finalDecision: String(said.finalDecision),
          ruling: String(said.ruling),
        };
        job.dispute!.ending = { by: person, how: 'final_decision', text: String(said.finalDecision) };
        break;
      case 'completeJob':
        if (said.creditContractor === true && from !== 'in_review' && !isCredited(job))
          throw new Refused({ code: 'VALIDATION_FAILED', fields: ['creditContractor'] });
        if (job.state === 'completed') break;
        arrive(said.creditContractor === true ? said : { reason: said.reason });
        if (said.creditContractor === true) this.recordOf(job.awarded!.by).completedJobs += 1;
        if (job.dispute)
          Object.assign(job.dispute, {
            proposal: null,
            ending: { by: person, how: 'completed_by_admin', text: String(said.reason) },
          });
        break;
      case 'cancelJob': {
        if (isIn('bidding', from) && job.bids.length === 0) this.refundPublication(job, 'the owner');
        arrive();
        break;
      }
      default:
        throw new Error(`The model does not say what ${op satisfies never} leads to.`);
    }
    return { is: 'job', job };
  }

  private log(job: Job, happening: Omit<Happening, 'at' | 'by'>): void {
    job.happenings.push({ ...happening, at: this.now, by: this.actor });
  }

  private enter(job: Job, state: JobState): void {
    if (job.stoppedSince !== null) this.letRun(job);
    job.state = state;
    job.version += 1;
    const from = this.running(job);
    const disputed = state === 'disputed' ? from : job.countdown.disputed;
    Object.assign(job.countdown, { from, disputed, reminded: null, extension: 0 });
    if (isIn('end', state)) this.end(job);
  }

  private extend(call: Call): Answer {
    const person = this.admit(call, ['homeowner', 'admin'], shapes.EXTENSION);
    const job = this.found(call, person);
    if (person !== job.owner && person.role !== 'admin') throw new Refused({ code: 'FORBIDDEN' });
    if (call.version !== undefined && call.version !== job.version)
      throw new Refused({ code: 'STALE_VERSION', details: { version: job.version } });
    const extender = EXTENDED_BY[job.state];
    if (!extender) throw invalidTransition(job.state);
    if (!this.isParty(person, job, extender)) throw new Refused({ code: 'FORBIDDEN' });
    if (wasExtended(job)) throw invalidTransition(job.state);
    const said = shapes.normal(call.body);
    const until = (Date.parse(String(said.until)) - this.startedAt) / 1_000;
    const standsStill = job.stoppedSince === null ? 0 : this.now - job.stoppedSince;
    const end = planFor(job.state, job.countdown).end! + job.stoodStill + standsStill;
    const earliest = Math.max(end, this.now);
    if (until <= earliest || until > earliest + lengthOf(job.state)!)
      throw new Refused({ code: 'VALIDATION_FAILED', fields: ['until'] });
    job.countdown.extension += until - end;
    this.log(job, { type: 'job.deadline_extended', bidder: null, from: job.state, to: job.state, texts: said });
    if (person.role === 'admin') this.record('extendDeadline', job.owner, said.reason, job);
    return { is: 'job', job };
  }

  /** When the deadline of a job ends. Undefined if the clock does nothing then. */
  endOfDeadline(job: Job): number | undefined {
    return lengthOf(job.state) === undefined ? undefined : planFor(job.state, job.countdown).end! + job.stoodStill;
  }

  private advance(call: Call): Answer {
    this.admit(call, ['admin'], shapes.ADVANCE);
    this.clockActions = [];
    this.actor = null;
    // First, the clock does what it would have done by now.
    for (const job of this.jobs) this.check(job);
    const from = this.now;
    this.now += call.body.seconds as number;
    this.turns.push({ from, to: this.now, suspended: new Set(this.suspended) });
    for (const job of this.jobs) while (this.check(job));
    return { is: 'clock', now: this.now };
  }

  /** The time that counts for the job's deadlines, in which they don't stand still. */
  private running({ stoppedSince, stoodStill }: Job): number {
    return (stoppedSince ?? this.now) - stoodStill;
  }

  private letRun(job: Job): void {
    job.stoodStill += this.now - job.stoppedSince!;
    job.stoppedSince = null;
  }

  /** Does one thing that is due. Returns false if nothing is. */
  private check(job: Job): boolean {
    const row = rowFor(job);
    if (!row) return false;
    const { state, countdown } = job;
    const didOnce = (did: string) => this.clockActions.push({ state, did });
    if (this.respondersOf(job, row.reminds).some((person) => this.suspended.has(person))) {
      if (job.stoppedSince !== null) return false;
      job.stoppedSince = this.now;
      didOnce('stops');
      this.remind(job, 'admin');
      return true;
    }
    if (job.stoppedSince !== null) {
      this.letRun(job);
      didOnce('continues');
      return true;
    }
    const now = this.running(job);
    const step = due(planFor(state, countdown), countdown, now);
    if (step === 'reminder') {
      countdown.reminded = now;
      didOnce(`reminds ${row.reminds}`);
      this.remind(job, row.reminds);
    }
    if (step === 'end') {
      didOnce(row.end!.event);
      this.act(job);
    }
    if (step !== undefined) return true;
    for (const bid of stakesOf(job)) {
      const stakesStep = due(planForStake(bid.countdown), bid.countdown, now);
      if (stakesStep === undefined) continue;
      if (stakesStep === 'reminder') {
        bid.countdown.reminded = now;
        didOnce('reminds of a stake');
        this.remind(job, 'owner', { bidId: bid.id });
      } else {
        this.release(bid);
        didOnce('bid.stake_released');
        this.log(job, { ...ofBid('bid.stake_released', bid), texts: { bidId: bid.id } });
      }
      return true;
    }
    return false;
  }

  private respondersOf(job: Job, who: Reminded): Person[] {
    const { owner, awarded } = job;
    const awardee = awarded ? [awarded.by] : [];
    return { owner: [owner], awardee, parties: [owner, ...awardee], admin: [] }[who];
  }

  private remind(job: Job, to: Reminded, more: Fields = {}): void {
    const { state } = job;
    const reminded = this.respondersOf(job, to);
    const texts = { to, ...more };
    this.log(job, { type: 'job.reminded', bidder: null, from: state, to: state, texts, reminded });
  }

  /** What happens because nobody acted. */
  private act(job: Job): void {
    const { event, to, action } = rowFor(job)!.end!;
    const refund = action === 'EXPIRE' && job.bids.length === 0 ? job.mostPaid : 0;
    const texts: Fields = refund > 0 ? { tokensRefunded: refund } : {};
    this.log(job, { type: event, bidder: null, from: job.state, to, texts });
    if (refund > 0) this.refundPublication(job, 'the clock');
    this.enter(job, to);
    if (action === 'APPROVE') this.recordOf(job.awarded!.by).completedJobs += 1;
    if (action === 'ESCALATE') {
      const reason = 'The parties didn’t settle the dispute in time, so an admin decides it.';
      Object.assign(job.dispute!, { proposal: null, escalation: { by: null, reason } });
    }
    if (action === 'STAND_DECISION')
      job.dispute!.ending = { by: null, how: 'decision_stood', text: job.dispute!.decision!.decision };
  }

  private resolve(job: Job, person: Person, said: Fields, arrive: () => void, propose: () => void): Answer {
    const dispute = job.dispute!;
    const resolution = String(said.resolution);
    const standing = dispute.proposal;
    const same = standing !== null && collapsed(standing.resolution) === collapsed(resolution);
    if (same && standing.by !== person) {
      arrive();
      dispute.proposal = null;
      dispute.ending = { by: person, how: 'agreement', text: resolution };
    } else if (!same) {
      propose();
      dispute.proposal = { id: '', resolution, by: person, agreedBy: textOf(said.agreedBy) };
      job.countdown.from = this.running(job);
    }
    return { is: 'job', job };
  }

  private review(call: Call): Answer {
    const person = this.admit(call, ['homeowner'], shapes.REVIEW);
    const job = this.foundFor(call, person, 'owner');
    if (!mayBeReviewed(job)) throw invalidTransition(job.state);
    const said = shapes.normal(call.body);
    job.rating = said.rating as number;
    job.review = textOf(said.review) ?? job.review;
    this.recordOf(job.awarded!.by).ratings.push(job.rating);
    job.version += 1;
    this.log(job, { type: 'job.reviewed', bidder: null, from: job.state, to: job.state, texts: said });
    return { is: 'job', job };
  }

  /** Releases every hold on the job, and rejects every live bid. */
  private end(job: Job): void {
    this.rejectLive(job);
    for (const bid of job.bids) this.release(bid);
  }

  private release(bid: Bid): void {
    if (bid.hold !== 'active') return;
    bid.hold = 'released';
    this.payDebt(bid.by, 'a released stake');
  }

  private rejectLive(job: Job): void {
    for (const bid of job.bids.filter(({ state }) => LIVE.includes(state))) {
      bid.state = 'rejected';
      this.release(bid);
      this.log(job, ofBid('bid.rejected', bid));
    }
  }

  /** Takes the award from its contractor. The bids that it rejected are as they were before, without their holds. */
  private endAward(job: Job, to: 'withdrawn' | 'rejected'): void {
    const bid = job.awarded!;
    bid.state = to;
    this.release(bid);
    job.awarded = null;
    this.log(job, ofBid(`bid.${to}`, bid));
    for (const [other, state] of job.passedOver) {
      other.state = state;
      this.log(job, ofBid('bid.restored', other));
    }
  }

  private submitBid(call: Call): Answer {
    const person = this.admit(call, ['contractor'], shapes.BID);
    const job = this.found(call, person);
    if (!statesAllowing('submitBid').includes(job.state)) throw invalidTransition(job.state);
    if (this.suspended.has(job.owner)) throw new Refused({ code: 'FORBIDDEN' });
    if (job.bids.some(({ by, state }) => by === person && state !== 'withdrawn'))
      throw new Refused({ code: 'DUPLICATE_BID' });
    if (hasBidTooOften(person, job)) throw invalidTransition(job.state);
    const { guaranteedView, ...said } = shapes.normal(call.body);
    const guaranteed = guaranteedView === true;
    this.need(person, guaranteed ? STAKE : 0);
    const fields = { ...Object.fromEntries(shapes.BID_FIELDS.map((field) => [field, null])), ...said };
    const bid: Bid = {
      id: '',
      job,
      by: person,
      state: 'pending',
      fields,
      version: 1,
      revisions: [],
      editsSeen: job.publicEdits,
      guaranteed,
      holdId: null,
      hold: guaranteed ? 'active' : undefined,
      countdown: { from: this.running(job), reminded: null },
      createdAt: '',
    };
    job.bids.push(bid);
    this.log(job, ofBid('bid.submitted', bid));
    return { is: 'bid', bid, created: true };
  }

  private moveBid(call: Call, op: BidMove): Answer {
    const row = BID_MOVES[op];
    const person = this.admit(call, [row.by], shapes.NOTHING);
    const bid = this.foundBid(call);
    if (person !== (row.by === 'homeowner' ? bid.job.owner : bid.by)) throw new Refused({ code: 'FORBIDDEN' });
    if (!row.from.includes(bid.state)) throw invalidTransition(bid.state);
    bid.state = row.to;
    if (!LIVE.includes(bid.state)) this.release(bid);
    this.log(bid.job, ofBid(row.event, bid));
    return { is: 'bid', bid };
  }

  private foundBid(call: Call): Bid {
    const bid = this.jobs.flatMap(({ bids }) => bids).find(({ id }) => id === call.bid);
    // Only in REST is a bid's job part of its address.
    const isElsewhere = call.api === 'rest' && call.op !== 'listRevisions' && bid?.job.id !== call.job;
    if (!bid || isElsewhere) throw new Refused({ code: 'NOT_FOUND' });
    return bid;
  }

  private reviseBid(call: Call): Answer {
    const shape = call.api === 'rest' ? shapes.REVISION_WITH_READ_ONLY : shapes.REVISION;
    const person = this.admit(call, ['contractor'], shape);
    const bid = this.foundBid(call);
    if (person !== bid.by) throw new Refused({ code: 'FORBIDDEN' });
    if (call.version !== undefined && call.version !== bid.version)
      throw new Refused({ code: 'STALE_VERSION', details: { version: bid.version } });
    if (!LIVE.includes(bid.state) || bid.revisions.length >= REVISIONS_MAX) throw invalidTransition(bid.state);
    const { readOnly, patch } = shapes.partsOfRevision(call.body);
    const current: Fields = {
      contractorId: bid.by.profileId,
      status: bid.state,
      guaranteedView: bid.guaranteed,
      holdId: bid.holdId,
      suspended: false,
      createdAt: bid.createdAt,
      submittedAt: bid.createdAt,
    };
    const forged = Object.keys(readOnly)
      .filter((name) => name in current && readOnly[name] !== current[name])
      .sort();
    if (forged.length > 0) throw new Refused({ code: 'VALIDATION_FAILED', fields: forged });
    if (patch.amount === null) throw new Refused({ code: 'VALIDATION_FAILED', fields: ['amount'] });
    if (Object.keys(patch).every((field) => patch[field] === bid.fields[field])) return { is: 'bid', bid };
    bid.revisions.push({ version: bid.version, fields: bid.fields });
    bid.fields = { ...bid.fields, ...patch };
    bid.version += 1;
    bid.editsSeen = bid.job.publicEdits;
    this.log(bid.job, ofBid('bid.revised', bid));
    return { is: 'bid', bid };
  }

  private listRevisions(call: Call): Answer {
    const person = this.admit(call, ANYONE, shapes.PAGE);
    const bid = this.foundBid(call);
    if (person.role !== 'admin' && person !== bid.by && person !== bid.job.owner)
      throw new Refused({ code: 'FORBIDDEN' });
    return { is: 'revisions', page: paged(bid.revisions.toReversed(), call.body.page, call.body.perPage, 20) };
  }

  private adjust(call: Call): Answer {
    this.admit(call, ['admin'], shapes.ADJUSTMENT);
    const { userId, amount } = call.body as { userId: string; amount: number };
    const to = this.people.find((person) => person.userId === userId);
    if (!to) throw new Refused({ code: 'VALIDATION_FAILED', fields: ['userId'] });
    let bought = 0;
    if (amount < 0) ({ bought } = this.pay(to, -amount, { suggestsPack: false }));
    else {
      this.walletOf(to).grant(amount);
      this.payDebt(to, 'a grant');
    }
    this.record('adjustTokens', to, shapes.normal(call.body).reason);
    return { is: 'transfer', to, amount, bought };
  }

  private buy(call: Call): Answer {
    const by = this.admit(call, ['homeowner', 'contractor'], shapes.PURCHASE);
    const said = shapes.normal(call.body);
    if (this.openPurchasesOf(by).length >= OPEN_PURCHASES_MAX) {
      this.tokenSteps.push('the sixth open purchase is refused');
      throw new Refused({ code: 'RATE_LIMITED' });
    }
    const pack = PACKS.find(({ id }) => id === said.pack);
    if (!pack) throw new Refused({ code: 'VALIDATION_FAILED', fields: ['pack'] });
    if (!mayReturnTo(String(said.returnUrl))) throw new Refused({ code: 'VALIDATION_FAILED', fields: ['returnUrl'] });
    const nothing = { refundedTokens: 0, refundedAmount: 0, left: 0 };
    const purchase: Purchase = { id: '', createdAt: '', by, pack, state: 'pending', ...nothing };
    this.purchases.push(purchase);
    return { is: 'purchase', purchase, created: true };
  }

  private foundPurchase(call: Call): Purchase {
    const purchase = this.purchases.find(({ id }) => id === call.purchase);
    if (!purchase) throw new Refused({ code: 'NOT_FOUND' });
    return purchase;
  }

  private readPurchase(call: Call): Answer {
    const person = this.admit(call, ANYONE, shapes.NOTHING);
    const purchase = this.foundPurchase(call);
    if (person !== purchase.by && person.role !== 'admin') throw new Refused({ code: 'FORBIDDEN' });
    return { is: 'purchase', purchase };
  }

  private refundPurchase(call: Call): Answer {
    this.admit(call, ['admin'], shapes.PURCHASE_REFUND);
    const purchase = this.foundPurchase(call);
    if (purchase.state !== 'paid') throw invalidTransition(purchase.state);
    const { by, pack, refundedTokens, refundedAmount, left } = purchase;
    const available = this.refundable(purchase);
    const said = shapes.normal(call.body);
    const tokens = (said.tokens as number | undefined) ?? available;
    if (tokens === 0 || tokens > available)
      throw new Refused({ code: 'INSUFFICIENT_TOKENS', details: { required: Math.max(1, tokens), available } });
    if (refundedAmountOf(pack, refundedTokens + tokens) === refundedAmount)
      throw new Refused({ code: 'VALIDATION_FAILED', fields: ['tokens'] });
    if (left < pack.tokens - refundedTokens) this.tokenSteps.push('a purchase is refunded, some of which was spent');
    this.walletOf(by).takeBack(purchase, tokens);
    const isOver = purchase.refundedTokens === pack.tokens;
    this.tokenSteps.push(isOver ? 'a purchase is refunded' : 'a part of a purchase is refunded');
    this.accountsToCheck.add(by);
    this.record('refundPurchase', by, said.reason);
    return { is: 'purchase', purchase };
  }

  /** An event that doesn't fit the purchase changes nothing. */
  private settle(call: Call, report: Report): Answer {
    const purchase = this.foundPurchase(call);
    const { by, state } = purchase;
    const wallet = this.walletOf(by);
    this.accountsToCheck.add(by);
    if (report === 'payPurchase' && (state === 'pending' || state === 'expired')) {
      this.tokenSteps.push(state === 'pending' ? 'a payment arrives' : 'a payment arrives after the expiry');
      purchase.state = 'paid';
      wallet.credit(purchase);
      this.payDebt(by, 'a purchase');
    }
    if (report === 'expirePurchase') {
      this.tokenSteps.push(state === 'pending' ? 'a checkout expires' : 'an expiry comes too late');
      if (state === 'pending') purchase.state = 'expired';
    }
    if (report === 'chargeBack' && (state === 'paid' || state === 'refunded')) {
      const { granted, stranded } = wallet.chargeBack(purchase, this.tokensOf(by).available);
      this.tokenSteps.push('a chargeback is lost');
      if (granted > 0) this.tokenSteps.push('a chargeback takes granted tokens');
      if (stranded > 0) this.tokenSteps.push('a chargeback leaves staked tokens');
      if (wallet.debt > 0) this.tokenSteps.push('a chargeback leaves a debt');
    }
    return { is: 'settled', purchase };
  }

  private refundPublication({ owner, mostPaid, boughtPaid }: Job, by: 'the owner' | 'the clock'): void {
    const refunded: TokenSplit = { granted: mostPaid - boughtPaid, bought: boughtPaid };
    this.walletOf(owner).restore(refunded);
    if (refunded.bought > 0) this.tokenSteps.push(`${by} gives back bought tokens`);
    if (refunded.bought > 0 && refunded.granted > 0) this.tokenSteps.push('both parts are given back');
    this.accountsToCheck.add(owner);
    this.payDebt(owner, 'a refund of a publication');
  }

  private payDebt(person: Person, from: string): void {
    if (this.walletOf(person).payDebt(this.tokensOf(person).available) === 0) return;
    this.tokenSteps.push(`${from} pays a debt`);
    this.accountsToCheck.add(person);
  }

  private suspend(call: Call): Answer {
    const admin = this.admit(call, ['admin'], shapes.SUSPENSION);
    const person = this.personOf(call);
    if (person === admin) throw new Refused({ code: 'FORBIDDEN' });
    if (!this.suspended.has(person)) this.record('suspendUser', person, shapes.normal(call.body).reason);
    this.suspended.add(person);
    return { is: 'user', person, isSuspended: true };
  }

  private restore(call: Call): Answer {
    this.admit(call, ['admin'], shapes.NOTHING);
    const person = this.personOf(call);
    if (this.suspended.delete(person)) this.record('restoreUser', person);
    return { is: 'user', person, isSuspended: false };
  }

  private personOf({ user }: Call): Person {
    const person = this.people.find(({ userId }) => userId === user);
    if (!person) throw new Refused({ code: 'NOT_FOUND' });
    return person;
  }

  private record(action: Op, to: Person, reason?: unknown, job?: Job): void {
    this.acts.push({ action, userId: to.userId, jobId: job?.id ?? null, reason: textOf(reason) });
  }

  private list(call: Call): Answer {
    // Only an admin may filter by owner, whatever other filters are set.
    if (
      call.by !== null &&
      !this.suspended.has(call.by) &&
      call.by.role !== 'admin' &&
      call.body.homeownerId != null &&
      shapes.flawsIn(shapes.JOB_LIST, call.body).length === 0
    )
      throw new Refused({ code: 'FORBIDDEN' });
    const person = this.admit(call, ANYONE, shapes.JOB_LIST);
    const { search, status, category, categories, urgency, budgetMin, budgetMax, homeownerId, page, perPage } =
      call.body;
    const overlaps = ({ fields }: Job) =>
      (fields.budgetMin != null || fields.budgetMax != null) &&
      Number(fields.budgetMin ?? 0) <= Number(budgetMax ?? Infinity) &&
      Number(fields.budgetMax ?? Infinity) >= Number(budgetMin ?? 0);
    const contains = (text: unknown) => String(text).toLowerCase().includes(String(search).trim().toLowerCase());
    const rows = this.listedJobs(person).filter(
      (job) =>
        (search == null || contains(job.fields.title) || contains(job.fields.description)) &&
        (status == null || job.state === status) &&
        (category == null || job.fields.category === category) &&
        (!Array.isArray(categories) || categories.includes(job.fields.category)) &&
        ((budgetMin == null && budgetMax == null) || overlaps(job)) &&
        (urgency == null || job.fields.urgency === urgency) &&
        (homeownerId == null || job.owner.profileId === homeownerId),
    );
    return { is: 'jobs', page: paged(rows, page, perPage, 20) };
  }

  private listBids(call: Call): Answer {
    const { person, job } = this.within(call, shapes.BID_LIST);
    const { status, page, perPage } = call.body;
    const rows = this.visibleBids(person, job).filter(({ state }) => status == null || state === status);
    return { is: 'bids', page: paged(rows, page, perPage, call.api === 'rest' ? 100 : 20) };
  }

  private listOwnBids(call: Call): Answer {
    const person = this.admit(call, ['contractor'], shapes.BID_LIST);
    const { status, page, perPage } = call.body;
    return {
      is: 'bids',
      page: paged(
        this.ownBids(person).filter(({ state }) => status == null || state === status),
        page,
        perPage,
        20,
      ),
    };
  }

  private listEvents(call: Call): Answer {
    const { person, job } = this.within(call, shapes.PAGE);
    return { is: 'events', page: paged(this.eventsFor(person, job), call.body.page, call.body.perPage, 20) };
  }

  private readDispute(call: Call): Answer {
    const person = this.admit(call, ANYONE, shapes.NOTHING);
    const job = this.found(call, person);
    const dispute = this.disputeFor(person, job);
    if (call.api === 'graphql') return { is: 'dispute', dispute };
    if (!this.readsAll(person, job)) throw new Refused({ code: 'FORBIDDEN' });
    if (!dispute) throw new Refused({ code: 'NOT_FOUND' });
    return { is: 'dispute', dispute };
  }

  private readContractor(call: Call): Answer {
    this.admit(call, ANYONE, shapes.NOTHING);
    const contractor = this.people.find(({ role, profileId }) => role === 'contractor' && profileId === call.job);
    if (!contractor) throw new Refused({ code: 'NOT_FOUND' });
    return { is: 'contractor', contractor, record: this.recordOf(contractor) };
  }

  private mayBeAwarded({ state, by }: Bid): boolean {
    return LIVE.includes(state) && !this.suspended.has(by);
  }

  private missing(job: Job): string[] {
    return NEEDED.filter((field) => job.fields[field] === null);
  }

  private need(person: Person, tokens: number, { suggestsPack = true } = {}): void {
    const { available, debt } = this.tokensOf(person);
    if (tokens <= available) return;
    // New tokens first pay the debt.
    const pack = suggestsPack ? { pack: packFor(tokens - available + debt) } : {};
    throw new Refused({ code: 'INSUFFICIENT_TOKENS', details: { required: tokens, available, ...pack } });
  }

  private pay(person: Person, tokens: number, suggestion?: { suggestsPack: boolean }): TokenSplit {
    this.need(person, tokens, suggestion);
    const spent = this.walletOf(person).spend(tokens);
    if (spent.bought > 0) this.accountsToCheck.add(person);
    if (spent.bought > 0 && spent.granted > 0) this.tokenSteps.push('granted and bought tokens are spent at once');
    if (spent.purchases > 1) this.tokenSteps.push('tokens of two purchases are spent at once');
    return spent;
  }
}

const ANYONE: readonly Role[] = ['homeowner', 'contractor', 'admin'];

export function ratingAverage(ratings: readonly number[]): number | null {
  if (ratings.length === 0) return null;
  return Math.round((ratings.reduce((sum, rating) => sum + rating, 0) / ratings.length) * 100) / 100;
}

export function collapsed(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(' ');
}

/** Buyers return to the origin of the app only. */
export const APP_ORIGIN = 'http://localhost:5173';
function mayReturnTo(url: string): boolean {
  return URL.canParse(url) && new URL(url).origin === APP_ORIGIN;
}

function checkCompletion(job: Job, after: Fields, changed: readonly string[]): void {
  if (!changed.includes('desiredCompletionDate') || job.completionBase === null) return;
  const sent = after.desiredCompletionDate;
  const days =
    sent === null ? Infinity : Math.abs(Date.parse(String(sent)) - Date.parse(job.completionBase)) / 86_400_000;
  if (days > 30) throw new Refused({ code: 'COMPLETION_DATE_SHIFT_TOO_LARGE', fields: ['desiredCompletionDate'] });
}

function contradictionsIn(fields: Fields): string[] {
  const said: string[] = [];
  const { budgetMin, budgetMax, desiredStartDate, desiredCompletionDate } = fields;
  if (budgetMin !== null && budgetMax !== null && Number(budgetMin) > Number(budgetMax))
    said.push('budgetMax', 'budgetMin');
  if (
    desiredStartDate !== null &&
    desiredCompletionDate !== null &&
    String(desiredStartDate) > String(desiredCompletionDate)
  ) {
    said.push('desiredCompletionDate', 'desiredStartDate');
  }
  return said;
}

/** Leaves out the 30-day limit, because no history lasts that long. The time of deadlines doesn't count. */
export function mayBeReviewed({ rating, happenings }: Job): boolean {
  return rating === null && happenings.some(isApproval);
}

/** Work also counts as approved if its owner doesn't respond in time. */
function isApproval({ type }: Happening): boolean {
  return type === 'job.approved' || type === 'job.auto_approved';
}

function hasBidTooOften(person: Person, { bids }: Job): boolean {
  return bids.filter(({ by }) => by === person).length >= BIDS_ON_ONE_JOB_MAX;
}

function wasExtended({ state, happenings }: Job): boolean {
  return happenings.some(({ type, from }) => type === 'job.deadline_extended' && from === state);
}

/** The bids whose stakes the clock watches, oldest first. */
function stakesOf({ state, bids }: Job): Bid[] {
  return isIn('bidding', state) ? bids.filter((bid) => bid.state === 'pending' && bid.hold === 'active') : [];
}

function isCredited({ happenings }: Job): boolean {
  return happenings.some(
    (one) => isApproval(one) || (one.type === 'job.completed' && one.texts.creditContractor === true),
  );
}

function ofBid(type: string, { by }: Bid): Omit<Happening, 'at' | 'by'> {
  return { type, bidder: by, from: null, to: null, texts: {} };
}

/** True if the owner has changed what contractors read since this offer was made. */
export function isOutdated({ job, editsSeen }: Bid): boolean {
  return job.publicEdits > editsSeen;
}

function invalidTransition(fromState: string): Refused {
  return new Refused({ code: 'INVALID_TRANSITION', details: { fromState } });
}

function paged<Row>(rows: readonly Row[], page: unknown, perPage: unknown, usual: number): Page<Row> {
  const number = typeof page === 'number' ? page : 1;
  const size = typeof perPage === 'number' ? perPage : usual;
  return { rows: rows.slice((number - 1) * size, number * size), total: rows.length, page: number, perPage: size };
}

function newestFirst(a: { createdAt: string; id: string }, b: { createdAt: string; id: string }): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}

function cents(amount: unknown): number | null {
  return typeof amount === 'number' ? Math.round(amount * 100) : null;
}

function larger(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
