/**
 * One of the threads of hashing-threads.ts. This file is in JavaScript because a thread starts from a file, and Node
 * doesn't read TypeScript. So the same file is in src/ and in dist/.
 */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcrypt';

/** @typedef {{ plain: string, cost: number } | { plain: string, hash: string }} Task */

/**
 * Gives a hashing thread a tenth of another thread's CPU time if both want the same core. Logins yield but still make
 * progress.
 */
const NICENESS = 10;

try {
  // Only Linux has a priority per thread. On other systems, the threads keep theirs.
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICENESS);
} catch {}

/**
 * Uses bcrypt's synchronous calls. Its asynchronous calls would leave this thread for Node's pool.
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
