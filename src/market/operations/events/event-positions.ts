/**
 * Refuses a position after the last one. A client may have such a position from before the database was restored from a
 * backup, and would then miss events.
 */
import type { Db } from '../../../platform/db/database.js';
import { selectLastPosition } from '../../store/events/positions.js';
import { invalidField } from '../../../platform/call/validation.js';

/** Every instance commits positions before a client can read them, so this statement sees them. */
export async function assertPositionExists(db: Db, after: string): Promise<void> {
  const [{ last } = { last: '0' }] = await selectLastPosition(db, {});
  if (BigInt(after) > BigInt(last)) throw invalidField('after', `is after the last position, which is ${last}`);
}
