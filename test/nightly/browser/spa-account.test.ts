/**
 * Account recovery in the app of docs/clients.md, in Chromium: a forgotten password, the confirmation of an email, and
 * sessions that another device ends. The links come from real emails.
 */
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { homeowner } from '../../story/cast.js';
import { mailTo } from '../../market/mail/mailbox.js';
import { needs, programPath } from '../../setup/needs.js';
import { ARGS } from '../../browser/chromium.js';
import { openSite, type Site } from './spa-site.js';

const TEST_MS = 60_000;

let app: TestApp;
let site: Site;
let browser: Browser;
let contexts: BrowserContext[] = [];

const chromiumThere = needs('chromium');
const lifetime = programPath('chromium')
  ? { beforeAll, afterAll, afterEach }
  : { beforeAll: () => {}, afterAll: () => {}, afterEach: () => {} };

lifetime.beforeAll(async () => {
  site = await openSite();
  app = await openTestApp({
    CORS_ORIGINS: site.url,
    APP_RESET_URL: `${site.url}/apollo.html#/reset-password/{token}`,
    APP_VERIFY_URL: `${site.url}/apollo.html#/verify-email/{token}`,
  });
  await site.build(app.url);
  browser = await chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: ARGS });
});
lifetime.afterEach(async () => {
  await Promise.all(contexts.map((context) => context.close()));
  contexts = [];
});
lifetime.afterAll(async () => {
  await browser?.close();
  await site?.close();
  await app?.close();
});

for (const client of ['apollo', 'urql'] as const) {
  const pageOf = (link: string) => link.replace('apollo.html', `${client}.html`);
  const home = () => `${site.url}/${client}.html`;

  chromiumThere.describe(`An app with ${client}`, () => {
    chromiumThere.it(
      'lets a user reset a forgotten password with a link that works once',
      async () => {
        const hanna = await homeowner(app, 'Hanna');
        const page = await visit(home());
        await submit(page, 'Send me a link', { Email: hanna.email });
        await page.getByRole('status').waitFor();
        const { link } = await mailTo(app, hanna.email, 'Set a new password');
        await page.goto(pageOf(link));
        // It's the same page. Only the part after # has changed.
        await page.reload();
        await submit(page, 'Set the password', { 'New password': 'another good password' });
        await submit(page, 'Log in', { Email: hanna.email, Password: 'another good password' });
        await see(page, 'who', 'Hanna');

        const late = await visit(pageOf(link));
        await submit(late, 'Set the password', { 'New password': 'a third good password' });
        await late.getByRole('alert').filter({ hasText: 'This link was already used' }).waitFor();
        await late.getByRole('form', { name: 'Send me a link' }).waitFor();
      },
      TEST_MS,
    );

    chromiumThere.it(
      'confirms an email with a click on its own page, and then hides the hint',
      async () => {
        const email = `olga.${client}@example.test`;
        const page = await visit(home());
        await submit(page, 'Sign up as a homeowner', {
          'First name': 'Olga',
          Email: email,
          Password: 'a password of theirs',
        });
        await page.getByTestId('unconfirmed').waitFor();
        await submit(page, 'Send the link again', {});
        const { link } = await mailTo(app, email, 'Confirm your email address', 2);
        await page.goto(pageOf(link));
        await page.reload();
        await submit(page, 'Confirm my email', {});
        await see(page, 'who', 'Olga');
        expect(await page.getByTestId('unconfirmed').count()).toBe(0);
      },
      TEST_MS,
    );

    chromiumThere.it(
      'shows the login form in each tab after another device has ended the session',
      async () => {
        const { email, password } = await homeowner(app, 'Ida');
        const laptop = await visit(home());
        await submit(laptop, 'Log in', { Email: email, Password: password });
        await see(laptop, 'who', 'Ida');
        const tab = await laptop.context().newPage();
        await tab.goto(`${home()}#/logins`);
        await tab.getByText('here', { exact: true }).waitFor();
        const phone = await visit(home());
        await submit(phone, 'Log in', { Email: email, Password: password });
        await phone.getByRole('link', { name: 'Logins' }).click();
        // One of the two other sessions belongs to the test itself.
        await phone.getByRole('button', { name: 'End this one' }).nth(1).waitFor();
        await phone.getByRole('button', { name: 'End all others' }).click();
        for (const ended of [laptop, tab]) await ended.getByRole('form', { name: 'Log in' }).waitFor();
        await phone.getByText('here', { exact: true }).waitFor();
        expect(await phone.getByRole('button', { name: 'End this one' }).count()).toBe(0);

        await submit(laptop, 'Log in', { Email: email, Password: password });
        await see(laptop, 'who', 'Ida');
        await phone.reload();
        await phone.getByRole('button', { name: 'End this one' }).click();
        await laptop.getByRole('form', { name: 'Log in' }).waitFor();
      },
      TEST_MS,
    );
  });
}

/** A separate browser profile. */
async function visit(url: string): Promise<Page> {
  const context = await browser.newContext();
  context.setDefaultTimeout(30_000);
  contexts.push(context);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

async function submit(page: Page, name: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const form = page.getByRole('form', { name });
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label).fill(value);
  await form.getByRole('button').click();
}

async function see(page: Page, id: string, text: string): Promise<void> {
  await page.getByTestId(id).filter({ hasText: text }).waitFor();
}
