import { until } from '../security/until.js';
import type { TestApp } from '../../setup/app.js';

export async function allNumbered({ sql, services }: Pick<TestApp, 'sql' | 'services'>): Promise<void> {
  for (;;) {
    // Listens before it checks, to notice a position assigned in between.
    const heard = nextPosition(services);
    const [waiting] = await sql`
      (select 1 from events where position is null limit 1)
      union all (select 1 from account_events where position is null limit 1)`;
    if (!waiting) return heard.stop();
    await heard.done;
  }
}

/**
 * Returns the last position that the server has heard of. If another server assigned it, this one hears of it later. A
 * stream that opens on this server begins after it.
 */
export function followPositions({ live }: TestApp['services']): () => bigint {
  let last = 0n;
  live.onEvents((upTo) => (last = upTo > last ? upTo : last));
  return () => last;
}

/** Returns a function that waits until these servers have heard of all events. A later stream begins after them. */
export function followEvents(...apps: [TestApp, ...TestApp[]]): () => Promise<void> {
  const [app] = apps;
  const heard = apps.map(({ services }) => followPositions(services));
  return async () => {
    await allNumbered(app);
    const [{ last } = { last: '0' }] = await app.sql<{ last: string }[]>`select max(position)::text as last
      from (select position from events union all select position from account_events) e`;
    await until(() => heard.every((upTo) => upTo() >= BigInt(last)));
  };
}

function nextPosition({ live }: TestApp['services']): { done: Promise<void>; stop(): void } {
  let stop = () => {};
  const done = new Promise<void>((resolve) => (stop = live.onEvents(() => resolve())));
  return { done: done.finally(stop), stop };
}
