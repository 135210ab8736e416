/** Makes the disputes of jobs from their events. */
import { disputeFrom, type Dispute } from '../../rules/disputes.js';
import type { JobId } from '../../rules/ids.js';
import type { Db } from '../../store/database.js';
import { selectDisputeEvents } from '../../store/events.js';
import { asArray } from '../../store/statement.js';

export async function readDisputes(db: Db, jobIds: readonly JobId[]): Promise<Map<JobId, Dispute | null>> {
  const events = await selectDisputeEvents(db, { jobIds: asArray(jobIds) });
  return new Map(jobIds.map((id) => [id, disputeFrom(events.filter((event) => event.jobId === id))]));
}
