/**
 * Single-page apps as their developers write them from schema/clients.md, on another origin than the API, in a real
 * Chromium: two tabs share one session, access tokens last three seconds, and the network loses a quarter of all
 * answers. Whatever happens, nobody is signed out, nobody loses their place, and no library warns on the console.
 */
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { readConfig } from '../../src/config.js';
import { createAccessTokens } from '../../src/security/access-token.js';
import { startServer, type RunningServer } from '../../src/server.js';
import { ADMIN, JWT_SECRET, openTestApp, type TestApp } from '../app.js';
import { needs, programPath } from '../needs.js';
import { ARGS, takePicture } from './chromium.js';
import { openLossyProxy, type LossyProxy } from './lossy-proxy.js';
import { openSite, type Site } from './spa-site.js';

const TOKEN_SECONDS = 3;
const LOST_SHARE = 0.25;
const SEED = 14;
const STORY_MS = 300_000;
const PATIENCE_MS = 60_000;

let app: TestApp;
let site: Site;
let server: RunningServer;
let network: LossyProxy;
let browser: Browser;
let people: Person[] = [];

const chromiumThere = needs('chromium');
const lifetime = programPath('chromium') ? { beforeAll, afterAll } : { beforeAll: () => {}, afterAll: () => {} };

lifetime.beforeAll(async () => {
  [app, site] = await Promise.all([openTestApp(), openSite()]);
  network = await openLossyProxy(() => server.url, SEED);
  server = await serveWithShortTokens();
  await site.build(network.url);
  browser = await chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: ARGS });
  network.lose(LOST_SHARE);
});
lifetime.afterAll(async () => {
  await browser?.close();
  await network?.close();
  await server?.close();
  await site?.close();
  await app?.close();
});
afterEach(async () => {
  await Promise.all(people.map(({ context }) => context.close()));
  people = [];
});

async function serveWithShortTokens(): Promise<RunningServer> {
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    BCRYPT_COST: '4',
    RATE_LIMITS: 'off',
    JWT_SECRET,
    CORS_ORIGINS: site.url,
  });
  const accessTokens = createAccessTokens({
    secret: JWT_SECRET,
    issuer: config.JWT_ISSUER,
    audience: config.JWT_AUDIENCE,
    ttlSeconds: TOKEN_SECONDS,
  });
  return startServer({ ...app.services, accessTokens }, config);
}

chromiumThere.describe('A single-page app on a network that loses answers', () => {
  chromiumThere.it(
    'walks from a job to its approval with Apollo Client',
    async () => {
      const { owner, contractor } = await walkToReview('apollo', 'Anna');
      await step(owner.first, 'APPROVE', 'Well done.', 'COMPLETED');
      await seeStatus([owner.second, contractor.first], 'COMPLETED');
      await expectAllKept();
    },
    STORY_MS,
  );

  chromiumThere.it(
    'walks from a dispute over a decision and an appeal to its end with Apollo Client',
    async () => {
      const { owner, contractor } = await walkToReview('apollo', 'Bea');
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
    'walks from a job to its approval with urql and graphcache',
    async () => {
      const { owner, contractor } = await walkToReview('urql', 'Cleo');
      await step(owner.first, 'APPROVE', 'Well done.', 'COMPLETED');
      await seeStatus([owner.second, contractor.first], 'COMPLETED');
      await expectAllKept();
    },
    STORY_MS,
  );
});

type Client = 'apollo' | 'urql';

/** Somebody with a browser profile of their own, whose tabs share what it stores. */
interface Person {
  name: string;
  client: Client;
  context: BrowserContext;
  first: Page;
  second: Page;
  complaints: string[];
}

async function enter(client: Client, name: string): Promise<Person> {
  const context = await browser.newContext();
  const complaints: string[] = [];
  context.on('console', (message) => {
    const isOfBrowser = message.text().startsWith('Failed to load resource: net::ERR_EMPTY_RESPONSE');
    if (['warning', 'error'].includes(message.type()) && !isOfBrowser) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  const first = await context.newPage();
  first.setDefaultTimeout(PATIENCE_MS);
  await first.goto(`${site.url}/${client}.html#/jobs`);
  const person = { name, client, context, first, second: first, complaints };
  people.push(person);
  return person;
}

async function openSecondTab(person: Person): Promise<void> {
  person.second = await person.context.newPage();
  person.second.setDefaultTimeout(PATIENCE_MS);
  await person.second.goto(person.first.url());
  await see(person.second.getByTestId('who'), person.name);
}

async function walkToReview(client: Client, name: string): Promise<{ owner: Person; contractor: Person }> {
  const title = `${name}'s roof`;
  const owner = await enter(client, name);
  await signUp(owner, 'homeowner');
  await see(owner.first.getByTestId('total'), '0');
  const listed = came('Jobs');
  await submit(owner.first, 'Post a job', { Title: title });
  await owner.first.getByRole('link', { name: title }).click();
  // Apollo Client puts the new job's edge into the list; graphcache is told to read the list again.
  if (client === 'apollo') expect(came('Jobs')).toBe(listed);
  await openSecondTab(owner);
  await takeNotes(owner.first, owner.second);

  await see(owner.first.getByTestId('tokens'), '10');
  const asked = came('Who');
  await step(owner.first, 'PUBLISH', undefined, 'OPEN');
  // The payload's viewer brings the tokens up to date: nobody asks who they are again.
  await see(owner.first.getByTestId('tokens'), '5');
  expect(came('Who')).toBe(asked);
  await seeStatus([owner.second], 'OPEN');

  const contractor = await enter(client, `${name}'s contractor`);
  await signUp(contractor, 'contractor');
  await contractor.first.getByRole('link', { name: title }).click();
  await takeNotes(contractor.first);
  await submit(contractor.first, 'Bid', { Amount: '900' });
  await see(contractor.first.getByRole('list', { name: 'Bids' }), '900 PENDING');

  await submit(owner.second, 'Award', {});
  await seeStatus([owner.first, owner.second, contractor.first], 'AWARDED');
  await step(contractor.first, 'CHECK_IN', 'Here I am.', 'IN_PROGRESS');
  await step(contractor.first, 'SUBMIT_FOR_REVIEW', 'It is dry.', 'IN_REVIEW');
  await seeStatus([owner.first, owner.second], 'IN_REVIEW');
  return { owner, contractor };
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

async function see(place: ReturnType<Page['locator']>, text: string): Promise<void> {
  await place.filter({ hasText: text }).waitFor();
}

const NOTE = 'Remember the ladder';

async function takeNotes(...pages: readonly Page[]): Promise<void> {
  for (const page of pages) await page.getByLabel('Note to myself').fill(NOTE);
}

/** How many requests of this operation came. */
function came(operation: string): number {
  return network.calls.get(operation)?.came ?? 0;
}

/** Waits until tokens have been renewed with answers lost on the way, and looks at every tab then. */
async function expectAllKept(): Promise<void> {
  const { lost } = network.calls.get('/v1/auth/refresh') ?? { lost: 0 };
  const patience = { timeout: PATIENCE_MS };
  await expect.poll(() => network.calls.get('/v1/auth/refresh')?.lost ?? 0, patience).toBeGreaterThan(lost + 1);
  const polls = came('Job');
  await expect.poll(() => came('Job'), patience).toBeGreaterThan(polls + 5);
  for (const { name, first, second, complaints } of people) {
    expect(complaints, name).toEqual([]);
    for (const page of [first, second]) {
      await see(page.getByTestId('who'), name);
      await see(page.getByTestId('status'), 'COMPLETED');
      expect(new URL(page.url()).hash, name).toMatch(/^#\/jobs\/job_/);
      expect(await page.getByRole('alert').allTextContents(), name).toEqual([]);
      expect(await page.getByLabel('Note to myself').inputValue(), name).toBe(NOTE);
    }
    await takePicture(first, `spa-${name.replaceAll(/\W+/g, '-')}`);
  }
  const ended = await app.sql`select id from sessions where revoked_at is not null`;
  expect(ended).toEqual([]);
}
