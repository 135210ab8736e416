/**
 * Two tabs of the app of docs/clients.md share a stored session, in Chromium. Both show changes from elsewhere without
 * a reload. If another user logs in, neither tab shows the previous user's data.
 */
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { callRest } from '../../story/calls.js';
import { contractor, homeowner, type Person } from '../../story/cast.js';
import { DRAFT } from '../../story/journey.js';
import { mailboxPage, mailTo } from '../../market/mail/mailbox.js';
import { runLookups } from '../../market/operations/purchases/buyer.js';
import { openReceiver } from '../../market/webhooks/receiver.js';
import { until } from '../../platform/security/until.js';
import { needs, programPath } from '../../setup/needs.js';
import { ARGS } from '../../browser/chromium.js';
import { openSite, type Site } from './spa-site.js';

const TEST_MS = 120_000;

type Role = 'homeowner' | 'contractor';

let app: TestApp;
let site: Site;
let browser: Browser;

const chromiumThere = needs('chromium');
const lifetime = programPath('chromium') ? { beforeAll, afterAll } : { beforeAll: () => {}, afterAll: () => {} };

lifetime.beforeAll(async () => {
  site = await openSite();
  app = await openTestApp({
    CORS_ORIGINS: site.url,
    APP_JOB_URL: `${site.url}/apollo.html#/jobs/{id}`,
    PAYMENTS: 'local',
    WEBHOOKS_ALLOW_PRIVATE: 'on',
  });
  await site.build(app.url);
  browser = await chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: ARGS });
});
lifetime.afterAll(async () => {
  await browser?.close();
  await site?.close();
  await app?.close();
});

for (const client of ['apollo', 'urql'] as const) {
  chromiumThere.describe(`Two tabs of an app with ${client}`, () => {
    chromiumThere.it(
      'show the login form after one of them logs out, and then the user who signs up',
      async () => {
        const { first, second, close } = await twoTabs(client, 'Ella');
        await first.getByRole('button', { name: 'Log out' }).click();
        await second.getByRole('form', { name: 'Log in' }).waitFor();
        await signUp(first, client, 'Finn');
        await seeNothingButOf('Finn', second);
        await close();
      },
      TEST_MS,
    );

    chromiumThere.it(
      'both count a new bid, the list and the email lead to its job, and a click unsubscribes',
      async () => {
        const { first, second, close } = await twoTabs(client, 'Nell');
        const email = `nell.${client}@example.test`;
        await app.sql`update users set email_verified = true where email = ${email}`;
        const job = await publish(first);
        const carl = await contractor(app, 'Carl');
        await callRest(app, 'submitBid', { by: carl, job, body: { amount: 100 } });
        for (const page of [first, second]) await see(page, 'unread', '1');
        await second.getByRole('button', { name: 'Notifications' }).click();
        await second.getByRole('link', { name: 'You have a new bid' }).click();
        await second.waitForURL(`**#/jobs/${job}`);
        await see(second, 'unread', 'none');
        await first.reload();
        await see(first, 'unread', 'none');

        const { id, link } = await mailTo(app, email, 'You have a new bid');
        await first.goto(link.replace('apollo.html', `${client}.html`));
        await first.reload();
        await first.getByRole('heading', { name: DRAFT.title }).waitFor();
        const mail = (await mailboxPage(app)).split(`<article id="${id}">`)[1] ?? '';
        await second.goto(/&quot;([^&]+\/unsubscribe\/[^&]+)&quot;/.exec(mail)?.[1] ?? '');
        await second.getByRole('button', { name: 'Unsubscribe' }).click();
        await second.getByRole('heading', { name: 'You’re unsubscribed' }).waitFor();
        expect(
          await app.sql`select type, channel from notification_settings s join users u on u.id = s.user_id
          where u.email = ${email}`,
        ).toEqual([{ type: 'bid.submitted', channel: 'off' }]);
        await close();
      },
      TEST_MS,
    );

    chromiumThere.it(
      'show a job that matches a saved search, in the list and the notifications, without a reload',
      async () => {
        const { first, open, close } = await signedUp(client, 'Sam', 'contractor');
        const form = first.getByRole('form', { name: 'Save a search' });
        await form.getByLabel('Text').fill(`pergola for ${client}`);
        await form.getByRole('button').click();
        const second = await open();
        for (const page of [first, second]) {
          await page.getByRole('list', { name: 'Saved searches' }).getByText(`pergola for ${client}`).waitFor();
          await page.evaluate('window.isNotReloaded = true');
        }

        const owner = await homeowner(app, 'Olga');
        await publishAs(owner, 'A shed');
        const job = await publishAs(owner, `A pergola for ${client}`);
        for (const page of [first, second]) {
          await page.getByRole('link', { name: `A pergola for ${client}` }).waitFor();
          await see(page, 'unread', '1');
        }
        await second.getByRole('button', { name: 'Notifications' }).click();
        await second.getByRole('link', { name: 'A new job matches your search' }).click();
        await second.waitForURL(`**#/jobs/${job}`);
        await second.getByRole('heading', { name: `A pergola for ${client}` }).waitFor();
        for (const page of [first, second]) expect(await page.evaluate('window.isNotReloaded')).toBe(true);
        await close();
      },
      TEST_MS,
    );

    chromiumThere.it(
      'show that the contractor’s server lost a webhook event, until one of them replays it',
      async () => {
        const { first, open, close } = await signedUp(client, 'Wes', 'contractor');
        const second = await open();
        const token = await tokenOf(first);
        const owner = await homeowner(app, 'Olga');
        const job = await publishAs(owner, 'A porch');
        // Wes's server loses the second event.
        const stored: string[] = [];
        const receiver = await openReceiver(({ body }, response) => {
          if (receiver.received.length !== 2) stored.push(body.data.position);
          response.writeHead(204).end();
        });
        await first
          .context()
          .route(receiver.url, (route) =>
            route.fulfill({ json: stored, headers: { 'access-control-allow-origin': '*' } }),
          );
        await app.rest('POST', '/v1/webhooks', { token, body: { url: receiver.url } });
        await callRest(app, 'submitBid', { by: { token }, job, body: { amount: 100 } });
        await receiver.until(({ length }) => length === 1);
        for (const title of ['A wide porch', 'A narrow porch']) {
          const { length } = receiver.received;
          await callRest(app, 'update', { by: owner, job, body: { title } });
          await receiver.until((received) => received.length === length + 1);
        }
        const [before, lost, after] = receiver.received.map(({ body }) => body.data.position);
        expect(stored).toEqual([before, after]);
        await attempted(after, 1);

        for (const page of [first, second]) {
          await page.getByRole('link', { name: 'Webhooks' }).click();
          await page.getByText(`JOB_UPDATED at ${after}, after ${lost}, sent 1 times`).waitFor();
          await see(page, 'gaps', `Your server lost an event at ${lost}.`);
        }
        await first.getByRole('button', { name: 'Replay' }).click();
        await receiver.until(({ length }) => length === 4);
        expect(receiver.received.map(({ body }) => body.data.position)).toEqual([before, lost, after, lost]);
        await attempted(lost, 2);
        for (const page of [first, second]) {
          await page.getByRole('button', { name: 'Look again' }).click();
          await see(page, 'gaps', 'Your server lost nothing.');
          await page.getByText(`JOB_UPDATED at ${lost}, after ${before}, sent 2 times`).waitFor();
          expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0);
        }
        await close();
        await receiver.close();
      },
      TEST_MS,
    );

    for (const choice of ['Pay', 'Pay later'] as const)
      chromiumThere.it(
        `show a higher balance without a reload after “${choice}”, which publishes the urgent job that was refused`,
        async () => {
          const { first, second, close } = await twoTabs(client, choice === 'Pay' ? 'Olga' : 'Paul');
          const { job } = await draft(first, 'urgent');
          const address = `${site.url}/${client}.html#/jobs/${job}`;
          for (const page of [first, second]) {
            await page.goto(address);
            await see(page, 'tokens', '10');
            await page.evaluate('window.isNotReloaded = true');
          }
          await first.getByRole('button', { name: 'PUBLISH' }).click();
          await first.getByText('You need 30 tokens and have 10.').waitFor();
          await first.getByRole('button', { name: 'Buy 50 tokens for $5.00' }).click();
          await first.getByRole('heading', { name: 'Buy 50 tokens' }).waitFor();
          await first.getByRole('button', { name: choice, exact: true }).click();
          await first.getByText(choice === 'Pay' ? 'You paid' : 'Your payment is on its way').waitFor();
          await first.getByRole('link', { name: 'Go back to the app' }).click();
          await first.waitForURL(address);

          const unpaid = choice === 'Pay' ? [] : [first, second];
          for (const page of unpaid) {
            await see(page, 'tokens', '10');
            await page.evaluate('window.isNotReloaded = true');
          }
          if (choice === 'Pay later') await runLookups(app);
          for (const page of [first, second]) await see(page, 'tokens', '60');
          for (const page of [...unpaid, second]) expect(await page.evaluate('window.isNotReloaded')).toBe(true);
          await first.getByRole('button', { name: 'PUBLISH' }).click();
          for (const page of [first, second]) await see(page, 'status', 'OPEN');
          await see(first, 'tokens', '30');
          expect(
            await app.sql`select p.status, p.tokens, b.balance from purchases p join token_balances b using (user_id)
            join homeowners h using (user_id) join jobs j on j.homeowner_id = h.id where j.id = ${job}`,
          ).toEqual([{ status: 'paid', tokens: 50, balance: 30 }]);
          await close();
        },
        TEST_MS,
      );

    chromiumThere.it(
      'show another user whose session is stored while the tabs are open',
      async () => {
        const { first, second, close } = await twoTabs(client, 'Gina');
        const { userId, token, refreshToken } = await homeowner(app, 'Hugo');
        const stored = JSON.stringify(JSON.stringify({ userId, token, refreshToken }));
        await first.evaluate(`localStorage.setItem('session', ${stored})`);
        await seeNothingButOf('Hugo', second);
        await close();
      },
      TEST_MS,
    );
  });
}

/** A homeowner who has posted a job and sees it in both tabs. */
async function twoTabs(client: string, name: string) {
  const { first, open, close } = await signedUp(client, name, 'homeowner');
  const form = first.getByRole('form', { name: 'Post a job' });
  await form.getByLabel('Title').fill('A gate');
  await form.getByRole('button').click();
  const posted = (page: Page) => page.getByRole('link', { name: 'A gate' }).waitFor();
  // If the second tab opens earlier, it may read the list without the job.
  await posted(first);
  const second = await open();
  await posted(second);
  return { first, second, close };
}

/** A new user with their own browser profile. */
async function signedUp(client: string, name: string, role: Role) {
  const context = await browser.newContext();
  context.setDefaultTimeout(100_000);
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) complaints.push(message.text());
  });
  const open = async () => {
    const page = await context.newPage();
    await page.goto(`${site.url}/${client}.html#/jobs`);
    return page;
  };
  const first = await open();
  await signUp(first, client, name, role);
  const close = async () => {
    await context.close();
    expect(complaints).toEqual([]);
  };
  return { first, open, close };
}

/** Publishes a job as this page's user. */
async function publish(page: Page): Promise<string> {
  const { job, token } = await draft(page, 'standard');
  const published = await callRest(app, 'publish', { by: { token }, job });
  expect(published.status).toBe(200);
  return job;
}

async function publishAs(by: Person, title: string): Promise<string> {
  const { body } = await callRest(app, 'create', { by, body: { ...DRAFT, title } });
  expect((await callRest(app, 'publish', { by, job: body.id })).status).toBe(200);
  return body.id;
}

/** The receiver gets an event before the attempt is recorded. */
async function attempted(position: string, times: number): Promise<void> {
  const attempts = () =>
    app.sql`select from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
      where d.position = ${position}`;
  await until(async () => (await attempts()).length === times);
}

async function draft(page: Page, urgency: string): Promise<{ job: string; token: string }> {
  const token = await tokenOf(page);
  const { body } = await app.rest('POST', '/v1/jobs', { token, body: { ...DRAFT, urgency } });
  return { job: body.id, token };
}

async function tokenOf(page: Page): Promise<string> {
  const stored = await page.evaluate<string>(`localStorage.getItem('session')`);
  return (JSON.parse(stored) as { token: string }).token;
}

async function signUp(page: Page, client: string, name: string, role: Role = 'homeowner'): Promise<void> {
  const form = page.getByRole('form', { name: `Sign up as a ${role}` });
  await form.getByLabel('First name').fill(name);
  await form.getByLabel('Email').fill(`${name}.${client}@example.test`);
  await form.getByLabel('Password').fill('a password of theirs');
  await form.getByRole('button').click();
  await see(page, 'who', name);
}

async function seeNothingButOf(name: string, page: Page): Promise<void> {
  await see(page, 'who', name);
  await see(page, 'total', '0');
  expect(await page.getByRole('link', { name: 'A gate' }).count()).toBe(0);
}

async function see(page: Page, id: string, text: string): Promise<void> {
  await page.getByTestId(id).filter({ hasText: text }).waitFor();
}
