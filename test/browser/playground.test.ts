/** What a newcomer with a browser sees: the playground and the REST reference, in a real Chromium. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../app.js';
import { needs } from '../needs.js';
import { visit, type Visit } from './chromium.js';
import { HAND_MADE_OPENAPI } from './openapi.js';

const browser = needs('chromium');
const MINUTE = 60_000;

let app: TestApp;
let newUser: Visit;

beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());
afterEach(() => newUser?.close());

const RITA = { email: 'rita@example.test', password: 'Rita has a password', first_name: 'Rita', last_name: 'Reader' };

/** Each tab, and what shows that it did its work. */
const STORY: Readonly<Record<string, string>> = {
  SignUp: '"tokensAwarded": 10',
  WhoAmI: '"userType": "HOMEOWNER"',
  CreateJob: '"status": "DRAFT"',
  PublishJob: '"tokensCharged": 5',
  SignUpContractor: '"tokensAwarded": 25',
  SubmitBid: '"status": "PENDING"',
  ReadJob: '"bidCount": 1',
  AwardJob: '"status": "AWARDED"',
};

browser.describe('The playground', () => {
  browser.it(
    'runs a query that somebody types',
    async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page } = newUser;
      await page.getByRole('button', { name: /New tab|Add tab/i }).click();
      await page.locator('.graphiql-query-editor .monaco-editor').click();
      await page.keyboard.press('Control+A');
      await page.keyboard.type('{ viewer { us');
      // The page knows the schema.
      await page.locator('.suggest-widget.visible').getByText('user', { exact: true }).first().waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.type('er { id');
      await page.keyboard.press('Control+Enter');
      await expectAnswer(page, 'UNAUTHENTICATED');
      expectQuiet(newUser);
    },
    MINUTE,
  );

  browser.it(
    'tells its story from the first tab to the last, twice',
    async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page, picture } = newUser;
      await openTab(page, 'SignUp');
      await picture('playground');
      expect(await page.locator('.graphiql-tab-button').allTextContents()).toEqual(Object.keys(STORY));
      for (const name of [...Object.keys(STORY), ...Object.keys(STORY)]) {
        await openTab(page, name);
        await run(page);
        await expectAnswer(page, STORY[name] ?? '');
        expect(await answerOn(page), name).not.toContain('"errors"');
        await picture(`playground-${name}`);
      }
      expectQuiet(newUser);
    },
    3 * MINUTE,
  );

  browser.it(
    'keeps the tabs, the token and its address over a reload',
    async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page } = newUser;
      await openTab(page, 'SignUp');
      await run(page);
      await expectAnswer(page, '"tokensAwarded": 10');
      await openTab(page, 'WhoAmI');
      await page.waitForTimeout(1_000);
      await page.reload();
      expect(page.url()).toBe(`${app.url}/graphql`);
      await openTab(page, 'WhoAmI');
      expect(await page.locator('.graphiql-tab-button').allTextContents()).toEqual(Object.keys(STORY));
      await run(page);
      await expectAnswer(page, '"userType": "HOMEOWNER"');
      expectQuiet(newUser);
    },
    MINUTE,
  );

  browser.it(
    'says which tab to run first, and sends nothing, while it lacks a token or an id',
    async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page } = newUser;
      await openTab(page, 'PublishJob');
      await run(page);
      await expectAnswer(page, 'does not know {{job}} yet; run the tab CreateJob first');
      expectQuiet(newUser);
    },
    MINUTE,
  );
});

browser.describe('The REST reference', () => {
  browser.it(
    'shows the operations, tries one out, and keeps the token of a sign-up',
    async () => {
      newUser = await visit(`${app.url}/healthz`);
      const { page, picture, context, complaints } = newUser;
      const real = await app.rest('GET', '/v1/openapi.json');
      if (real.status !== 200)
        await context.route('**/v1/openapi.json', (route) => route.fulfill({ json: HAND_MADE_OPENAPI }));
      await page.goto(`${app.url}/v1/docs`);
      await page.locator('.opblock').first().waitFor();
      await page.waitForTimeout(500);
      await picture('reference');
      const me = page.locator('.opblock-get', { has: page.locator('[data-path$="/me"]') });
      await me.locator('.opblock-summary').click();
      await me.getByRole('button', { name: 'Execute' }).click();
      await expect
        .poll(() => me.locator('.live-responses-table tbody .response-col_status').first().textContent())
        .toContain('401');
      const signUp = page.locator('.opblock-post', { has: page.locator('[data-path$="/auth/signup/homeowner"]') });
      await signUp.locator('.opblock-summary').click();
      await signUp.locator('textarea').fill(JSON.stringify(RITA));
      await signUp.getByRole('button', { name: 'Execute' }).click();
      await expect
        .poll(() => signUp.locator('.live-responses-table tbody .response-col_status').first().textContent())
        .toContain('201');
      await me.getByRole('button', { name: 'Execute' }).click();
      await expect
        .poll(() => me.locator('.live-responses-table tbody .response-col_status').first().textContent())
        .toContain('200');
      await me.scrollIntoViewIfNeeded();
      await picture('reference-tried');
      // The browser itself notes on the console that somebody without a token was refused.
      expect(complaints.filter((text) => !text.includes('status of 401'))).toEqual([]);
      expect([...newUser.origins]).toEqual([app.url]);
    },
    MINUTE,
  );
});

/** One click must do. */
async function openTab(page: Page, name: string): Promise<void> {
  await page.locator('.graphiql-tab-button').getByText(name, { exact: true }).click();
  const written = async () => textOf(await page.locator('.graphiql-query-editor .view-line').allTextContents());
  await expect.poll(written, { timeout: 100_000 }).toMatch(new RegExp(`(query|mutation) ${name}\\b`));
}

async function run(page: Page): Promise<void> {
  await page.locator('.graphiql-execute-button').click();
}

async function expectAnswer(page: Page, part: string): Promise<void> {
  await expect.poll(() => answerOn(page), { timeout: 100_000 }).toContain(part);
}

async function answerOn(page: Page): Promise<string> {
  return textOf(await page.locator('.graphiql-response .view-line').allTextContents());
}

/** The editor writes spaces that do not break, and breaks long lines. */
function textOf(lines: string[]): string {
  return lines.join(' ').replaceAll(/\s+/g, ' ');
}

function expectQuiet({ origins, complaints }: Visit): void {
  expect(complaints).toEqual([]);
  expect([...origins]).toEqual([app.url]);
}
