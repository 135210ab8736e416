/** The lifecycle page in a real Chromium: the picture, its descriptions, and the state of a job. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { JOB_TRANSITIONS } from '../../../src/market/rules/lifecycle.js';
import { JOB_STATES } from '../../../src/market/rules/states.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { needs } from '../../setup/needs.js';
import { closeBrowser, visit, type Visit } from '../../browser/chromium.js';
import { expectAnswer, expectOpen, openTab, run } from '../../browser/playground-acts.js';

const browser = needs('chromium');
const HANNA = { email: 'hanna@example.test', password: 'Hanna has a password' };

let app: TestApp;
let visitor: Visit;
let tap: string;
let fence: string;

beforeAll(async () => {
  app = await openTestApp();
  const { body } = await app.rest('POST', '/v1/auth/signup/homeowner', {
    body: { ...HANNA, first_name: 'Hanna', last_name: 'Home' },
  });
  tap = await post(body.token, 'Repair the tap', { category: 'plumbing', address_line1: '12 Elm Street' });
  fence = await post(body.token, 'Paint the fence', {});
  await app.rest('POST', `/v1/jobs/${tap}/publish`, { token: body.token });
});
afterAll(async () => {
  await closeBrowser();
  await app.close();
});
afterEach(() => visitor?.close());

async function post(token: string, title: string, more: object): Promise<string> {
  const job = { title, description: 'Soon.', urgency: 'standard', city: 'Austin', state: 'TX', ...more };
  return (await app.rest('POST', '/v1/jobs', { token, body: job })).body.id;
}

browser.describe('The page of the lifecycle', () => {
  for (const width of [1920, 1280, 400])
    browser.it(`shows the whole picture legibly in a window ${width} pixels wide, light and dark`, async () => {
      visitor = await visit(`${app.url}/healthz`);
      const { page, picture } = visitor;
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${app.url}/lifecycle`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await picture(`lifecycle-${width}-${colorScheme}`);
      }
      expect(await page.locator('svg .state').count()).toBe(JOB_STATES.length);
      for (const { action } of Object.values(JOB_TRANSITIONS))
        expect(await page.locator(`svg [data-step="${action.toLowerCase()}"]`).count(), action).toBe(1);
      expect(await textsOutside(page)).toEqual([]);
      expect(await outOfSight(page)).toEqual([]);
      expect(await smallestText(page)).toBeGreaterThanOrEqual(9);
      const { y, height } = (await page.locator('.picture svg').boundingBox()) ?? { y: 0, height: Infinity };
      expect(y + height).toBeLessThanOrEqual(800);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expectQuiet();
    });

  browser.it('describes the selected state or step, by mouse and by keyboard', async () => {
    visitor = await visit(`${app.url}/lifecycle`);
    const { page, picture } = visitor;
    const places = () =>
      page.evaluate(`JSON.stringify(['svg', '#words', '#yours', '#steps'].map((name) =>
          document.querySelector(name).getBoundingClientRect()))`);
    const before = await places();
    await page.locator('[data-step="publish"] .name').hover();
    await see(page, '#words', '5 tokens for standard urgency');
    expect(await places()).toBe(before);
    await page.locator('[data-state="escalated"]').focus();
    await see(page, '#words', 'Waiting for an admin’s decision.');
    await page.keyboard.press('Shift+Tab');
    await see(page, '#words', 'disputed');
    await picture('lifecycle-words');
    expect(await page.getByRole('row', { name: 'file appeal' }).textContent()).toContain('the awarded contractor');
    expectQuiet();
  });

  browser.it('on a phone, keeps the tapped element in view, above the text about it', async () => {
    visitor = await visit(`${app.url}/lifecycle`);
    const { page, picture } = visitor;
    await page.setViewportSize({ width: 400, height: 800 });
    expect(await topOf(page, '#words')).toBeGreaterThan(await bottomOf(page, '.picture svg'));
    for (const [name, place] of Object.entries({
      draft: '[data-state="draft"]',
      approve: '[data-step="approve"] .name',
      completed: '[data-state="completed"]',
    })) {
      await page.locator(place).click();
      await see(page, '#words th', name);
      expect(await bottomOf(page, place), place).toBeLessThanOrEqual(await topOf(page, '#words'));
      expect(await bottomOf(page, '#words'), place).toBeLessThanOrEqual(800);
    }
    await picture('lifecycle-words-400');
    expectQuiet();
  });

  browser.it('shows an error and hides the last job if the next one can’t be shown', async () => {
    visitor = await visit(`${app.url}/lifecycle#${tap}`);
    const { page, picture } = visitor;
    await logIn(page);
    await see(page, '#where', 'Repair the tap is open');
    const strange = tap.replace(/\w$/, (last) => (last === '0' ? '1' : '0'));
    await page.getByLabel('or its ID').fill(strange);
    await page.getByRole('button', { name: 'Show' }).click();
    await see(page, '#problem', 'Job not found.');
    await picture('lifecycle-refused');
    const expectNoJob = async () => {
      expect(await page.locator('#where').textContent()).toBe('');
      expect(await page.locator('svg [aria-current], svg .may, svg.located').count()).toBe(0);
      expect(await page.locator('#job').inputValue()).toBe('');
    };
    await expectNoJob();
    await page.reload();
    await see(page, '#problem', 'Job not found.');
    await expectNoJob();
    await page.locator('#job').selectOption(fence);
    await see(page, '#where', 'Paint the fence is draft');
    expect(await page.locator('#problem').textContent()).toBe('');
    expect(visitor.complaints.filter((complaint) => !complaint.includes(strange))).toEqual([]);
  });

  browser.it('shows a job’s state, what its owner can do next, and why they can’t do the rest', async () => {
    visitor = await visit(`${app.url}/lifecycle`);
    const { page, picture } = visitor;
    await logIn(page);
    await page.getByLabel('Job', { exact: true }).selectOption(tap);
    await see(page, '#where', 'Repair the tap is open');
    expect(await page.locator('svg [aria-current]').getAttribute('data-state')).toBe('open');
    expect(
      await page.locator('svg .may').evaluateAll((all) => all.map((one) => one.getAttribute('data-step'))),
    ).toEqual(['cancel']);
    await see(page, '#where', 'award · Only a pending, viewed, or shortlisted bid');
    await see(page, '#where', 'check in · Only the awarded contractor can do this.');
    await picture('lifecycle-job');
    await page.setViewportSize({ width: 400, height: 860 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture('lifecycle-job-400');

    await page.getByLabel('or its ID').fill(fence);
    await page.getByRole('button', { name: 'Show' }).click();
    await see(page, '#where', 'publish · First fill in: category, address line1.');
    await page.reload();
    await see(page, '#where', 'Paint the fence is draft');
    await page.getByRole('button', { name: 'Forget me' }).click();
    await page.getByLabel('Email').waitFor();
    expect(await page.locator('svg [aria-current]').count()).toBe(0);
    expectQuiet();
  });

  browser.it('forgets the user while their job loads, without an error', async () => {
    visitor = await visit(`${app.url}/lifecycle`);
    const { page, context } = visitor;
    await logIn(page);
    const list = page.locator('#job');
    await list.locator('option').nth(1).waitFor({ state: 'attached' });
    let answer = () => {};
    await context.route(`**/v1/jobs/${tap}`, async (route) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    const asked = page.waitForRequest(`**/v1/jobs/${tap}`);
    await list.selectOption(tap);
    await asked;
    await page.getByRole('button', { name: 'Forget me' }).click();
    const answered = page.waitForResponse(`**/v1/jobs/${tap}`);
    answer();
    await answered;
    // The queued work ends before a new login's.
    await logIn(page);
    await list.waitFor();
    expect(await page.locator('#problem').textContent()).toBe('');
    await page.getByRole('button', { name: 'Forget me' }).click();
    expect(await page.locator('#problem').textContent()).toBe('');
    expectQuiet();
  });

  browser.it('keeps the newest session if another page sends an older one', async () => {
    visitor = await visit(`${app.url}/lifecycle`);
    const { page, context } = visitor;
    await logIn(page);
    await page.locator('#job').waitFor();
    const other = await context.newPage();
    await other.goto(`${app.url}/lifecycle`);
    await other.locator('#job').waitFor();
    const session = `(await import('/lifecycle/session.js'))`;
    // The other page renews the session. A page that doesn’t know it yet then changes something else.
    await other.evaluate(`(async () => {
      const { change, known } = ${session};
      const stale = { ...known, ids: { job: 'x' }, changedAt: known.changedAt + 1_000_000 };
      const { homeowner } = known.sessions;
      change({ sessions: { homeowner: { ...homeowner, refreshToken: 'renewed', renewAt: homeowner.renewAt + 1 } } });
      const channel = new BroadcastChannel('job-marketplace:memory');
      channel.postMessage(stale);
    })()`);
    for (const one of [page, other])
      await expect
        .poll(() =>
          one.evaluate(`(async () => {
          const { known } = ${session};
          return [known.ids.job, known.sessions.homeowner.refreshToken];
        })()`),
        )
        .toEqual(['x', 'renewed']);
  });

  browser.it('shows who is signed in to the playground, and who signs in later', async () => {
    visitor = await visit(`${app.url}/graphql`);
    const { page, context } = visitor;
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Where is the job?' }).click();
    const lifecycle = await opened;
    await lifecycle.getByLabel('Email').waitFor();
    await page.getByRole('button', { name: /Execute query/ }).click();
    await see(lifecycle, '#job', 'You have no jobs yet');
    expect(await lifecycle.getByLabel('Signed in as').inputValue()).toBe('homeowner');
    const second = await context.newPage();
    await second.goto(`${app.url}/lifecycle`);
    await see(second, '#job', 'You have no jobs yet');

    for (const step of ['CreateJob', 'PublishJob']) {
      await openTab(page, step);
      await run(page);
      await expectAnswer(page, step === 'CreateJob' ? '"DRAFT"' : '"OPEN"');
    }
    const openedWithJob = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Where is the job?' }).click();
    const withJob = await openedWithJob;
    await see(withJob, '#where', 'Repair the kitchen tap is open.');
    // An allowed action links to the step that performs it. Without a step, it shows its cost.
    await see(withJob, '#where', 'cancel · costs');
    expect(await withJob.locator('#steps').getByRole('link', { name: 'awardJob' }).getAttribute('href')).toBe(
      '/graphql#awardJob',
    );
    await withJob.goto(`${app.url}/graphql#awardJob`);
    await expectOpen(withJob, 'AwardJob');
    expectQuiet();
  });
});

async function logIn(page: Page): Promise<void> {
  await page.getByLabel('Email').fill(HANNA.email);
  await page.getByLabel('Password').fill(HANNA.password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** States and steps whose center is outside the window or covered. */
function outOfSight(page: Page): Promise<string[]> {
  return page.locator('svg a').evaluateAll((links) =>
    links.flatMap((link) => {
      const { x, y, width, height } = (link.querySelector('rect') ?? link).getBoundingClientRect();
      const seen = link.ownerDocument.elementFromPoint(x + width / 2, y + height / 2);
      return link.contains(seen) ? [] : [link.getAttribute('href') ?? ''];
    }),
  );
}

/** In window pixels. */
function smallestText(page: Page): Promise<number> {
  return page.evaluate(`Math.min(...[...document.querySelectorAll('svg text')].map((text) =>
    parseFloat(getComputedStyle(text).fontSize) * document.querySelector('svg').getScreenCTM().a))`);
}

async function topOf(page: Page, place: string): Promise<number> {
  return (await page.locator(place).boundingBox())?.y ?? Number.NaN;
}

async function bottomOf(page: Page, place: string): Promise<number> {
  const { y, height } = (await page.locator(place).boundingBox()) ?? { y: Number.NaN, height: 0 };
  return y + height;
}

/** Strings that extend beyond their box or the picture. */
function textsOutside(page: Page): Promise<string[]> {
  return page.locator('svg text').evaluateAll((texts) =>
    texts.flatMap((text) => {
      const inside = text.getBoundingClientRect();
      const frame = (text.parentElement?.querySelector('rect') ?? text).getBoundingClientRect();
      return inside.left < frame.left - 1 || inside.right > frame.right + 1 ? [text.textContent ?? ''] : [];
    }),
  );
}

async function see(page: Page, place: string, text: string): Promise<void> {
  await page.locator(place).filter({ hasText: text }).waitFor();
}

function expectQuiet(): void {
  expect(visitor.complaints).toEqual([]);
  expect([...visitor.origins]).toEqual([app.url]);
}
