/** axe-core finds nothing on any page, light or dark, wide or narrow. */
import { source } from 'axe-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { unsubscribeLink } from '../../../src/market/mail/unsubscribe.js';
import { newId } from '../../../src/market/store/new-id.js';
import { createLinkTokens } from '../../../src/platform/security/link-tokens.js';
import { JWT_SECRET, MAILBOX_SECRET, openTestApp, type TestApp } from '../../setup/app.js';
import { needs } from '../../setup/needs.js';
import { homeowner } from '../../story/cast.js';
import { closeBrowser, visit, type Visit } from '../../browser/chromium.js';
import { mailTo } from '../../market/mail/mailbox.js';
import { bought, OWN_APP } from '../../market/operations/purchases/buyer.js';

const browser = needs('chromium');
let app: TestApp;
let visitor: Visit;
/** A checkout page's path, by what its buyer chose there. */
const checkouts = new Map<string, string>();
beforeAll(async () => {
  app = await openTestApp({ PAYMENTS: 'local', ...OWN_APP });
  const hanna = await homeowner(app, 'Hanna');
  for (const choice of ['nothing', 'pay', 'later', 'fail']) {
    const path = `/checkout/${await bought(app, hanna)}`;
    await fetch(app.url + path, { method: 'POST', body: new URLSearchParams({ choice }) });
    checkouts.set(choice, path);
  }
  await mailTo(app, hanna.email, 'Confirm your email address');
});
afterAll(async () => {
  await closeBrowser();
  await app.close();
});
afterEach(() => visitor?.close());

const BIDS_OFF = { userId: newId('user'), role: 'homeowner', types: ['bid.submitted', 'bid.withdrawn'] } as const;

/** Each page, and what shows that it is complete. */
const PAGES: readonly (readonly [name: string, path: string, element: string])[] = [
  ['front', '/', '.call button'],
  ['playground', '/graphql', '.graphiql-query-editor .view-line'],
  ['reference', '/v1/docs', '.opblock'],
  ['reference-operation', '/v1/docs#createJob', '#operations-Jobs-createJob .responses-inner'],
  ['reference-conventions', '/v1/docs#conventions', '.information-container'],
  ['lifecycle', '/lifecycle', '#yours'],
  ['mailbox', '/mailbox', 'main'],
  ['reset-password', '/reset-password', '#without-link'],
  ['verify-email', '/verify-email', '#outcome'],
  ['undo-email-change', '/undo-email-change#token=x', '#with-link'],
  ['unsubscribe', unsubscribeLink(createLinkTokens(JWT_SECRET), '', BIDS_OFF), 'button'],
  ['unsubscribe-unknown-link', '/unsubscribe/x', 'main'],
  ['checkout', '{nothing}', 'button'],
  ['checkout-paid', '{pay}', '[role="status"]'],
  ['checkout-paying-later', '{later}', '[role="status"]'],
  ['checkout-failed', '{fail}', '[role="status"]'],
  ['not-found', '/nothing-here', 'main'],
];

for (const colorScheme of ['light', 'dark'] as const)
  for (const [name, path, element] of PAGES)
    browser.it(
      `axe-core finds nothing on the page “${name}”, ${colorScheme}, 1920, 1280 or 400 pixels wide`,
      async () => {
        visitor = await visit(`${app.url}/mailbox?secret=${MAILBOX_SECRET}`);
        const { page, picture } = visitor;
        await page.emulateMedia({ colorScheme });
        await page.goto(app.url + path.replace(/^{(\w+)}$/, (_whole, choice) => checkouts.get(choice) ?? ''));
        await page.locator(element).first().waitFor();
        for (const width of [1920, 1280, 400]) {
          await page.setViewportSize({ width, height: 860 });
          expect(await page.evaluate('document.documentElement.scrollWidth'), `${width}`).toBe(width);
          await page.evaluate(source);
          expect(await page.evaluate(FINDINGS), `${width}`).toEqual([]);
          await picture(`axe-${name}-${colorScheme}-${width}`);
        }
      },
    );

const FINDINGS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => [id, target.join(' '), html])))`;
