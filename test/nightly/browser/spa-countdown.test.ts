/** The countdown of docs/clients/jobs.md in Chromium, with both clients: it follows the deadline of work in review. */
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { needs, programPath } from '../../setup/needs.js';
import { callRest, restOutcome } from '../../story/calls.js';
import { gather, givenJob, type People } from '../../story/journey.js';
import { ARGS } from '../../browser/chromium.js';
import { openSite, type Site } from './spa-site.js';

const TEST_MS = 120_000;
const DAY_MS = 86_400_000;

let app: TestApp;
let site: Site;
let browser: Browser;
let people: People;

const chromiumThere = needs('chromium');
const lifetime = programPath('chromium') ? { beforeAll, afterAll } : { beforeAll: () => {}, afterAll: () => {} };

lifetime.beforeAll(async () => {
  site = await openSite();
  app = await openTestApp({ CORS_ORIGINS: site.url, DEADLINES: 'act' });
  await site.build(app.url);
  browser = await chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: ARGS });
  people = await gather(app);
});
lifetime.afterAll(async () => {
  await browser?.close();
  await site?.close();
  await app?.close();
});

chromiumThere.describe('An owner with work to review', () => {
  for (const client of ['apollo', 'urql'])
    chromiumThere.it(
      `sees in ${client} when it counts as approved, sees an extension immediately, and no deadline after approving it`,
      async () => {
        const job = await givenJob(app, 'in_review', people);
        const { page, complaints } = await openJob(client, job.id);
        const timer = page.getByRole('timer');
        const text = 'The work counts as approved in 14 days, unless the homeowner approves or disputes the work,';
        await expect.poll(() => timer.textContent()).toContain(text);

        const { token } = people.owner;
        const { body } = await app.rest('GET', `/v1/jobs/${job.id}/upcoming`, { token });
        const until = new Date(Date.parse(body.data[0].at) + 10 * DAY_MS).toISOString();
        const call = { by: people.owner, job: job.id };
        expect(restOutcome(await callRest(app, 'extendDeadline', { ...call, body: { until } }))).toMatchObject({
          ok: true,
        });
        await expect.poll(() => timer.textContent()).toContain('in 24 days');

        expect(restOutcome(await callRest(app, 'approve', { ...call, body: {} }))).toMatchObject({ ok: true });
        await page.getByTestId('status').filter({ hasText: 'COMPLETED' }).waitFor();
        expect(await timer.count()).toBe(0);
        expect(complaints).toEqual([]);
      },
      TEST_MS,
    );
});

async function openJob(client: string, id: string): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext();
  context.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) complaints.push(message.text());
  });
  const page = await context.newPage();
  await page.goto(`${site.url}/${client}.html#/jobs/${id}`);
  const form = page.getByRole('form', { name: 'Log in' });
  await form.getByLabel('Email').fill(people.owner.email);
  await form.getByLabel('Password').fill(people.owner.password);
  await form.getByRole('button').click();
  return { page, complaints };
}
