/**
 * The people and objects of a seeded market, computed instead of read. `src/market/store/seed/seed.ts` has the same
 * formulas in SQL.
 */
import type { Market } from '../../../src/market/store/seed/seed.js';

/** The identifier of the n-th object of its kind, as the database creates it. */
export function seededId(prefix: string, n: number): string {
  return `${prefix}_1${String(n).padStart(26, '0')}`;
}

/** Bids and holds are numbered by job. */
export const bidNumber = (job: number, at: number) => job * 16 + at;

/** People's numbers: odd for homeowners, even for contractors. */
export const personOfHomeowner = (n: number) => 2 * n + 1;
export const personOfContractor = (n: number) => 2 * n + 2;

/** The homeowner, counted from 0, who posted the job. */
export const ownerOf = (job: number, { homeowners }: Market) => job % homeowners;
/** The contractor, counted from 0, who made the job's bid at this position. */
export const bidderOf = (job: number, at: number, { contractors }: Market) => (job * 31 + at * 37) % contractors;

export const emailOf = (person: number) => `person${person}@example.test`;
