/** What a job needs before contractors can see it, what publishing costs, and when the cost is refunded. */
import { isIn, type JobState } from '../states.js';

/** The urgencies, from the least urgent to the most urgent. */
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

/** The fields are in documentation order. Blank text counts as missing. */
export function missingToPublish(job: ToPublish): RequiredToPublish[] {
  return REQUIRED_TO_PUBLISH.filter((field) => isBlank(job[field]));
}

export function publishCost(urgency: Urgency | null): number {
  return urgency === null ? 0 : PUBLISH_COST[urgency];
}

/** Negative if `a` is less urgent than `b`. */
export function compareUrgency(a: Urgency, b: Urgency): number {
  return URGENCIES.indexOf(a) - URGENCIES.indexOf(b);
}

/**
 * Charges only the tokens that exceed the most ever paid for this job. Lowering the urgency refunds nothing, so raising
 * it again must not charge the same tokens twice.
 */
export function costOfUrgency(urgency: Urgency, mostTokensPaid: number): number {
  return Math.max(0, publishCost(urgency) - mostTokensPaid);
}

/** The refund includes the tokens paid to raise the urgency. Nothing is refunded if anybody ever bid on the job. */
export function refundOnCancel(job: { status: JobState; everHadBid: boolean; mostTokensPaid: number }): number {
  return isIn('bidding', job.status) && !job.everHadBid ? job.mostTokensPaid : 0;
}

export function isBlank(text: string | null): boolean {
  return text === null || text.trim() === '';
}
