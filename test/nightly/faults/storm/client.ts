/**
 * A client chooses from its own random stream and sends one request after another. It repeats a request with the same
 * key until it gets a definite response. It knows everything about its own jobs, because nobody else touches them. At
 * the shared jobs, it races the others.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { JOB_TRANSITIONS, type JobTransitionKey } from '../../../../src/market/rules/lifecycle.js';
import { LIVE_BID_STATES, type BidState, type JobState } from '../../../../src/market/rules/states.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { APIS } from '../../../story/calls.js';
import { laterDeadline } from '../../../story/journey.js';
import { EXTENDED_BY, isIn, JOB_TRANSITION_KEYS, statesAllowing, TEXTS } from '../../../story/specified.js';
import type { Board } from './board.js';
import type { Chance } from './chance.js';
import {
  isRead,
  settles,
  succeeded,
  type Attempt,
  type Entry,
  type Expectation,
  type Fields,
  type Member,
  type Request,
} from './history.js';
import type { Wire } from './wire.js';

export interface Lane {
  readonly owner: Member;
  readonly contractors: readonly [Member, Member];
}

export interface ClientOptions {
  readonly number: number;
  readonly lane: Lane;
  readonly admin: Member;
  readonly board: Board;
  readonly wire: Wire;
  readonly instances: number;
  readonly dice: Chance;
  /** The owner's available tokens at the start. */
  readonly available: number;
  readonly history: Entry[];
  onAttempt(attempt: Attempt, entry: Entry): void;
  /** True if the run was given up, so nobody should wait for responses anymore. */
  isGivenUp?(): boolean;
}

export interface Client {
  /** One operation, from the choice to the definite response. */
  step(): Promise<void>;
}

interface OwnBid {
  readonly id: string;
  readonly by: Member;
  amount: number;
  version: number;
  status: BidState;
}

interface OwnJob {
  readonly id: string;
  status: JobState | 'gone';
  version: number;
  urgency: keyof typeof PRICES;
  paid: number;
  awarded: OwnBid | undefined;
  proposal: { by: Member; text: string; id?: string } | undefined;
  /** True if it was approved without a rating. */
  isUnrated: boolean;
  bids: OwnBid[];
  /** The bids that the award rejected, with their statuses before it. */
  passedOver: ReadonlyMap<OwnBid, BidState>;
  reopenings: number;
  changeRequests: number;
  /** The statuses whose deadline was extended, which works only once in each. */
  readonly extendedIn: Set<JobState>;
}

/** Typed in from the interface, like every number here that responses are compared with. */
const PRICES = { standard: 5, priority: 15, urgent: 30 } as const;
const JOBS_AT_ONCE = 5;
const PAUSE_MS = 25;
const PAUSE_MAX_MS = 200;

/** The next call, its expected outcome, and what the client learns from a success. */
interface Move {
  readonly request: Request;
  readonly expects: Expectation;
  readonly shows?: Fields;
  readonly charge?: number;
  learn?(data: Fields): void;
}

/** The field of each transition that contains the tag. Fields that both parties must agree on can't contain it. */
export const TAGGED: { readonly [Key in JobTransitionKey]?: string } = {
  ...Object.fromEntries(
    JOB_TRANSITION_KEYS.map((key) => {
      const { required = [], optional = [] } = TEXTS[key];
      return [key, required.at(-1) ?? optional.at(-1)];
    }).filter(([, text]) => text !== undefined),
  ),
  resolveDispute: 'agreedBy',
};

export function openClient({
  number,
  lane,
  admin,
  board,
  wire,
  instances,
  dice,
  available,
  history,
  onAttempt,
  isGivenUp = () => false,
}: ClientOptions): Client {
  const jobs: OwnJob[] = [];
  const over: OwnJob[] = [];
  let count = 0;
  let kept = 0;
  let balance = available;
  let tag = '';

  const words = (text: string) => `${text} [${tag}]`;
  const draft = () => ({
    title: words('Repair'),
    description: 'It drips day and night.',
    category: 'plumbing',
    urgency: dice.of(['standard', 'standard', 'priority', 'urgent'] as const),
    addressLine1: '1 Main',
    city: 'Austin',
    state: 'TX',
    budgetMin: 100,
  });

  function choose(): Move {
    const roll = dice.next();
    if (roll < 0.12) return reading();
    if (roll < 0.24) return racing();
    if (roll < 0.27) return adjusting();
    if (roll < 0.31) return trespassing() ?? creating();
    const unrated = over.find(({ isUnrated }) => isUnrated);
    if (roll < 0.34 && unrated) return reviewing(unrated);
    if (jobs.length < JOBS_AT_ONCE && dice.happens(0.4)) return creating();
    return jobs.length > 0 ? advancing(dice.of(jobs)) : creating();
  }

  function creating(): Move {
    const body = draft();
    return {
      request: { op: 'create', by: lane.owner, body },
      expects: 'success',
      shows: { status: 'draft', version: 1 },
      learn: ({ id }) => {
        kept += 1;
        jobs.push({
          id,
          status: 'draft',
          version: 1,
          urgency: body.urgency,
          paid: 0,
          awarded: undefined,
          proposal: undefined,
          isUnrated: false,
          bids: [],
          passedOver: new Map(),
          reopenings: 0,
          changeRequests: 0,
          extendedIn: new Set(),
        });
      },
    };
  }

  function adjusting(): Move {
    const amount = dice.of([-2, -1, 1, 2, 3, 40]);
    const to = dice.of([lane.owner, ...lane.contractors]);
    return {
      request: { op: 'adjustTokens', by: admin, body: { userId: to.userId, amount, reason: words('storm') } },
      expects: 'success',
      shows: { amount: Math.abs(amount) },
      learn: () => {
        if (to === lane.owner) balance += amount;
      },
    };
  }

  function reading(): Move {
    const job = jobs[dice.below(jobs.length + 1)];
    if (!job)
      return {
        request: { op: 'readTokens', by: lane.owner },
        expects: 'success',
        shows: { balance, held: 0, available: balance },
      };
    return dice.of<() => Move>([
      () => ({
        request: { op: 'readJob', by: lane.owner, job: job.id },
        expects: 'success',
        shows: { status: job.status, version: job.version },
      }),
      () => ({ request: { op: 'countJobs', by: lane.owner }, expects: 'success', shows: { total: kept } }),
      () => ({
        request: { op: 'countBids', by: lane.owner, job: job.id },
        expects: 'success',
        shows: { total: job.bids.length },
      }),
    ])();
  }

  /** A transition of one of its own jobs that must succeed. */
  function moving(
    job: OwnJob,
    key: JobTransitionKey,
    by: Member,
    body: Fields = {},
    further: { shows?: Fields; learn?: () => void } = {},
  ): Move {
    const { to } = JOB_TRANSITIONS[key];
    const tagged: Fields = key in TAGGED ? { [TAGGED[key]!]: words('storm') } : {};
    const sends = { ...body, ...tagged };
    return {
      request: { op: key, by, job: job.id, ...(Object.keys(sends).length > 0 && { body: sends }) },
      expects: 'success',
      shows: { status: to, version: job.version + 1, ...further.shows },
      learn: () => {
        job.status = to;
        job.version += 1;
        further.learn?.();
        if (to === 'completed' || to === 'cancelled') end(job);
      },
    };
  }

  function end(job: OwnJob): void {
    for (const bid of job.bids) if (isLive(bid)) bid.status = 'rejected';
    retire(job);
  }

  function retire(job: OwnJob): void {
    jobs.splice(jobs.indexOf(job), 1);
    over.push(job);
    if (over.length > 20) over.shift();
  }

  const isLive = ({ status }: OwnBid) => LIVE_BID_STATES.some((live) => live === status);

  function advancing(job: OwnJob): Move {
    if (dice.happens(0.02)) return moving(job, 'complete', admin);
    if (
      dice.happens(0.1) &&
      (job.status === 'draft' || job.status === 'open' || job.status === 'awarded' || isUnchanged(job))
    )
      return editing(job);
    if (dice.happens(0.03) && (job.status === 'open' || job.status === 'awarded' || isUnchanged(job)))
      return cancelling(job);
    if (job.status !== 'gone' && job.status in EXTENDED_BY && !job.extendedIn.has(job.status) && dice.happens(0.1))
      return extending(job, job.status);
    const awardee = job.awarded?.by ?? lane.contractors[0];
    switch (job.status) {
      case 'draft':
        return dice.happens(0.08) ? deleting(job) : publishing(job);
      case 'open':
        return bidding(job);
      case 'awarded':
        if (dice.happens(0.12)) return losing(job, 'declineAward', awardee);
        if (job.reopenings < 2 && dice.happens(0.15)) return losing(job, 'reopen', lane.owner);
        return moving(job, 'checkIn', awardee);
      case 'in_progress':
        if (job.changeRequests > 0 && dice.happens(0.2)) return moving(job, 'dispute', lane.owner);
        return moving(job, 'submitForReview', awardee);
      case 'in_review':
        if (job.changeRequests < 3 && dice.happens(0.25)) return requestingChanges(job);
        return dice.happens(0.6) ? approving(job) : moving(job, 'dispute', lane.owner);
      case 'disputed':
        return dice.happens(0.5) ? moving(job, 'escalate', dice.of([lane.owner, awardee])) : resolving(job, awardee);
      case 'escalated':
        return moving(job, 'reachDecision', admin, { decision: 'For the homeowner' });
      case 'decision_reached':
        return moving(job, dice.happens(0.3) ? 'acceptDecision' : 'fileAppeal', awardee);
      case 'appealed':
        return moving(job, 'finalizeAppeal', admin, { finalDecision: 'The decision stands' });
      default:
        throw new Error(`Nothing can be done with a job that is ${job.status}.`);
    }
  }

  /** Once changes were requested, the job can't be cancelled, and its requirements can't change. */
  const isUnchanged = ({ status, changeRequests }: OwnJob) => status === 'in_progress' && changeRequests === 0;

  /** The version stays. */
  function extending(job: OwnJob, state: JobState): Move {
    return {
      request: {
        op: 'extendDeadline',
        by: EXTENDED_BY[state] === 'admin' ? admin : lane.owner,
        job: job.id,
        body: { until: laterDeadline({ state }), reason: words('storm') },
      },
      expects: 'success',
      shows: { status: state, version: job.version },
      learn: () => void job.extendedIn.add(state),
    };
  }

  function losing(job: OwnJob, key: 'declineAward' | 'reopen', by: Member): Move {
    const learn = () => {
      if (job.awarded) job.awarded.status = key === 'reopen' ? 'rejected' : 'withdrawn';
      job.awarded = undefined;
      job.reopenings += Number(key === 'reopen');
      for (const [bid, status] of job.passedOver) bid.status = status;
    };
    return moving(job, key, by, {}, { learn });
  }

  function requestingChanges(job: OwnJob): Move {
    const items = dice.happens(0.5) ? { items: ['The joint', 'The old faucet'] } : {};
    return moving(job, 'requestChanges', lane.owner, items, { learn: () => void (job.changeRequests += 1) });
  }

  function approving(job: OwnJob): Move {
    if (dice.happens(0.5)) return moving(job, 'approve', lane.owner, { rating: 1 + dice.below(5) });
    return moving(job, 'approve', lane.owner, {}, { learn: () => void (job.isUnrated = true) });
  }

  function reviewing(job: OwnJob): Move {
    return {
      request: { op: 'review', by: lane.owner, job: job.id, body: { rating: 1 + dice.below(5) } },
      expects: 'success',
      shows: { status: 'completed', version: job.version + 1 },
      learn: () => {
        job.version += 1;
        job.isUnrated = false;
      },
    };
  }

  function publishing(job: OwnJob): Move {
    const cost = PRICES[job.urgency];
    return moving(
      job,
      'publish',
      lane.owner,
      {},
      {
        shows: { tokensCharged: cost, remainingBalance: balance - cost },
        learn: () => {
          job.paid = cost;
          balance -= cost;
        },
      },
    );
  }

  function deleting(job: OwnJob): Move {
    return {
      request: { op: 'delete', by: lane.owner, job: job.id },
      expects: 'success',
      shows: { gone: true },
      learn: () => {
        job.status = 'gone';
        kept -= 1;
        retire(job);
      },
    };
  }

  function cancelling(job: OwnJob): Move {
    const refund = job.status !== 'gone' && isIn('bidding', job.status) && job.bids.length === 0 ? job.paid : 0;
    return moving(job, 'cancel', lane.owner, {}, { learn: () => void (balance += refund) });
  }

  function editing(job: OwnJob): Move {
    const raised =
      job.status === 'open' && job.urgency !== 'urgent' && dice.happens(0.3) ? ('urgent' as const) : undefined;
    const charge = raised ? PRICES[raised] - job.paid : 0;
    return {
      request: {
        op: 'update',
        by: lane.owner,
        job: job.id,
        body: { requirements: words('Mind the cat'), ...(raised && { urgency: raised }) },
      },
      expects: 'success',
      shows: { status: job.status, version: job.version + 1 },
      charge,
      learn: () => {
        job.version += 1;
        job.paid += charge;
        balance -= charge;
        if (raised) job.urgency = raised;
      },
    };
  }

  function resolving(job: OwnJob, awardee: Member): Move {
    const { proposal } = job;
    if (!proposal) {
      const by = dice.of([lane.owner, awardee]);
      const text = `Half the price, says ${tag}`;
      return {
        request: { op: 'resolveDispute', by, job: job.id, body: { resolution: text, agreedBy: words('storm') } },
        expects: 'success',
        shows: { status: 'disputed', version: job.version },
        learn: () => void (job.proposal = { by, text }),
      };
    }
    const other = proposal.by === awardee ? lane.owner : awardee;
    if (proposal.id !== undefined) return moving(job, 'acceptResolution', other, { proposalId: proposal.id });
    if (dice.happens(0.5)) return moving(job, 'resolveDispute', other, { resolution: proposal.text });
    return {
      request: { op: 'readProposal', by: other, job: job.id },
      expects: 'success',
      shows: { resolution: proposal.text },
      learn: ({ id }) => void (proposal.id = id),
    };
  }

  function bidding(job: OwnJob): Move {
    const live = job.bids.filter(isLive);
    const free = lane.contractors.filter((one) =>
      job.bids.every((bid) => bid.by !== one || bid.status === 'withdrawn'),
    );
    if (free.length > 0 && job.bids.length < 6 && (live.length === 0 || dice.happens(0.4)))
      return offering(job, dice.of(free));
    if (live.length === 0) return cancelling(job);
    const bid = dice.of(live);
    if (dice.happens(0.45)) {
      return moving(
        job,
        'award',
        lane.owner,
        { bidId: bid.id, expectedBidVersion: bid.version },
        {
          learn: () => {
            const others = live.filter((one) => one !== bid);
            job.passedOver = new Map(others.map((other) => [other, other.status]));
            for (const other of others) other.status = 'rejected';
            bid.status = 'accepted';
            job.awarded = bid;
          },
        },
      );
    }
    if (bid.version < 11 && dice.happens(0.2)) return revising(job, bid);
    if (bid.status === 'pending' && dice.happens(0.4)) return marking(job, bid, 'view', 'viewed');
    if (bid.status !== 'shortlisted' && dice.happens(0.6)) return marking(job, bid, 'shortlist', 'shortlisted');
    return dice.happens(0.5) ? marking(job, bid, 'reject', 'rejected') : marking(job, bid, 'withdraw', 'withdrawn');
  }

  function offering(job: OwnJob, by: Member): Move {
    const amount = 1 + dice.below(10_000);
    const guaranteedView = dice.happens(0.5);
    return {
      request: {
        op: 'submitBid',
        by,
        job: job.id,
        body: { amount, message: words('I can come on Monday'), guaranteedView },
      },
      expects: 'success',
      shows: { status: 'pending', amount },
      learn: ({ id }) => void job.bids.push({ id, by, amount, version: 1, status: 'pending' }),
    };
  }

  function revising(job: OwnJob, bid: OwnBid): Move {
    const amount = 1 + dice.below(10_000);
    return {
      request: { op: 'revise', by: bid.by, job: job.id, bid: bid.id, body: { amount, message: words('Even sooner') } },
      expects: 'success',
      shows: { status: bid.status, amount },
      learn: () => {
        bid.amount = amount;
        bid.version += 1;
      },
    };
  }

  function marking(job: OwnJob, bid: OwnBid, op: 'view' | 'shortlist' | 'reject' | 'withdraw', to: BidState): Move {
    return {
      request: { op, by: op === 'withdraw' ? bid.by : lane.owner, job: job.id, bid: bid.id },
      expects: 'success',
      shows: { status: to, amount: bid.amount },
      learn: () => void (bid.status = to),
    };
  }

  function mayStart(key: JobTransitionKey, { status, changeRequests }: OwnJob): boolean {
    return statesAllowing(key, changeRequests > 0 ? 'after changes' : 'before changes').some((one) => one === status);
  }

  /** A call that the state of one of its jobs forbids. It must fail and change nothing. */
  function trespassing(): Move | undefined {
    const candidates = [...jobs, ...over].filter(({ status }) => status !== 'gone');
    if (candidates.length === 0) return undefined;
    const job = dice.of(candidates);
    const keys = (Object.keys(JOB_TRANSITIONS) as JobTransitionKey[]).filter(
      (key) => key !== 'complete' && !mayStart(key, job),
    );
    const key = dice.of(keys);
    const by = { owner: lane.owner, parties: lane.owner, awardee: job.awarded?.by ?? lane.contractors[0], admin }[
      JOB_TRANSITIONS[key].actor
    ];
    const tagged = key in TAGGED ? { [TAGGED[key]!]: words('storm') } : {};
    const body: Fields = {
      ...FORBIDDEN_BODIES[key],
      ...tagged,
      ...(key === 'award' && { bidId: job.bids[0]?.id ?? NO_BID }),
    };
    return { request: { op: key, by, job: job.id, ...(Object.keys(body).length > 0 && { body }) }, expects: 'refusal' };
  }

  /** A shared job may have changed in any way meanwhile. */
  function racing(): Move {
    const spot = board.any(dice);
    const mine = lane.contractors[dice.below(2)] ?? lane.contractors[0];
    if (!spot || dice.happens(0.05)) {
      const by = board.owner(dice);
      return {
        request: { op: 'create', by, body: draft() },
        expects: 'success',
        shows: { status: 'draft', version: 1 },
        learn: ({ id }) => board.add(id, by),
      };
    }
    const { id: job, owner, bids } = spot;
    const bid = bids.length > 0 ? dice.of(bids) : undefined;
    const either = (request: Request, learn?: Move['learn']): Move => ({
      request,
      expects: 'either',
      ...(learn && { learn }),
    });
    const offer = () =>
      either(
        {
          op: 'submitBid',
          by: mine,
          job,
          body: { amount: 7, message: words('Me'), guaranteedView: dice.happens(0.5) },
        },
        ({ id }) => void bids.push({ id, by: mine }),
      );
    const onBid = (make: (bid: { id: string; by: Member }) => Move) => (bid ? make(bid) : offer());
    return dice.of<() => Move>([
      () => either({ op: 'publish', by: owner, job }),
      () => either({ op: 'publish', by: owner, job }),
      offer,
      offer,
      offer,
      () => onBid((one) => either({ op: 'view', by: owner, job, bid: one.id })),
      () => onBid((one) => either({ op: 'shortlist', by: owner, job, bid: one.id })),
      () => onBid((one) => either({ op: 'reject', by: owner, job, bid: one.id })),
      () => onBid((one) => either({ op: 'withdraw', by: one.by, job, bid: one.id })),
      () => onBid((one) => either({ op: 'award', by: owner, job, body: { bidId: one.id } })),
      () => either({ op: 'update', by: owner, job, body: { requirements: words('Mind the dog') } }),
      () => onBid((one) => either({ op: 'checkIn', by: one.by, job, body: { notes: words('storm') } })),
      () => onBid((one) => either({ op: 'declineAward', by: one.by, job, body: { reason: words('storm') } })),
      () => either({ op: 'extendDeadline', by: owner, job, body: { until: laterDeadline({ state: 'open' }) } }),
      () => (dice.happens(0.5) ? either({ op: 'reopen', by: owner, job, body: { reason: words('storm') } }) : offer()),
      () => (dice.happens(0.3) ? either({ op: 'cancel', by: owner, job, body: { reason: words('storm') } }) : offer()),
      () =>
        dice.happens(0.3) ? either({ op: 'complete', by: admin, job, body: { reason: words('storm') } }) : offer(),
      () => either({ op: 'readJob', by: owner, job }),
    ])();
  }

  async function send(entry: Entry): Promise<void> {
    const { request, attempts } = entry;
    const key = isRead(request.op) ? null : entry.tag;
    // Repeats the same request to any instance, which is the purpose of a key.
    const api = dice.of(APIS);
    const again = () => wire.send(request, key, dice.below(instances), api);
    for (let wait = PAUSE_MS; ; wait = Math.min(wait * 2, PAUSE_MAX_MS)) {
      const attempt = await again();
      attempts.push(attempt);
      onAttempt(attempt, entry);
      if (settles(attempt) || isGivenUp()) break;
      await pause(wait * (0.5 + dice.next() / 2));
    }
    // Now and then, a client repeats a request after its response. It must get the same response.
    if (key !== null && succeeded(entry) && dice.happens(0.04)) {
      const attempt = await again();
      attempts.push(attempt);
      onAttempt(attempt, entry);
    }
  }

  return {
    step: async () => {
      count += 1;
      tag = `c${number}-${count}`;
      const { request, expects, shows = {}, charge = 0, learn } = choose();
      const entry: Entry = { client: number, request, tag, expects, shows, charge, attempts: [] };
      history.push(entry);
      await send(entry);
      const data = entry.attempts.find(settles)?.data;
      if (data) learn?.(data);
      // If the client was wrong about the job, it stops using it. The verdict will report the difference.
      else if (expects === 'success' && request.job !== undefined) forget(request.job);
    },
  };

  function forget(id: string): void {
    const at = jobs.findIndex((job) => job.id === id);
    if (at >= 0) jobs.splice(at, 1);
  }
}

const NO_BID = 'bid_000000000000000000000000000';

const FORBIDDEN_BODIES: Readonly<Partial<Record<JobTransitionKey, Fields>>> = {
  approve: { rating: 5 },
  resolveDispute: { resolution: 'Nothing to resolve' },
  acceptResolution: { proposalId: newId('proposal') },
  reachDecision: { decision: 'None' },
  finalizeAppeal: { finalDecision: 'None' },
};
