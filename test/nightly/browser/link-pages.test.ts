/** The server's own pages behind links in emails, in a real Chromium. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { homeowner } from '../../story/cast.js';
import { closeBrowser, visit, type Visit } from '../../browser/chromium.js';
import { mailTo } from '../../market/mail/mailbox.js';
import { needs } from '../../setup/needs.js';

const browser = needs('chromium');
let app: TestApp;
let reader: Visit;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(async () => {
  await closeBrowser();
  await app.close();
});
afterEach(() => reader?.close());

/** Opens a link as scanners for harmful links do. */
async function scan(link: string): Promise<void> {
  for (let time = 0; time < 10; time += 1)
    for (const method of ['HEAD', 'GET']) expect((await fetch(link, { method })).status).toBe(200);
}

async function lookAtBoth({ page, picture }: Visit, name: string): Promise<void> {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await picture(`${name}-${width}`);
  }
}

async function outcomeOf({ page }: Visit, text: string): Promise<void> {
  await page.locator('#outcome').filter({ hasText: text }).waitFor();
}

browser.describe('A link in an email', () => {
  browser.it(
    'sets a password once, even after scanners opened it twenty times, and then offers another link',
    async () => {
      const hanna = await homeowner(app, 'Hanna');
      await app.rest('POST', '/v1/auth/password-reset', { body: { email: hanna.email } });
      const { link } = await mailTo(app, hanna.email, 'Set a new password');
      await scan(link);
      for (const time of ['first', 'second']) {
        reader = await visit(link);
        const { page, origins, picture } = reader;
        await page.getByLabel('New password').fill(`the ${time} password`);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          for (const width of [360, 1280]) {
            await page.setViewportSize({ width, height: 800 });
            await picture(`reset-password-${colorScheme}-${width}`);
          }
        }
        await page.getByRole('button', { name: 'Set the password' }).click();
        if (time === 'second') {
          await outcomeOf(reader, 'This link was already used');
          await page.getByLabel('Email').fill(hanna.email);
          await page.getByRole('button', { name: 'Send me a link' }).click();
        }
        await page.locator('#outcome:not(.bad)').filter({ hasText: /\w/ }).waitFor();
        expect([...origins]).toEqual([app.url]);
        await reader.close();
      }
      const logIn = (password: string) =>
        app.rest('POST', '/v1/auth/login', { body: { email: hanna.email, password } });
      expect([(await logIn('the first password')).status, (await logIn('the second password')).status]).toEqual([
        200, 401,
      ]);
      const second = await mailTo(app, hanna.email, 'Set a new password', 2);
      reader = await visit(`${app.url}/reset-password`);
      await reader.page.getByLabel('Email').waitFor();
      await reader.page.goto(second.link);
      await reader.page.getByLabel('New password').fill('the second password');
      await reader.page.getByRole('button', { name: 'Set the password' }).click();
      await outcomeOf(reader, 'The password was changed.');
    },
  );

  browser.it('says what to do if its page’s script doesn’t load', async () => {
    reader = await visit(`${app.url}/healthz`);
    await reader.context.route('**/links.js', (route) => route.abort());
    await reader.page.goto(`${app.url}/reset-password#token=x`);
    await outcomeOf(reader, 'turn on JavaScript or reload the page');
    await reader.context.unroute('**/links.js');
    await reader.page.reload();
    await reader.page.getByLabel('New password').waitFor();
    expect(await reader.page.locator('#outcome').textContent()).toBe('');
  });

  browser.it(
    'confirms an address and takes an account back; an incomplete one says so, and offers no new password',
    async () => {
      const olga = await homeowner(app, 'Olga');
      reader = await visit((await mailTo(app, olga.email, 'Confirm your email address')).link);
      await reader.page.getByRole('button', { name: 'Confirm' }).click();
      await outcomeOf(reader, `${olga.email} is confirmed`);
      await lookAtBoth(reader, 'verify-email-done');
      await reader.page.getByRole('link', { name: 'Continue to Job Marketplace' }).waitFor();
      await reader.close();
      const body = { email: 'olga.new@example.test', current_password: olga.password };
      await app.rest('POST', '/v1/me/email', { token: olga.token, body });
      reader = await visit((await mailTo(app, body.email, 'Confirm your new email address')).link);
      await reader.page.getByRole('button', { name: 'Confirm' }).click();
      await reader.page.locator('#outcome:not(.bad)').filter({ hasText: /\w/ }).waitFor();
      await reader.close();
      const { link } = await mailTo(app, olga.email, 'Your account’s email address was changed');
      await scan(link);
      reader = await visit(link);
      await lookAtBoth(reader, 'undo-email-change');
      await reader.page.getByRole('button', { name: 'Take my account back' }).click();
      await reader.page.locator('#outcome:not(.bad)').filter({ hasText: /\w/ }).waitFor();
      await lookAtBoth(reader, 'undo-email-change-done');
      await reader.page.getByRole('link', { name: 'Request another link' }).waitFor();
      expect((await app.sql`select email from users where id = ${olga.userId}`)[0]?.email).toBe(olga.email);
      await reader.close();
      reader = await visit(link);
      await reader.page.getByRole('button', { name: 'Take my account back' }).click();
      await outcomeOf(reader, 'This link was already used');
      await lookAtBoth(reader, 'undo-email-change-used');
      await reader.page.getByRole('link', { name: 'Set a new password' }).click();
      await reader.page.getByRole('button', { name: 'Send me a link' }).waitFor();
      await reader.close();
      reader = await visit(`${app.url}/verify-email`);
      await outcomeOf(reader, 'This link is incomplete');
      expect(await reader.page.getByRole('button').count()).toBe(0);
      await reader.page.getByRole('link', { name: 'Continue to Job Marketplace' }).waitFor();
      expect(reader.complaints).toEqual([]);
    },
  );

  browser.it(
    'to an address that another account took names the next step, and works after a reload once the address is free',
    async () => {
      const otto = await homeowner(app, 'Otto');
      const rival = await homeowner(app, 'Rival');
      const giveRival = (email: string) => app.sql`update users set email = ${email} where id = ${rival.userId}`;
      const { token } = await mailTo(app, otto.email, 'Confirm your email address');
      expect((await app.rest('POST', '/v1/auth/verify-email', { body: { token } })).status).toBe(200);
      const body = { email: 'otto.new@example.test', current_password: otto.password };
      await app.rest('POST', '/v1/me/email', { token: otto.token, body });
      const change = await mailTo(app, body.email, 'Confirm your new email address');
      const useTwice = async (link: string, address: string, button: string, nextStep: string) => {
        await giveRival(address);
        reader = await visit(link);
        await reader.page.getByRole('button', { name: button }).click();
        await outcomeOf(reader, 'The email already belongs to an account.');
        await reader.page.locator('#refused').filter({ hasText: nextStep }).waitFor();
        expect(await reader.page.getByRole('button').count()).toBe(0);
        await lookAtBoth(reader, `${new URL(link).pathname.slice(1)}-taken`);
        await giveRival(rival.email);
        await reader.page.reload();
        await reader.page.getByRole('button', { name: button }).click();
        await reader.page.locator('#outcome:not(.bad)').filter({ hasText: /\w/ }).waitFor();
        expect((await app.sql`select email from users where id = ${otto.userId}`)[0]?.email).toBe(address);
        await reader.close();
      };
      await useTwice(change.link, body.email, 'Confirm', 'choose another address in your account');
      const undo = await mailTo(app, otto.email, 'Your account’s email address was changed');
      await useTwice(undo.link, otto.email, 'Take my account back', 'contact our support team');
    },
  );
});
