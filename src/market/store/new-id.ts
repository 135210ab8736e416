/** Creates identifiers. Each identifier has its kind's prefix, the time, and random characters. */
import { randomFillSync } from 'node:crypto';
import { ID_RANDOM_BYTES } from '../../platform/ids.js';
import { idFrom, type Id, type IdKind } from '../rules/ids.js';

/**
 * This function is synchronous, because an asynchronous one would wait for Node's thread pool, which other work may
 * fill.
 */
export function newId<K extends IdKind>(kind: K): Id<K> {
  return idFrom(kind, Date.now(), randomPart());
}

/**
 * The pool is filled for many identifiers at once, because most of the cost is the call. Each byte is used only once.
 */
const randomPool = Buffer.alloc(ID_RANDOM_BYTES * 256);
let usedBytes = randomPool.length;

function randomPart(): Buffer {
  if (usedBytes === randomPool.length) {
    randomFillSync(randomPool);
    usedBytes = 0;
  }
  usedBytes += ID_RANDOM_BYTES;
  return randomPool.subarray(usedBytes - ID_RANDOM_BYTES, usedBytes);
}
