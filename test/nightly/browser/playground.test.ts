/** What else a new user sees of the playground in a browser, and trying out the REST reference. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import jwt from 'jsonwebtoken';
import type { Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { ADMIN } from '../../../src/commands/demo/town.js';
import { ensureAdmin } from '../../../src/market/operations/admins/admins.js';
import { JWT_SECRET, openTestApp, type TestApp } from '../../setup/app.js';
import { needs } from '../../setup/needs.js';
import { closeBrowser, visit, type Visit } from '../../browser/chromium.js';
import {
  answerOn,
  boxOf,
  expectAnswer,
  expectOpen,
  openTab,
  run,
  STORY,
  tabNames,
} from '../../browser/playground-acts.js';

const browser = needs('chromium');
const MINUTE = 60_000;
/** The server runs in this process, so waiting for a program must not block it. */
const runProgram = promisify(execFile);

let app: TestApp;
let newUser: Visit;

beforeAll(async () => {
  app = await openTestApp({ DEADLINES: 'act', CLOCK: 'adjustable', PAYMENTS: 'local' });
  await ensureAdmin(app.services, ADMIN.email, ADMIN.password);
});
afterAll(async () => {
  await closeBrowser();
  await app.close();
});
afterEach(() => newUser?.close());

const RITA = { email: 'rita@example.test', password: 'Rita has a password', first_name: 'Rita', last_name: 'Reader' };

browser.describe('The playground', () => {
  browser.it('runs a query that the user types', async () => {
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
  });

  browser.it('renews a token before it expires, and one that the server calls expired, in every open tab', async () => {
    newUser = await visit(`${app.url}/graphql`);
    const { page, context } = newUser;
    await openTab(page, 'SignUp');
    await run(page);
    await expectAnswer(page, '"tokensAwarded": 10');
    const second = await context.newPage();
    await second.goto(`${app.url}/graphql`);
    const both = [page, second];
    const renewals = countRenewals(both);
    for (const one of both) await openTab(one, 'WhoAmI');

    // The server's own clock hasn't moved: only an early renewal replaces the token.
    const later = Date.now() + 14.5 * MINUTE;
    await Promise.all(both.map((one) => one.clock.setFixedTime(later)));
    await Promise.all(both.map(run));
    for (const one of both) await expectAnswer(one, '"userType": "HOMEOWNER"');
    expect(renewals()).toBeGreaterThan(0);
    const before = renewals();

    for (const one of both) await expire(one);
    for (const one of both) {
      await openTab(one, 'ReadJob');
      await openTab(one, 'WhoAmI');
    }
    await Promise.all(both.map(run));
    for (const one of both) await expectAnswer(one, '"userType": "HOMEOWNER"');
    await expect.poll(renewals).toBeGreaterThan(before);
    expectQuiet(newUser);
  });

  browser.it(
    'lists the events that arrive while a subscription runs, and those missed while it was stopped',
    async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page, context, picture } = newUser;
      for (const name of ['SignUp', 'CreateJob', 'PublishJob', 'WatchMyEvents']) {
        await openTab(page, name);
        await run(page);
        await expectAnswer(page, STORY[name] ?? '');
      }
      const other = await context.newPage();
      await other.goto(`${app.url}/graphql`);
      for (const name of ['SignUpContractor', 'SubmitBid']) {
        await openTab(other, name);
        await run(other);
        await expectAnswer(other, STORY[name] ?? '');
      }
      await expectAnswer(page, '"type": "BID_SUBMITTED"');
      // The earlier events stay, below the newest one.
      expect(await answerOn(page)).toMatch(/"received": 3, .*"BID_SUBMITTED".*"JOB_PUBLISHED"/);
      await picture('playground-live');
      // The button stops the subscription.
      await run(page);

      for (const name of ['ReviseBid', 'AwardJob']) {
        await openTab(other, name);
        await run(other);
        await expectAnswer(other, STORY[name] ?? '');
      }
      expect(await answerOn(page)).toContain('BID_SUBMITTED');
      await run(page);
      await expectAnswer(page, '"type": "BID_ACCEPTED"');
      expectQuiet(newUser);
    },
  );

  browser.it('says that a session has ended, and which tab signs in again', async () => {
    newUser = await visit(`${app.url}/graphql`);
    const { page } = newUser;
    await openTab(page, 'SignUp');
    await run(page);
    await expectAnswer(page, '"tokensAwarded": 10');
    const endSessions = async (minutes: number) => {
      await app.sql`update sessions set revoked_at = now()`;
      app.services.live.activeSessions.forgetAll();
      await page.clock.setFixedTime(Date.now() + minutes * MINUTE);
    };
    const user = () => page.locator('#guide-who').textContent();
    const first = await user();
    await endSessions(14.5);
    // A new sign-up doesn't need the old session.
    await run(page);
    await expect.poll(user, { timeout: 100_000 }).not.toBe(first);
    await endSessions(29);
    await openTab(page, 'WhoAmI');
    await run(page);
    await expectAnswer(page, 'Sign in again: run the tab SignUp first.');
    // The browser's own message about the 401. The page's message is better.
    expect(newUser.complaints).toEqual([expect.stringContaining('401')]);
  });

  browser.it('asks before starting over, then restores the tabs and signs the user out', async () => {
    newUser = await visit(`${app.url}/graphql`);
    const { page } = newUser;
    await openTab(page, 'SignUp');
    await run(page);
    await expectAnswer(page, '"tokensAwarded": 10');
    await page.getByRole('button', { name: 'Close Tab' }).first().click();
    await expect.poll(() => tabNames(page)).toEqual(Object.keys(STORY).slice(1));
    page.once('dialog', (dialog) => dialog.dismiss());
    await page.getByRole('button', { name: 'Start over' }).click();
    expect(await tabNames(page)).toEqual(Object.keys(STORY).slice(1));
    expect(await page.locator('#guide-who').textContent()).toMatch(/^As hanna/);
    page.once('dialog', (dialog) => dialog.accept());
    await page.getByRole('button', { name: 'Start over' }).click();
    await expect.poll(() => tabNames(page)).toEqual(Object.keys(STORY));
    await openTab(page, 'CreateJob');
    await run(page);
    await expectAnswer(page, '{{homeowner}} has no value yet. Run the tab SignUp first.');
    expectQuiet(newUser);
  });

  for (const width of [1280, 400])
    browser.it(`hides no word of its instructions, and no tab, in a window of ${width} columns`, async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page, picture } = newUser;
      await page.setViewportSize({ width, height: 860 });
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        await picture(`playground-${width}-${colorScheme}`);
      }
      const heights = new Set<number>();
      for (const at of Object.keys(STORY).keys()) {
        await page.getByLabel('Step', { exact: true }).selectOption(String(at));
        const hidden = await page.locator('#guide-text').evaluate((text) => text.scrollHeight - text.clientHeight);
        expect(hidden, Object.keys(STORY)[at]).toBeLessThanOrEqual(1);
        heights.add((await boxOf(page, '#guide')).height);
        expect((await boxOf(page, '#graphiql-session')).height).toBeGreaterThan(200);
      }
      if (width === 1280) expect(heights.size).toBe(1);
      const { x, width: wide } = await boxOf(page, '.graphiql-tab-active');
      expect([x >= 0, x + wide <= width]).toEqual([true, true]);
      expect((await boxOf(page, '#guide-step')).width).toBeGreaterThan(150);
      const editors = await boxOf(page, '.graphiql-editors');
      const response = await boxOf(page, '.graphiql-response');
      const stacked = response.y >= editors.y + editors.height;
      expect([stacked, response.x >= editors.x + editors.width]).toEqual([width === 400, width === 1280]);
      const tools = await boxOf(page, '.graphiql-toolbar');
      const query = await boxOf(page, '.graphiql-query-editor .monaco-editor');
      const apart = tools.x >= query.x + query.width || tools.y + tools.height <= query.y;
      expect(apart).toBe(true);
      expectQuiet(newUser);
    });

  browser.it(
    'shows who acts, previews the response and its time, marks finished steps, and copies a working request',
    async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page, context } = newUser;
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await expectOpen(page, 'SignUp');
      const coming = page.locator('.graphiql-response[data-coming*="tokensAwarded"]');
      await coming.waitFor();
      expect(await page.locator('#guide-who').textContent()).toBe('Signed out');
      await run(page);
      await expectAnswer(page, '"tokensAwarded": 10');
      expect(await coming.count()).toBe(0);
      expect(await page.locator('#guide-who').textContent()).toMatch(/^As hanna\..*@example\.com$/);
      expect(await page.locator('#guide-answer').textContent()).toMatch(/^\d+ ms, \d\.\d KB$/);
      const options = await page.getByLabel('Step', { exact: true }).locator('option').allTextContents();
      expect(options.slice(0, 2)).toEqual(['✓ 1. Sign up', '2. Who am I']);
      const shown = page.locator('.graphiql-tab:visible');
      expect(await shown.count()).toBe(14);
      await page.getByRole('button', { name: 'Next' }).click();
      await expectOpen(page, 'WhoAmI');
      await page.getByRole('button', { name: 'Copy as cURL' }).click();
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      const { stdout } = await runProgram('bash', ['-c', command]);
      expect(JSON.parse(stdout)).toMatchObject({ data: { viewer: { user: { userType: 'HOMEOWNER' } } } });
      expectQuiet(newUser);
    },
  );

  browser.it('paints the user’s chosen colors before GraphiQL has loaded', async () => {
    newUser = await visit(`${app.url}/healthz`);
    const { page, context } = newUser;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.evaluate(`localStorage.setItem('job-marketplace:x:graphiql:theme', 'dark')`);
    await context.route('**/graphiql.js', () => {});
    await page.goto(`${app.url}/graphql`, { waitUntil: 'commit' });
    await page.locator('#guide').waitFor();
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(23, 29, 41)');
  });

  browser.it('shows a response that arrives below the editors of a narrow window', async () => {
    newUser = await visit(`${app.url}/graphql`);
    const { page, picture } = newUser;
    const height = 800;
    await page.setViewportSize({ width: 400, height });
    await expectOpen(page, 'SignUp');
    expect((await boxOf(page, '.graphiql-response')).y).toBeGreaterThan(height - 120);
    await run(page);
    await expectAnswer(page, '"signUpHomeowner"');
    const answer = await boxOf(page, '.graphiql-response');
    expect(answer.y + answer.height).toBeLessThanOrEqual(height);
    // The query moves away with its pane.
    const query = await boxOf(page, '.graphiql-query-editor .monaco-editor');
    expect(query.y + query.height).toBeLessThanOrEqual(answer.y);
    await picture('playground-400-answer');
    await page.getByRole('button', { name: 'Next' }).click();
    await expectOpen(page, 'WhoAmI');
    expect((await boxOf(page, '.graphiql-execute-button')).y).toBeGreaterThan((await boxOf(page, '.graphiql-tabs')).y);
    expectQuiet(newUser);
  });

  browser.it('keeps the tabs, the token and its address across a reload', async () => {
    newUser = await visit(`${app.url}/graphql`);
    const { page } = newUser;
    await openTab(page, 'SignUp');
    await run(page);
    await expectAnswer(page, '"tokensAwarded": 10');
    await openTab(page, 'WhoAmI');
    // A tab can contain a password, so tabs aren't stored on the disk.
    const stored = (area: string) => page.evaluate<string>(`JSON.stringify(${area})`);
    await expect.poll(() => stored('sessionStorage')).toContain('a long enough password');
    expect(await stored('localStorage')).not.toContain('password');
    await page.reload();
    expect(page.url()).toBe(`${app.url}/graphql`);
    await openTab(page, 'WhoAmI');
    expect(await tabNames(page)).toEqual(Object.keys(STORY));
    await run(page);
    await expectAnswer(page, '"userType": "HOMEOWNER"');
    expectQuiet(newUser);
  });

  browser.it('works in a browser that blocks storage, and so do the sessions', async () => {
    newUser = await visit(`${app.url}/healthz`);
    const { page, context } = newUser;
    await context.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('Access is denied.', 'SecurityError'); } });
      navigator.locks.request = async () => { throw new DOMException('The request was denied.', 'SecurityError'); };
      window.BroadcastChannel = class { constructor() { throw new DOMException('Denied.', 'SecurityError'); } };`);
    await page.goto(`${app.url}/graphql`);
    await openTab(page, 'SignUp');
    await run(page);
    await expectAnswer(page, '"tokensAwarded": 10');
    await page.clock.setFixedTime(Date.now() + 14.5 * MINUTE);
    await openTab(page, 'WhoAmI');
    await run(page);
    await expectAnswer(page, '"userType": "HOMEOWNER"');
    expectQuiet(newUser);
  });

  browser.it('says which tab to run first, and sends nothing, if it lacks a token or an ID', async () => {
    newUser = await visit(`${app.url}/graphql`);
    const { page } = newUser;
    await openTab(page, 'PublishJob');
    await run(page);
    await expectAnswer(page, '{{job}} has no value yet. Run the tab CreateJob first.');
    expectQuiet(newUser);
  });
});

browser.describe('The REST reference', () => {
  browser.it('shows the operations, tries one out, and keeps the token from a sign-up', async () => {
    newUser = await visit(`${app.url}/healthz`);
    const { page, picture, complaints } = newUser;
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
    // The browser logs the 401 for the request without a token.
    expect(complaints.filter((text) => !text.includes('status of 401'))).toEqual([]);
    expect([...newUser.origins]).toEqual([app.url]);
  });
});

/** How often these pages have requested a new token. */
function countRenewals(pages: readonly Page[]): () => number {
  let count = 0;
  const onRequest = (request: Request) => (count += new URL(request.url()).pathname === '/v1/auth/refresh' ? 1 : 0);
  for (const page of pages) page.on('request', onRequest);
  return () => count;
}

/** Replaces the page's tokens with expired ones, and reloads it. */
async function expire(page: Page): Promise<void> {
  const key = 'job-marketplace:memory';
  const kept = JSON.parse((await page.evaluate<string | null>(`sessionStorage.getItem('${key}')`)) ?? '{}') as Kept;
  for (const session of Object.values(kept.sessions)) {
    const claims = jwt.decode(session.token) as object;
    const header = jwt.decode(session.token, { complete: true })?.header;
    session.token = jwt.sign({ ...claims, exp: 1 }, JWT_SECRET, { header: header ?? { alg: 'HS256' } });
  }
  kept.changedAt = Number.MAX_SAFE_INTEGER - 1_000;
  await page.evaluate(`sessionStorage.setItem('${key}', ${JSON.stringify(JSON.stringify(kept))})`);
  await page.reload();
}

interface Kept {
  changedAt: number;
  sessions: Record<string, { token: string }>;
}

function expectQuiet({ origins, complaints }: Visit): void {
  expect(complaints).toEqual([]);
  expect([...origins]).toEqual([app.url]);
}
