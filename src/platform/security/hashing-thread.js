/**
 * A thread of hashing-threads.ts. A thread starts from a file that Node must be able to run. So this file is
 * JavaScript, and it's the same in src/ and dist/.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcrypt';

/** @typedef {{ plain: string, cost: number } | { plain: string, hash: string }} Task */

/**
 * Gives this thread a tenth of another thread's CPU time if both want one core. Logins yield but still make progress.
 */
const NICENESS = 10;

try {
  // Only Linux has a priority per thread. Elsewhere, threads keep theirs.
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICENESS);
} catch {}

/**
 * Uses bcrypt's synchronous calls, because the asynchronous ones run in Node's own thread pool.
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
