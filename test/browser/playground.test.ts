/**
 * A story in a real Chromium. The gate runs the tabs of the playground's first chapter, and the nightly run all tabs.
 */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { ADMIN } from '../../src/commands/demo/town.js';
import { ensureAdmin } from '../../src/market/operations/admins/admins.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { needs } from '../setup/needs.js';
import { closeBrowser, visit, type Visit } from './chromium.js';
import { answerOn, expectAnswer, expectOpen, FIRST, guideText, run, STORY, tabNames } from './playground-acts.js';

const browser = needs('chromium');
const MINUTE = 60_000;
/** Each round signs up different people. The nightly run plays two rounds. */
const ROUNDS = Number(process.env.STORY_ROUNDS ?? 1);
const TABS = process.env.STORY === 'whole' ? Object.entries(STORY) : Object.entries(STORY).slice(0, 14);

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

/** One of each kind, for people to look at. */
const PICTURED = ['SignUp', 'ReadJob', 'ReadDispute', 'ReadReminders', 'PublishUrgentJob', 'SeveralErrors'];
const MEANT_TO_FAIL = ['NotEnoughTokens', 'SeveralErrors', 'WrongInput', 'WrongState', 'WrongPerson', 'WrongToken'];

browser.describe('The playground', () => {
  browser.it(
    `tells ${TABS.length} tabs of its stories, ${ROUNDS === 1 ? 'once' : `${ROUNDS} times`}`,
    async () => {
      newUser = await visit(`${app.url}/graphql`);
      const { page, picture } = newUser;
      expect(await tabNames(page)).toEqual(Object.keys(STORY));
      expect(await guideText(page)).toContain('An account is free');
      for (let round = 1; round <= ROUNDS; round += 1) {
        for (const [at, [name, part]] of TABS.entries()) {
          if (at > 0) await page.getByRole('button', { name: 'Next' }).click();
          else await page.getByLabel('Step', { exact: true }).selectOption('0');
          await expectOpen(page, name);
          await FIRST[name]?.(page);
          await run(page);
          await expectAnswer(page, part);
          expect((await answerOn(page)).includes('"errors"'), name).toBe(MEANT_TO_FAIL.includes(name));
          if (round === 1 && PICTURED.includes(name)) await picture(`playground-${name}`);
        }
      }
      expect(newUser.complaints).toEqual([]);
      expect([...newUser.origins]).toEqual([app.url]);
    },
    20 * MINUTE,
  );
});
