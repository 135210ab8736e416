/**
 * The settings of a generated market: its size, its uneven parts, the numbers of its people, and identifiers from
 * numbers.
 */
export interface MarketSize {
  readonly jobs: number;
  /** The approximate number: a job has from one bid to twice the mean, and a draft none. */
  readonly bids: number;
  /** Half of them homeowners, half contractors. */
  readonly people: number;
  /** Adds the uneven parts of a market; see `UNEVEN`. */
  readonly uneven?: boolean;
  /** How many of a hundred jobs are open, spread over all ages; by default the states take turns by `STATES`. */
  readonly openPercent?: number | undefined;
}

export type SeededState = 'draft' | 'open' | 'awarded' | 'in_progress' | 'in_review' | 'completed' | 'cancelled';

/** The states of twenty jobs in a row. */
export const STATES: readonly SeededState[] = [
  'open',
  'completed',
  'open',
  'draft',
  'awarded',
  'open',
  'in_progress',
  'open',
  'completed',
  'open',
  'cancelled',
  'open',
  'awarded',
  'open',
  'draft',
  'in_progress',
  'open',
  'in_review',
  'awarded',
  'in_progress',
];
export const SHARE_WITH_BIDS = STATES.filter((state) => state !== 'draft').length / STATES.length;

/**
 * The parts of which few people have many. Their numbers are the same in a market of any size: a call that takes longer
 * in a larger market then depends on the market's size.
 */
export const UNEVEN = {
  jobsOfBusyHomeowner: 5_000,
  jobsOfModestHomeowner: 8,
  /** A few less: drafts have no bids. */
  bidsOfBusyContractor: 2_222,
  bidsOnCrowdedJob: 1_000,
  jobsInSmallTown: 200,
  jobsWithRareWord: 12,
} as const;

export const SMALL_TOWN = { city: 'Marfa', zipCode: '79843', town: '(-104.0848,30.293)' } as const;
export const LARGE_TOWN = { city: 'Austin', zipCode: '78704', town: '(-97.754,30.302)' } as const;

/** Every job contains `drips`, one in five `sink`; these words are in the titles of an uneven market. */
export const WORDS = {
  everywhere: 'drips',
  common: 'sink',
  middling: 'pergola',
  sparse: 'cupola',
  rare: 'gargoyle',
} as const;
export const MIDDLING_PERCENT = 2;
export const SPARSE_PER_THOUSAND = 3;

/** The market's own figures, for code that computes identifiers instead of reading them. */
export interface Market {
  readonly homeowners: number;
  readonly contractors: number;
  readonly jobs: number;
  readonly uneven: boolean;
}

/** These people and that job are numbered after all others; only an uneven market has them. */
export const busyHomeowner = ({ homeowners, contractors }: Market) => homeowners + contractors + 1;
export const busyContractor = (market: Market) => busyHomeowner(market) + 1;
export const modestHomeowner = (market: Market) => busyHomeowner(market) + 2;
export const crowdedJob = ({ jobs }: Market) => jobs + 1;

/**
 * The identifier of the n-th object of its kind, equal to the one that the database makes: 27 characters with the
 * format of a KSUID.
 */
export function seededId(prefix: string, n: number): string {
  return `${prefix}_1${String(n).padStart(26, '0')}`;
}

/** The same, as SQL, for the statements of one connection. */
export const IDENTIFIER = `create or replace function pg_temp.made(prefix text, n bigint) returns text
  immutable parallel safe language sql
  return prefix || '_1' || lpad(n::text, 26, '0')`;

/** Bids, holds and events are numbered by their job: sixteen places for bids, sixty-four for events. */
export const bidNumber = (job: number, at: number) => job * 16 + at;

/** The numbers of the people: homeowners are odd, contractors even. */
export const personOfHomeowner = (n: number) => 2 * n + 1;
export const personOfContractor = (n: number) => 2 * n + 2;

/** The homeowner, counted from 0, who posted the job. */
export const ownerOf = (job: number, { homeowners }: Market) => job % homeowners;
/** The contractor, counted from 1, who made the job's bid at this place. */
export const bidderOf = (job: number, at: number, { contractors }: Market) => (job * 31 + at * 37) % contractors;

export const emailOf = (person: number) => `person${person}@example.test`;
