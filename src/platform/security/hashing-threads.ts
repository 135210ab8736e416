/**
 * Runs bcrypt on low-priority threads. A flood of logins then slows down only logins, not the file access and DNS
 * lookups in Node's small thread pool.
 */
import { Worker } from 'node:worker_threads';
import { HASHING } from '../service-limits.js';

export interface HashingThreads {
  hash(plain: string, cost: number): Promise<string>;
  compare(plain: string, hash: string): Promise<boolean>;
}

type Task = { readonly plain: string } & ({ readonly cost: number } | { readonly hash: string });
type TaskResult = { readonly result: string | boolean } | { readonly problem: string };

/** Idle threads, up to a limit. The queue in `passwords.ts` limits the busy ones. */
const idle: Worker[] = [];

export const hashingThreads: HashingThreads = {
  hash: async (plain, cost) => String(await run({ plain, cost })),
  compare: async (plain, hash) => (await run({ plain, hash })) === true,
};

function run(task: Task): Promise<string | boolean> {
  const thread = idle.pop() ?? start();
  thread.ref();
  return new Promise((resolve, reject) => {
    function onMessage(answer: TaskResult): void {
      thread.off('error', onError);
      release(thread);
      if ('problem' in answer) reject(new Error(`bcrypt failed: ${answer.problem}`));
      else resolve(answer.result);
    }
    function onError(error: Error): void {
      thread.off('message', onMessage);
      reject(error);
    }
    thread.once('message', onMessage);
    thread.once('error', onError);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread isn't a window
    thread.postMessage(task);
  });
}

function start(): Worker {
  return new Worker(new URL('hashing-thread.js', import.meta.url), { execArgv: [], env: {} });
}

/** Releases a thread. Idle threads don't keep the process alive. */
function release(thread: Worker): void {
  thread.unref();
  if (idle.length < HASHING.idleThreadsMax) idle.push(thread);
  else void thread.terminate();
}
