/** The steps of the playground as requests, without a browser, up to “Webhooks”. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN } from '../../src/commands/demo/town.js';
import { ensureAdmin } from '../../src/market/operations/admins/admins.js';
import { readSteps } from '../../src/pages/playground/steps.js';
import { STORY } from '../browser/playground-acts.js';
import { openTestApp, type Json, type TestApp } from '../setup/app.js';
import { allNumbered } from '../platform/live/positions.js';
import { until } from '../platform/security/until.js';

const STEPS = readSteps();
const CHAPTER = 'Two weeks in a minute';

let adjustable: TestApp;
let real: TestApp;
beforeAll(async () => {
  adjustable = await openTestApp({ DEADLINES: 'act', CLOCK: 'adjustable', PAYMENTS: 'local' });
  real = await openTestApp();
  for (const { services } of [adjustable, real]) await ensureAdmin(services, ADMIN.email, ADMIN.password);
});
afterAll(() => Promise.all([adjustable.close(), real.close()]));

/** Runs steps like the page does. It replaces each placeholder with the value that an earlier response had. */
function player({ url }: TestApp) {
  const values: Record<string, string> = { origin: url };
  const fill = (text: string) =>
    text.replaceAll(/{{(\w+)}}/g, (placeholder, name: string) => {
      if (name === 'random') return Math.random().toString(36).slice(2);
      const value = values[name];
      if (value === undefined) throw new Error(`${placeholder} has no value yet.`);
      return value;
    });

  return async function play({ name, tab }: (typeof STEPS)[number]): Promise<string> {
    // A visitor presses “Pay” on the checkout page.
    if (name === 'PublishUrgentJob')
      await fetch(fill('{{checkout}}'), { method: 'POST', body: new URLSearchParams({ choice: 'pay' }) });
    const { authorization } = JSON.parse(fill(tab.headers ?? '{}')) as { authorization?: string };
    const token = authorization ?? `Bearer ${values.last}`;
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(values.last !== undefined && { authorization: token }) },
      body: JSON.stringify({
        query: tab.query,
        operationName: name,
        variables: JSON.parse(fill(tab.variables ?? '{}')) as object,
      }),
    });
    const answer = (await response.json()) as Json;
    learn({ pack: answer.errors?.[0]?.extensions.pack });
    for (const result of Object.values((answer.data ?? {}) as Json)) learn(result ?? {});
    return JSON.stringify(answer, null, 1).replaceAll(/\s+/g, ' ');
  };

  function learn({ token, user, homeowner, contractor, job, bid, pack, checkoutUrl, ...result }: Json): void {
    const deadline = job?.upcoming?.[0]?.at;
    const gap = result.deliveries?.nodes.find(({ previousPosition }: Json) => previousPosition)?.previousPosition;
    const learned = {
      ...(token && { last: token, [roleIn(token)]: token }),
      job: job?.id,
      bid: bid?.id,
      pack,
      checkout: checkoutUrl,
      webhook: result.webhookEndpoint?.id,
      gap,
      beforeGap: gap && String(BigInt(gap) - 1n),
      contractorId: contractor?.id,
      homeownerUserId: homeowner?.id && user?.id,
      weekLater: deadline && new Date(Date.parse(deadline) + 7 * 86_400_000).toISOString(),
    };
    for (const [name, value] of Object.entries(learned)) if (typeof value === 'string') values[name] = value;
  }
}

function roleIn(token: string): string {
  const [, claims = ''] = token.split('.');
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { role: string }).role;
}

const untilChapterEnds = STEPS.slice(0, STEPS.findLastIndex(({ chapter }) => chapter === CHAPTER) + 1);

it('each step returns what its story promises, and the clock approves the work after two reminders', async () => {
  const play = player(adjustable);
  expect(untilChapterEnds.at(-1)?.name).toBe('ReviewLater');
  let reminders = '';
  for (const step of untilChapterEnds) {
    const answer = await play(step);
    expect(answer, step.name).not.toContain('"errors"');
    expect(answer, step.name).toContain(STORY[step.name]);
    if (step.name === 'ReadReminders') reminders = answer;
  }
  expect(reminders.match(/"type": "\w+"/g)).toEqual(
    ['JOB_REMINDED', 'JOB_REMINDED', 'JOB_AUTO_APPROVED'].map((type) => `"type": "${type}"`),
  );
  await allNumbered(adjustable);
  for (const step of STEPS.filter(({ name }) => name === 'ReadNotifications')) {
    const answer = await play(step);
    expect(answer).toContain(STORY.ReadNotifications);
    expect(answer).toContain('"title": "The work was approved"');
  }
});

it('the homeowner pays for a pack of tokens, and publishes an urgent job', async () => {
  const play = player(adjustable);
  const buying = STEPS.filter(({ chapter }) => chapter === 'Buying tokens');
  expect(buying.map(({ name }) => name)).toEqual([
    'CreateUrgentJob',
    'NotEnoughTokens',
    'BuyTokens',
    'PublishUrgentJob',
  ]);
  for (const step of [...STEPS.filter(({ name }) => name === 'SignUp'), ...buying]) {
    const answer = await play(step);
    expect(answer.includes('"errors"'), step.name).toBe(step.isMeantToFail);
    if (step.name !== 'PublishUrgentJob') expect(answer, step.name).toContain(STORY[step.name]);
    else expect(answer).toContain('"available": 30, "bought": 30 }, "purchases": { "nodes": [ { "status": "PAID"');
  }
});

it('the contractor gets the job that matches their saved search', async () => {
  const play = player(adjustable);
  const needed = ['SignUp', 'SignUpContractor', 'LogInAsAdmin'];
  const searching = STEPS.filter(({ chapter }) => chapter === 'Saved searches');
  for (const step of [...STEPS.filter(({ name }) => needed.includes(name)), ...searching]) {
    // The browser test reads the stream.
    if (step.name === 'WatchMatches') continue;
    if (step.name === 'ReadMatches') await until(async () => (await play(step)).includes('JOB_PUBLISHED'));
    const answer = await play(step);
    expect(answer, step.name).not.toContain('"errors"');
    expect(answer, step.name).toContain(STORY[step.name]);
  }
});

it('a replay sends past events to the contractor’s webhook endpoint, and another replay a lost event', async () => {
  const play = player(adjustable);
  const needed = ['SignUp', 'CreateJob', 'PublishJob', 'SignUpContractor', 'SubmitBid', 'ReviseBid'];
  for (const step of STEPS.filter(({ name }) => needed.includes(name))) await play(step);
  await allNumbered(adjustable);
  const answers: Record<string, string> = {};
  for (const step of STEPS.filter(({ chapter }) => chapter === 'Webhooks')) {
    const answer = (answers[step.name] = await play(step));
    expect(answer, step.name).not.toContain('"errors"');
    expect(answer, step.name).toContain(STORY[step.name]);
  }
  const [, endpoint = ''] = /"id": "(whk_\w+)"/.exec(answers.CreateWebhookEndpoint ?? '') ?? [];
  const deliveries = await adjustable.sql`
    select event_type, position, previous_position from webhook_deliveries where endpoint_id = ${endpoint}
    order by position`;
  expect(deliveries.map(({ event_type: type }) => type)).toEqual(PAST_EVENTS);
  expect(answers.ReplayPastEvents).toContain(`"replayedCount": ${deliveries.length}`);
  const positions = deliveries.map(({ position }) => position);
  expect(deliveries.map(({ previous_position: previous }) => previous)).toEqual([null, ...positions.slice(0, -1)]);
  for (const position of positions.slice(0, -1))
    expect(answers.ReadDeliveries).toContain(`"previousPosition": "${position}"`);
});

const PAST_EVENTS = ['job.created', 'job.published', 'bid.submitted', 'bid.revised'];

it('on a server without payments, the playground doesn’t try to buy tokens', async () => {
  const scriptOf = async ({ url }: TestApp) => (await fetch(`${url}/graphql/playground/start.js`)).text();
  expect(await scriptOf(adjustable)).toContain('BuyTokens');
  expect(await scriptOf(real)).not.toContain('BuyTokens');
  expect(await scriptOf(real)).toContain('WatchMyEvents');
});

it('on a server whose clock can’t be moved, the chapter’s first step says so', async () => {
  const play = player(real);
  const [first] = STEPS.filter(({ chapter }) => chapter === CHAPTER);
  for (const step of STEPS.filter(({ name }) => name === 'LogInAsAdmin')) await play(step);
  expect(first?.text).toContain('restart the server with DEADLINES=act and CLOCK=adjustable, or skip this story');
  expect(first && (await play(first))).toContain('This server’s clock can’t be moved. Set CLOCK to adjustable.');
});
