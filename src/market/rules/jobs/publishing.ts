/** What a job needs before contractors see it, what that costs, and when the price is refunded. */
import { isIn, type JobState } from '../states.js';

/** From the least urgent to the most. */
export const URGENCIES = ['standard', 'priority', 'urgent'] as const;
export type Urgency = (typeof URGENCIES)[number];

export const PUBLISH_COST = { standard: 5, priority: 15, urgent: 30 } as const satisfies Record<Urgency, number>;

export const REQUIRED_TO_PUBLISH = [
  'title',
  'description',
  'category',
  'urgency',
  'addressLine1',
  'city',
  'state',
] as const;
export type RequiredToPublish = (typeof REQUIRED_TO_PUBLISH)[number];

export type ToPublish = { readonly [Field in Exclude<RequiredToPublish, 'urgency'>]: string | null } & {
  readonly urgency: Urgency | null;
};

/** In the order of the specification. Blank text counts as missing. */
export function missingToPublish(job: ToPublish): RequiredToPublish[] {
  return REQUIRED_TO_PUBLISH.filter((field) => isBlank(job[field]));
}

export function publishCost(urgency: Urgency | null): number {
  return urgency === null ? 0 : PUBLISH_COST[urgency];
}

/** Negative if `a` is less urgent. */
export function compareUrgency(a: Urgency, b: Urgency): number {
  return URGENCIES.indexOf(a) - URGENCIES.indexOf(b);
}

/**
 * A raised urgency costs the difference between its publishing cost and the most that was ever paid for this job. So
 * lowering the urgency refunds nothing, and raising it again doesn't charge the same tokens twice.
 */
export function costOfUrgency(urgency: Urgency, mostTokensPaid: number): number {
  return Math.max(0, publishCost(urgency) - mostTokensPaid);
}

/** The tokens paid for publishing, including raises, are refunded only if no contractor ever spent work on a bid. */
export function refundOnCancel(job: { status: JobState; everHadBid: boolean; mostTokensPaid: number }): number {
  return isIn('bidding', job.status) && !job.everHadBid ? job.mostTokensPaid : 0;
}

export function isBlank(text: string | null): boolean {
  return text === null || text.trim() === '';
}
