/**
 * A reader may know a position that the database has lost, restored from a backup: nothing would ever come after it.
 */
import type { Db } from '../../store/database.js';
import { selectLastPosition } from '../../store/positions.js';
import { invalidField } from '../validation.js';

/** Positions are committed before they are read, whichever instance gave them, so that this statement sees them. */
export async function assertReached(db: Db, after: string): Promise<void> {
  const [{ last } = { last: '0' }] = await selectLastPosition(db, {});
  if (BigInt(after) > BigInt(last)) throw invalidField('after', `is beyond the last position, which is ${last}`);
}
