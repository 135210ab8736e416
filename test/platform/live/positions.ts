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

function nextPosition({ live }: TestApp['services']): { done: Promise<void>; stop(): void } {
  let stop = () => {};
  const done = new Promise<void>((resolve) => (stop = live.onEvents(() => resolve())));
  return { done: done.finally(stop), stop };
}
