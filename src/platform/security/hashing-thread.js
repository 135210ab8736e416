/**
 * One of the threads of hashing-threads.ts. It is JavaScript, since a thread is begun from a file and Node reads no
 * TypeScript: so it is the same file in src/ and in dist/.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcrypt';

/** @typedef {{ plain: string, cost: number } | { plain: string, hash: string }} Task */

/** A tenth of what another thread gets where both want one core: log-ins give way, and still get on. */
const NICENESS = 10;

try {
  // Only Linux knows a priority for each thread; elsewhere they stay as they are.
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICENESS);
} catch {}

/**
 * bcrypt's own asynchronous calls would leave this thread for Node's pool.
 *
 * @param {Task} task
 */
function answerTo(task) {
  try {
    return {
      result: 'hash' in task ? bcrypt.compareSync(task.plain, task.hash) : bcrypt.hashSync(task.plain, task.cost),
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
parentPort?.on('message', (/** @type {Task} */ task) => parentPort?.postMessage(answerTo(task)));
