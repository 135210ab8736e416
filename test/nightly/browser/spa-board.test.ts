/**
 * The live board of docs/clients/board.md in Chromium, with React and the events of the contractor's own bids. It shows
 * a job that was just published, and hides a job whose award the contractor learns of by an event.
 */
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { admin, contractor, homeowner, type Person } from '../../story/cast.js';
import { DRAFT, giveTokens } from '../../story/journey.js';
import { needs, programPath } from '../../setup/needs.js';
import { ARGS } from '../../browser/chromium.js';
import { openSite, type Site } from './spa-site.js';

const TEST_MS = 60_000;
const JOBS = 25;

let app: TestApp;
let site: Site;
let browser: Browser;
let owner: Person;
const ids = new Map<string, string>();

const chromiumThere = needs('chromium');
const lifetime = programPath('chromium') ? { beforeAll, afterAll } : { beforeAll: () => {}, afterAll: () => {} };

lifetime.beforeAll(async () => {
  site = await openSite();
  app = await openTestApp({ CORS_ORIGINS: site.url });
  await site.build(app.url);
  browser = await chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: ARGS });
  owner = await homeowner(app, 'Olga');
  await giveTokens(app, await admin(app), owner, 1_000);
  for (let at = 1; at <= JOBS; at += 1) await publish(`Roof ${at}`);
});
lifetime.afterAll(async () => {
  await browser?.close();
  await site?.close();
  await app?.close();
});

chromiumThere.describe('A contractor with an open board', () => {
  chromiumThere.it(
    'sees new jobs first, pages to the end, and no longer sees a job that another contractor was awarded',
    async () => {
      const [carlos, rival] = [await contractor(app, 'Carlos'), await contractor(app, 'Rita')];
      const [, theirs] = [await bid(carlos, 'Roof 24'), await bid(rival, 'Roof 24')];
      const { page, complaints } = await openBoard(carlos);
      const jobs = page.getByRole('list', { name: 'Open jobs' }).getByRole('listitem');
      await expect.poll(() => jobs.count()).toBe(20);

      await page.getByRole('button', { name: 'Show more' }).click();
      await expect.poll(() => jobs.count()).toBe(JOBS);
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);

      await publish('A new gate');
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await expect.poll(() => jobs.first().textContent()).toContain('A new gate');

      const award = { token: owner.token, body: { bid_id: theirs } };
      expect((await app.rest('POST', `/v1/jobs/${ids.get('Roof 24')}/award`, award)).status).toBe(200);
      await expect.poll(async () => (await jobs.allTextContents()).join()).not.toContain('Roof 24');
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});

async function publish(title: string): Promise<void> {
  const { body } = await app.rest('POST', '/v1/jobs', { token: owner.token, body: { ...DRAFT, title } });
  expect((await app.rest('POST', `/v1/jobs/${body.id}/publish`, { token: owner.token })).status).toBe(200);
  ids.set(title, body.id);
}

async function bid({ token }: Person, title: string): Promise<string> {
  return (await app.rest('POST', `/v1/jobs/${ids.get(title)}/bids`, { token, body: { amount: 900 } })).body.id;
}

async function openBoard({ email, password }: Person): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext();
  context.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) complaints.push(message.text());
  });
  const page = await context.newPage();
  await page.goto(`${site.url}/apollo.html#/board`);
  const form = page.getByRole('form', { name: 'Log in' });
  await form.getByLabel('Email').fill(email);
  await form.getByLabel('Password').fill(password);
  await form.getByRole('button').click();
  return { page, complaints };
}
