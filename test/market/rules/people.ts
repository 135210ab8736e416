/** The people in the rules' tests, and the job they share. Everything here is in memory. */
import type { JobBeforeEdit } from '../../../src/market/rules/jobs/editing.js';
import type { JobState } from '../../../src/market/rules/states.js';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { isAwarded, isIn } from '../../story/specified.js';

export const hannah = {
  role: 'homeowner',
  userId: 'usr_hannah',
  sessionId: 'ses_hannah',
  homeownerId: 'hmw_hannah',
  contractorId: null,
} satisfies Viewer;
export const hugo = {
  role: 'homeowner',
  userId: 'usr_hugo',
  sessionId: 'ses_hugo',
  homeownerId: 'hmw_hugo',
  contractorId: null,
} satisfies Viewer;
export const carla = {
  role: 'contractor',
  userId: 'usr_carla',
  sessionId: 'ses_carla',
  homeownerId: null,
  contractorId: 'ctr_carla',
} satisfies Viewer;
export const cyrus = {
  role: 'contractor',
  userId: 'usr_cyrus',
  sessionId: 'ses_cyrus',
  homeownerId: null,
  contractorId: 'ctr_cyrus',
} satisfies Viewer;
export const ada = {
  role: 'admin',
  userId: 'usr_ada',
  sessionId: 'ses_ada',
  homeownerId: null,
  contractorId: null,
} satisfies Viewer;

/** Hannah's kitchen job. Every field is set. From the award on, Carla is its contractor. */
export function kitchen<Overrides extends Partial<JobBeforeEdit>>(status: JobState, overrides?: Overrides) {
  const hasAward = isAwarded(status);
  const isPublished = !isIn('unpublished', status);
  return {
    id: 'job_kitchen',
    status,
    homeownerId: hannah.homeownerId,
    awardedBidId: hasAward ? 'bid_carla' : null,
    awardedContractorId: hasAward ? carla.contractorId : null,
    rating: null,
    review: null,
    title: 'New kitchen',
    description: 'Cabinets, worktop and tiles',
    category: 'kitchen',
    urgency: 'priority',
    budgetMin: 1000,
    budgetMax: 2000,
    requirements: 'Licensed',
    addressLine1: '1 Elm Street',
    addressLine2: null,
    city: 'Austin',
    state: 'TX',
    zipCode: '78701',
    country: 'US',
    latitude: 30.27,
    longitude: -97.74,
    desiredStartDate: '2026-03-01',
    desiredCompletionDate: '2026-06-15',
    version: 1,
    createdAt: new Date('2026-01-02T03:04:05.678Z'),
    statusChangedAt: new Date('2026-01-02T03:04:05.678Z'),
    updatedAt: new Date('2026-01-02T03:04:05.678Z'),
    highestBudgetMin: isPublished ? 1000 : null,
    highestBudgetMax: isPublished ? 2000 : null,
    mostTokensPaid: isPublished ? 15 : 0,
    changeRequestCount: 0,
    reopeningCount: 0,
    bidsLimitingEdits: hasAward ? 1 : 0,
    completionDateAtCheckIn: hasAward && status !== 'awarded' ? '2026-06-15' : null,
    ...overrides,
  } as const;
}
