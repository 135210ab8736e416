/**
 * The reference page with the real document: it has every operation, and they open without an error on the console.
 */
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { ROUTES } from '../../../src/rest/routes.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { needs } from '../../setup/needs.js';
import { closeBrowser, visit, type Visit } from '../../browser/chromium.js';

const browser = needs('chromium');

let app: TestApp;
let reader: Visit;
beforeAll(async () => {
  app = await openTestApp({ PAYMENTS: 'local' });
});
afterAll(async () => {
  await closeBrowser();
  await app.close();
});
afterEach(() => reader?.close());

browser.describe('The REST reference', () => {
  browser.it('shows every operation, and opens one of each kind with its responses and errors', async () => {
    reader = await visit(`${app.url}/v1/docs`);
    const { page, picture, complaints, origins } = reader;
    const operations = page.locator('.opblock-tag-section .opblock');
    await operations.first().waitFor();
    expect(await operations.count()).toBe(ROUTES.length);
    await picture('reference-operations');
    for (const section of await page.locator('.opblock-tag-section').all()) {
      const operation = section.locator('.opblock').first();
      await toggle(operation);
      expect(await operation.locator('.response-col_status').allTextContents()).toEqual(
        expect.arrayContaining(['400', '429']),
      );
      // With all of them open, the page is slow.
      await toggle(operation);
    }
    const award = page.locator('.opblock', { has: page.locator('[data-path="/v1/jobs/{id}/award"]') });
    await toggle(award);
    await award.locator('.responses-inner').scrollIntoViewIfNeeded();
    await picture('reference-award');
    expect(await page.locator('.errors-wrapper').count()).toBe(0);
    expect(await page.getByText(/Could not resolve reference/).count()).toBe(0);
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([app.url]);
  });

  browser.it(
    'opens on the operations, with a sidebar that finds and opens them, and the preface behind a link',
    async () => {
      reader = await visit(`${app.url}/v1/docs`);
      const { page, complaints } = reader;
      await page.locator('.opblock').first().waitFor();
      const preface = page.locator('.information-container');
      expect(await preface.isVisible()).toBe(false);
      expect((await page.locator('.opblock').first().boundingBox())?.y).toBeLessThan(400);
      const menu = page.getByRole('navigation', { name: 'Operations' });
      expect(await menu.locator('details a').count()).toBe(ROUTES.length);
      await page.getByLabel('Search operations').fill('award');
      const award = menu.getByRole('link', { name: 'Award a job' });
      await expect.poll(() => menu.locator('details a:visible').allTextContents()).toContain('Award a jobPOST');
      expect(await menu.getByRole('link', { name: 'Create a job' }).isVisible()).toBe(false);
      await award.click();
      await page.locator('#operations-Jobs-awardJob .responses-inner').waitFor();
      expect(await award.getAttribute('aria-current')).toBe('true');
      await page.getByRole('link', { name: 'Read the conventions' }).click();
      await preface.getByText('Input.').waitFor();
      expect(await page.locator('.opblock').first().isVisible()).toBe(false);
      expect(complaints).toEqual([]);
    },
  );

  browser.it('follows the system’s light or dark colors', async () => {
    reader = await visit(`${app.url}/v1/docs`);
    const { page, picture } = reader;
    await page.locator('.opblock').first().waitFor();
    const backgrounds = new Set<string>();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => page.locator('html.dark-mode').count()).toBe(colorScheme === 'dark' ? 1 : 0);
      backgrounds.add(await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor'));
      await picture(`reference-${colorScheme}`);
    }
    expect(backgrounds.size).toBe(2);
  });

  browser.it('runs its unchanged samples repeatedly', async () => {
    reader = await visit(`${app.url}/v1/docs`);
    const { page, complaints } = reader;
    await page.locator('.opblock').first().waitFor();
    for (const [path, method, status] of [
      ['/v1/auth/signup/homeowner', 'post', 201],
      ['/v1/auth/signup/homeowner', 'post', 201],
      ['/v1/auth/login', 'post', 200],
      ['/v1/jobs', 'post', 201],
      ['/v1/jobs/{id}', 'get', 200],
      ['/v1/jobs/{id}/publish', 'post', 200],
      ['/v1/auth/signup/contractor', 'post', 201],
      ['/v1/jobs/{id}/bids', 'post', 201],
      ['/v1/auth/login', 'post', 200],
      ['/v1/jobs/{id}/award', 'post', 200],
      ['/v1/purchases', 'post', 201],
    ] as const) {
      const operation = page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) });
      if (!(await operation.locator('.responses-inner').isVisible())) await toggle(operation);
      const answered = page.waitForResponse((response) => response.request().method() === method.toUpperCase());
      await operation.locator('.execute').click();
      const answer = await answered;
      expect([path, answer.status(), await answer.text()]).toEqual([path, status, expect.anything()]);
      await operation.locator('.curl-command').waitFor();
      await toggle(operation);
    }
    expect(complaints).toEqual([]);
  });
});

async function toggle(operation: Locator): Promise<void> {
  const open = await operation.locator('.responses-inner').isVisible();
  await operation.locator('.opblock-summary-control').click();
  await operation.locator('.responses-inner').waitFor({ state: open ? 'hidden' : 'visible' });
}
