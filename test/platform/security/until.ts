/** Polls every few milliseconds for an event in another process. Gives up eventually. */
import { setTimeout as sleep } from 'node:timers/promises';

export async function until(happened: () => boolean | Promise<boolean>, withinMs = 250_000): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await happened())) {
    if (performance.now() > deadlineMs) throw new Error(`Did not happen within ${withinMs} ms: ${happened.toString()}`);
    await sleep(5);
  }
}
