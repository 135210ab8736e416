/** A real browser. Each visitor has a separate profile, and every request and console error is recorded. */
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
  /** Takes a screenshot for people to look at, and returns its path. */
  picture(name: string): Promise<string>;
  close(): Promise<void>;
}

/** One browser for all of a file's visits, because starting takes longer than most visits. */
let browser: Promise<Browser> | undefined;

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export async function visit(url: string): Promise<Visit> {
  const executablePath = programPath('chromium') ?? 'chromium';
  browser ??= chromium.launch({ executablePath, args: ARGS, timeout: 200_000 });
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

/** Screenshots outlive the run, so people can look at them. */
const PICTURES = join(tmpdir(), 'marketplace-pictures');
