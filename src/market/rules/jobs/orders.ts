/** The sort orders of job lists. `market/store/jobs/job-orders.ts` has their SQL. */
export const JOB_ORDERS = [
  'newest',
  'oldest',
  'recently_updated',
  'highest_budget',
  'longest_unchanged',
  'nearest',
] as const;
export type JobOrder = (typeof JOB_ORDERS)[number];
export const DEFAULT_JOB_ORDER = 'newest' satisfies JobOrder;
