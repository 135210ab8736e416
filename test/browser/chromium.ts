<<<<<<< HEAD
/** A real browser. Each visitor has a separate profile, and every request and console error is recorded. */
=======
/** A real browser: each visitor has a profile. It records every request and every console error. */
>>>>>>> fb1c93b9 (Give the pages one header, and rework the guide, the mailbox, and the reference)
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { programPath } from '../setup/needs.js';

export const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The origins of all requests. */
  readonly origins: Set<string>;
  /** Console errors and uncaught errors. */
  readonly complaints: string[];
<<<<<<< HEAD
  /** Takes a screenshot for people to look at, and returns its path. */
=======
  /** Takes a picture for people to look at, and returns its path. */
>>>>>>> fb1c93b9 (Give the pages one header, and rework the guide, the mailbox, and the reference)
  picture(name: string): Promise<string>;
  close(): Promise<void>;
}

<<<<<<< HEAD
/** One browser for all of a file's visits, because starting takes longer than most visits. */
=======
/** One for all visits of a file: starting it takes longer than most visits. */
>>>>>>> fb1c93b9 (Give the pages one header, and rework the guide, the mailbox, and the reference)
let browser: Promise<Browser> | undefined;

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export async function visit(url: string): Promise<Visit> {
  browser ??= chromium.launch({ executablePath: programPath('chromium') ?? 'chromium', args: ARGS });
  const context = await (await browser).newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(100_000);
  const origins = new Set<string>();
  const complaints: string[] = [];
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:') origins.add(origin);
  });
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  const page = await context.newPage();
  await page.goto(url);
  return {
    page,
    context,
    origins,
    complaints,
    picture: (name) => takePicture(page, name),
    close: () => context.close(),
  };
}

export async function takePicture(page: Page, name: string): Promise<string> {
  const path = join(PICTURES, `${name}.png`);
  await page.screenshot({ path });
  return path;
}

<<<<<<< HEAD
/** Screenshots outlive the run, so people can look at them. */
=======
/** Pictures stay after the run, for people to look at. */
>>>>>>> fb1c93b9 (Give the pages one header, and rework the guide, the mailbox, and the reference)
const PICTURES = join(tmpdir(), 'marketplace-pictures');
