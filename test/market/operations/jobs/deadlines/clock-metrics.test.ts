/** An operator sees in the metrics whether the clock runs, and what it does. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../../../setup/app.js';
import { gather, givenJob, type People } from '../../../../story/journey.js';
import { until } from '../../../../platform/security/until.js';

const DAY_SECONDS = 86_400;

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp({ DEADLINES: 'act', CLOCK: 'adjustable' });
  people = await gather(app);
});
afterAll(() => app.close());

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

it('a due job makes the gauge grow until the clock checks it, and the reminder is counted', async () => {
  await givenJob(app, 'open', people);
  // Its first check is due after a day, and its reminder after 21 days. Nobody runs the clock.
  await app.sql`update deadline_clock set ahead_seconds = ${22 * DAY_SECONDS}`;
  // These are the first metrics that the server returns, because they’re cached.
  let overdue = Number.NaN;
  await until(async () => !Number.isNaN((overdue = await metric('clock_overdue_seconds'))));
  expect(overdue).toBeGreaterThanOrEqual(21 * DAY_SECONDS);
  expect(await metric('clock_actions_total{action="remind"}')).toBe(0);
  expect(overdue).toBeLessThan(21 * DAY_SECONDS + 600);

  const { token } = people.admin;
  const answer = await app.rest('POST', '/v1/test-clock', { token, body: { seconds: 0 } });
  expect(answer.status).toBe(200);
  expect(await metric('clock_actions_total{action="remind"}')).toBe(1);
  expect(await metric('clock_actions_total{action="expire"}')).toBe(0);
});
