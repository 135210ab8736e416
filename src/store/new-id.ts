/** New identifiers: their kind, the time, and chance. */
import { randomFillSync } from 'node:crypto';
import { ID_RANDOM_BYTES, idFrom, type Id, type IdKind } from '../rules/ids.js';

/** Made synchronously: the asynchronous form waits for Node's thread pool, which others may fill. */
export function newId<K extends IdKind>(kind: K): Id<K> {
  return idFrom(kind, Date.now(), randomPart());
}

/** Drawn for many identifiers at once, since most of what a draw costs is the call; none of it is used twice. */
const drawn = Buffer.alloc(ID_RANDOM_BYTES * 256);
let used = drawn.length;

function randomPart(): Buffer {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += ID_RANDOM_BYTES;
  return drawn.subarray(used - ID_RANDOM_BYTES, used);
}
