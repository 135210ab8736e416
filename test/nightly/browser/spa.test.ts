/**
 * Single-page apps as developers write them from docs/clients.md, in Chromium, on another origin than the API. Two tabs
 * share one session, two server instances take turns, and access tokens last three seconds. The network loses a quarter
 * of all responses and cuts a quarter of all streams. Even so, everyone sees the others' changes without a reload.
 * Nobody is logged out or loses their place, and no library prints a warning.
 */
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { readConfig } from '../../../src/app/config.js';
import { isBearer } from '../../../src/market/rules/viewer.js';
import { createAccessTokens } from '../../../src/platform/security/access-token.js';
import { startServer, type RunningServer } from '../../../src/app/server.js';
import { ADMIN, JWT_SECRET, openTestApp, type TestApp } from '../../setup/app.js';
import { needs, programPath } from '../../setup/needs.js';
import { ARGS, takePicture } from '../../browser/chromium.js';
import { openLossyProxy, type LossyProxy } from './lossy-proxy.js';
import { openSite, type Site } from './spa-site.js';

const TOKEN_SECONDS = 3;
const LOST_SHARE = 0.25;
const SEED = 14;
const STORY_MS = 900_000;
const TIMEOUT_MS = 200_000;

let app: TestApp;
let other: TestApp;
let site: Site;
let servers: [RunningServer, RunningServer];
let network: LossyProxy;
let browser: Browser;
let people: Person[] = [];
let lostBefore = 0;

const chromiumThere = needs('chromium');
const lifetime = programPath('chromium') ? { beforeAll, afterAll } : { beforeAll: () => {}, afterAll: () => {} };

lifetime.beforeAll(async () => {
  [app, site] = await Promise.all([openTestApp(), openSite()]);
  other = await openTestApp({}, { sameDatabaseAs: app });
  let turn = 0;
  network = await openLossyProxy(() => servers[(turn += 1) % 2 === 0 ? 0 : 1].url, SEED);
  servers = [await serveWithShortTokens(app), await serveWithShortTokens(other)];
  await site.build(network.url);
  browser = await chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: ARGS });
  network.lose(LOST_SHARE);
});
lifetime.afterAll(async () => {
  await browser?.close();
  await network?.close();
  await Promise.all(servers?.map((server) => server.close()) ?? []);
  await site?.close();
  await other?.close();
  await app?.close();
});
beforeEach(() => {
  lostBefore = lostRenewals();
});
afterEach(async () => {
  await Promise.all(people.map(({ context }) => context.close()));
  people = [];
});

async function serveWithShortTokens({ services }: TestApp): Promise<RunningServer> {
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    BCRYPT_COST: '4',
    RATE_LIMITS: 'off',
    JWT_SECRET,
    CORS_ORIGINS: site.url,
  });
  const accessTokens = createAccessTokens({
    isBearer,
    secret: JWT_SECRET,
    issuer: config.JWT_ISSUER,
    audience: config.JWT_AUDIENCE,
    ttlSeconds: TOKEN_SECONDS,
  });
  return startServer({ ...services, accessTokens }, config);
}

chromiumThere.describe('A single-page app on a network that loses responses', () => {
  chromiumThere.it(
    'takes a job to its approval with Apollo Client',
    async () => {
      const { owner, contractor } = await bringToReview('apollo', 'Anna');
      await step(owner.first, 'APPROVE', 'Well done.', 'COMPLETED');
      await seeStatus([owner.second, contractor.first], 'COMPLETED');
      await expectAllKept();
    },
    STORY_MS,
  );

  chromiumThere.it(
    'takes a dispute through a decision and an appeal with Apollo Client',
    async () => {
      const { owner, contractor } = await bringToReview('apollo', 'Bea');
      await step(owner.second, 'DISPUTE', 'It still rains in.', 'DISPUTED');
      await seeStatus([owner.first, contractor.first], 'DISPUTED');
      await step(contractor.first, 'ESCALATE', 'We do not agree.', 'ESCALATED');
      const admin = await enter('apollo', 'Admin');
      await submit(admin.first, 'Log in', { Email: ADMIN.email, Password: ADMIN.password });
      await admin.first.getByRole('link', { name: `Bea's roof` }).click();
      await takeNotes(admin.first);
      await step(admin.first, 'REACH_DECISION', 'Mend it again.', 'DECISION_REACHED');
      await seeStatus([owner.first, owner.second, contractor.first], 'DECISION_REACHED');
      await step(contractor.first, 'FILE_APPEAL', 'It was dry.', 'APPEALED');
      await seeStatus([admin.first], 'APPEALED');
      await step(admin.first, 'FINALIZE_APPEAL', 'It was not.', 'COMPLETED');
      await seeStatus([owner.first, owner.second, contractor.first], 'COMPLETED');
      await see(owner.first.getByTestId('dispute'), 'FINAL_DECISION');
      await expectAllKept();
    },
    STORY_MS,
  );

  chromiumThere.it(
    'takes a job to its approval with urql and graphcache',
    async () => {
      const { owner, contractor } = await bringToReview('urql', 'Cleo');
      await step(owner.first, 'APPROVE', 'Well done.', 'COMPLETED');
      await seeStatus([owner.second, contractor.first], 'COMPLETED');
      await expectAllKept();
    },
    STORY_MS,
  );
});

chromiumThere.describe('A single-page app that stays open for a long time', () => {
  chromiumThere.it(
    'shows new bids in each tab, despite sleep, a lost network, and a rolling restart',
    async () => {
      const { owner, title } = await publish('apollo', 'Dora');
      const tabs = [owner.first, owner.second];
      await bidOn('apollo', 'Dora’s roofer', title, '900');
      await seeBid(tabs, '900 PENDING');

      const wake = await putToSleep(owner.second);
      network.cut(true);
      network.cut(false);
      await bidByRest(owner.first, 800);
      await seeBid([owner.first], '800 PENDING');
      await wake();
      await seeBid(tabs, '800 PENDING');

      await owner.context.setOffline(true);
      network.cut(true);
      await bidByRest(owner.first, 700);
      await owner.context.setOffline(false);
      network.cut(false);
      await seeBid(tabs, '700 PENDING');

      for (const [at, instance] of [app, other].entries()) {
        const old = servers[at];
        servers[at] = await serveWithShortTokens(instance);
        await old?.close();
        await bidByRest(owner.first, 600 - at);
        await seeBid(tabs, `${600 - at} PENDING`);
      }
      // Each event arrived once, however often it was sent.
      for (const tab of tabs)
        await expect.poll(() => tab.getByTestId('news').textContent(), { timeout: TIMEOUT_MS }).toBe('5');
      await expectAllKept('OPEN');
    },
    STORY_MS,
  );
});

type Client = 'apollo' | 'urql';

/** A user with a separate browser profile, whose tabs share its storage. */
interface Person {
  name: string;
  client: Client;
  context: BrowserContext;
  first: Page;
  second: Page;
  complaints: string[];
}

/** Chromium's own messages about a lost connection. */
const OF_BROWSER = /^(Failed to load resource: net::ERR_|WebSocket connection to )/;

async function enter(client: Client, name: string): Promise<Person> {
  const context = await browser.newContext();
  const complaints: string[] = [];
  context.on('console', (message) => {
    const isOfBrowser = OF_BROWSER.test(message.text());
    if (['warning', 'error'].includes(message.type()) && !isOfBrowser) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  const first = await context.newPage();
  first.setDefaultTimeout(TIMEOUT_MS);
  await first.goto(`${site.url}/${client}.html#/jobs`);
  const person = { name, client, context, first, second: first, complaints };
  people.push(person);
  return person;
}

async function openSecondTab(person: Person): Promise<void> {
  person.second = await person.context.newPage();
  person.second.setDefaultTimeout(TIMEOUT_MS);
  await person.second.goto(person.first.url());
  await see(person.second.getByTestId('who'), person.name);
}

/** An owner with a job open in two tabs. */
async function publish(client: Client, name: string): Promise<{ owner: Person; title: string }> {
  const title = `${name}'s roof`;
  const owner = await enter(client, name);
  await signUp(owner, 'homeowner');
  await see(owner.first.getByTestId('total'), '0');
  const listed = came('Jobs');
  await submit(owner.first, 'Post a job', { Title: title });
  await owner.first.getByRole('link', { name: title }).click();
  // Apollo Client adds the new job's edge to the list. graphcache fetches the list again.
  if (client === 'apollo') expect(came('Jobs')).toBe(listed);
  await openSecondTab(owner);
  await takeNotes(owner.first, owner.second);

  await see(owner.first.getByTestId('tokens'), '10');
  const asked = came('Who');
  await step(owner.first, 'PUBLISH', undefined, 'OPEN');
  // The payload's viewer updates the token balance, so nothing fetches the viewer again.
  await see(owner.first.getByTestId('tokens'), '5');
  expect(came('Who')).toBe(asked);
  await seeStatus([owner.second], 'OPEN');
  return { owner, title };
}

async function bidOn(client: Client, name: string, title: string, amount: string): Promise<Person> {
  const contractor = await enter(client, name);
  await signUp(contractor, 'contractor');
  await contractor.first.getByRole('link', { name: title }).click();
  await takeNotes(contractor.first);
  await submit(contractor.first, 'Bid', { Amount: amount });
  await seeBid([contractor.first], `${amount} PENDING`);
  return contractor;
}

/** Another user bids on the job that is open in this tab, on a reliable network. */
async function bidByRest(page: Page, amount: number): Promise<void> {
  const body = { email: `roofer.${amount}@example.test`, password: 'a password of theirs' };
  const names = { first_name: 'Rhea', last_name: 'Roofer' };
  const { body: session } = await app.rest('POST', '/v1/auth/signup/contractor', { body: { ...body, ...names } });
  const id = new URL(page.url()).hash.replace('#/jobs/', '');
  await app.rest('POST', `/v1/jobs/${id}/bids`, { token: session.token, body: { amount } });
}

/** Freezes the tab, as browsers do with hidden tabs. Nothing in it runs until it's woken. */
async function putToSleep(page: Page): Promise<() => Promise<void>> {
  const browserOfPage = await page.context().newCDPSession(page);
  await browserOfPage.send('Page.setWebLifecycleState', { state: 'frozen' });
  return async () => void (await browserOfPage.send('Page.setWebLifecycleState', { state: 'active' }));
}

async function bringToReview(client: Client, name: string): Promise<{ owner: Person; contractor: Person }> {
  const { owner, title } = await publish(client, name);
  const contractor = await bidOn(client, `${name}'s contractor`, title, '900');
  await seeBid([owner.first, owner.second], '900 PENDING');

  network.loseSuccess('Award', true);
  await submit(owner.second, 'Award', {});
  await seeStatus([owner.first, owner.second, contractor.first], 'AWARDED');
  await step(contractor.first, 'CHECK_IN', 'Here I am.', 'IN_PROGRESS');
  await seeStatus([owner.first, owner.second], 'IN_PROGRESS');
  await seeOldAnswer(owner.second, 'Award');
  await seeStatus([owner.second], 'IN_PROGRESS');
  await step(contractor.first, 'SUBMIT_FOR_REVIEW', 'It is dry.', 'IN_REVIEW');
  await seeStatus([owner.first, owner.second], 'IN_REVIEW');
  return { owner, contractor };
}

/** The response that was lost until now is outdated. After it, the tab fetches the job again. */
async function seeOldAnswer(page: Page, operation: string): Promise<void> {
  let hasCome = false;
  const read = page.waitForResponse((response) => {
    hasCome ||= response.headers()['idempotency-replayed'] === 'true';
    return hasCome && response.request().postData()?.includes('"operationName":"Job"') === true;
  });
  network.loseSuccess(operation, false);
  await read;
}

async function signUp({ first, name }: Person, role: 'homeowner' | 'contractor'): Promise<void> {
  const email = `${name.replaceAll(/\W/g, '.').toLowerCase()}@example.test`;
  const fields = { 'First name': name, Email: email, Password: 'a password of theirs' };
  await submit(first, `Sign up as a ${role}`, fields);
  await see(first.getByTestId('who'), name);
}

async function step(page: Page, action: string, words: string | undefined, status: string): Promise<void> {
  await submit(page, action, words === undefined ? {} : { Words: words });
  await seeStatus([page], status);
}

async function submit(page: Page, name: string, fields: Record<string, string>): Promise<void> {
  const form = page.getByRole('form', { name, exact: true });
  for (const [label, text] of Object.entries(fields)) await form.getByLabel(label).fill(text);
  await form.getByRole('button').click();
}

async function seeStatus(pages: readonly Page[], status: string): Promise<void> {
  for (const page of pages) await see(page.getByTestId('status'), status);
}

async function seeBid(pages: readonly Page[], text: string): Promise<void> {
  for (const page of pages) await see(page.getByRole('list', { name: 'Bids' }), text);
}

async function see(place: ReturnType<Page['locator']>, text: string): Promise<void> {
  await place.filter({ hasText: text }).waitFor();
}

const NOTE = 'Remember the ladder';

async function takeNotes(...pages: readonly Page[]): Promise<void> {
  for (const page of pages) await page.getByLabel('Note to myself').fill(NOTE);
}

function lostRenewals(): number {
  return network?.calls.get('/v1/auth/refresh')?.lost ?? 0;
}

/** The number of requests of this operation. */
function came(operation: string): number {
  return network.calls.get(operation)?.came ?? 0;
}

/** Waits until the response to a token refresh has been lost in this story. Then checks every tab. */
async function expectAllKept(status = 'COMPLETED'): Promise<void> {
  const polling = { timeout: TIMEOUT_MS, interval: 500 };
  const lookAgain = async () => {
    for (const page of new Set(people.flatMap(({ first, second }) => [first, second])))
      await page.getByRole('button', { name: 'Look again' }).click();
    return lostRenewals();
  };
  await expect.poll(lookAgain, polling).toBeGreaterThan(lostBefore);
  for (const { name, first, second, complaints } of people) {
    expect(complaints, name).toEqual([]);
    for (const page of [first, second]) {
      await see(page.getByTestId('who'), name);
      await see(page.getByTestId('status'), status);
      expect(new URL(page.url()).hash, name).toMatch(/^#\/jobs\/job_/);
      expect(await page.getByRole('alert').allTextContents(), name).toEqual([]);
      expect(await page.getByLabel('Note to myself').inputValue(), name).toBe(NOTE);
    }
    await takePicture(first, `spa-${name.replaceAll(/\W+/g, '-')}`);
  }
  const ended = await app.sql`select id from sessions where revoked_at is not null`;
  expect(ended).toEqual([]);
}
