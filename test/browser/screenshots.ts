/** `npm run screenshots`: takes the README's pictures of the playground, with its own server and database. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium, type Page } from 'playwright-core';
import { programPath } from '../setup/needs.js';
import { ARGS } from './chromium.js';

const FOLDER = join(import.meta.dirname, '../../docs/images');
const VIEWPORT = { width: 1280, height: 800 };
/** Reads the job with its bid, its timeline, and the next actions. */
const LAST_STEP = 'ReadJob';

const dataFolder = mkdtempSync(join(tmpdir(), 'marketplace-screenshots-'));
const server = spawn(process.execPath, ['dist/main.js'], {
  env: { ...process.env, PORT: '0', DATA_DIR: join(dataFolder, 'data') },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await takePictures(await addressOf());
} finally {
  server.kill();
  await once(server, 'exit');
  rmSync(dataFolder, { recursive: true, force: true });
}

async function addressOf(): Promise<string> {
  for await (const line of createInterface({ input: server.stdout })) {
    const [, url] = /is running at (\S+)/.exec(line) ?? [];
    if (url) {
      server.stdout.resume();
      return url;
    }
  }
  throw new Error('The server ended before it was open.');
}

async function takePictures(url: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: programPath('chromium') ?? '', args: ARGS });
  try {
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.goto(`${url}/graphql`);
    for (;;) {
      await runStep(page);
      const step = (await page.locator('.graphiql-tab-active').innerText()).trim();
      if (step === LAST_STEP) break;
      await page.getByRole('button', { name: 'Next' }).click();
      await page.locator('.graphiql-tab-active').filter({ hasNotText: step }).waitFor();
    }
    // The page remembers its open tab half a second later.
    await page.waitForFunction(`Object.entries(localStorage).some(([key, kept]) => {
      const { tabs, activeTabIndex } = key.endsWith('graphiql:tabState') ? JSON.parse(kept) : {};
      return tabs?.[activeTabIndex]?.title === '${LAST_STEP}';
    })`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // The editor chooses its colors when it loads. The page remembers the story.
      await page.reload();
      await runStep(page);
      await page.locator('.graphiql-response .view-line').nth(10).waitFor();
      await page.screenshot({ path: join(FOLDER, `playground-${colorScheme}.png`), animations: 'disabled' });
    }
  } finally {
    await browser.close();
  }
}

async function runStep(page: Page): Promise<void> {
  const answered = page.waitForResponse((response) => response.request().method() === 'POST' && response.ok());
  await page.locator('.graphiql-execute-button').click();
  await answered;
  // The next step uses values of this response, which the page stores before it shows the response.
  await page.locator('.graphiql-response').getByText('"data"').first().waitFor();
}
