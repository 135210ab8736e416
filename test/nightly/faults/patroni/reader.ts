/** A program that reads all the time. Like a caller, it repeats a failed read once, on a new connection. */
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';

const TIMEOUT_SECONDS = 3;
const PAUSE_MS = 20;

export function openReader(url: string) {
  const connect = () =>
    postgres(url, { max: 1, connect_timeout: TIMEOUT_SECONDS, onnotice: () => {}, fetch_types: false });
  const results = { reads: 0, repeated: 0, failed: [] as string[], longestMs: 0 };
  let sql = connect();
  let isOver = false;

  async function attempt(): Promise<void> {
    const tooLate = pause(TIMEOUT_SECONDS * 1000, undefined, { ref: false }).then(() => {
      throw new Error('no response in time');
    });
    await Promise.race([sql`select count(*) from jobs`, tooLate]);
  }
  async function read(): Promise<void> {
    const startMs = performance.now();
    try {
      await attempt();
    } catch {
      results.repeated += 1;
      void sql.end({ timeout: 0 });
      sql = connect();
      await attempt().catch((error: unknown) => results.failed.push(String(error)));
    }
    results.reads += 1;
    results.longestMs = Math.max(results.longestMs, performance.now() - startMs);
  }
  const reading = (async () => {
    while (!isOver) {
      await read();
      await pause(PAUSE_MS);
    }
  })();
  return {
    /** Since the last call. */
    results: () => {
      const found = { ...results };
      Object.assign(results, { reads: 0, repeated: 0, failed: [], longestMs: 0 });
      return found;
    },
    close: async () => {
      isOver = true;
      await reading;
      await sql.end({ timeout: 0 });
    },
  };
}
