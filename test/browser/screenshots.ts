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
/** Step 7 reads the job with its bid, its timeline, and the next actions. */
const STEPS = 7;

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
    const [, url] = /is open at (\S+)/.exec(line) ?? [];
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
    for (let step = 1; step <= STEPS; step += 1) {
      if (step > 1) await page.getByRole('button', { name: 'Next' }).click();
      await runStep(page);
    }
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
  await (await answered).finished();
}
