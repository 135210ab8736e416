/** A real browser with a profile of its own, which notes every request it makes and every complaint on its console. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { programPath } from '../needs.js';

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
  /** The origins of everything that was requested. */
  readonly origins: Set<string>;
  /** What the console called an error, and what nobody caught. */
  readonly complaints: string[];
  /** Takes a picture for people to look at, and answers where it is. */
  picture(name: string): Promise<string>;
  close(): Promise<void>;
}

export async function visit(url: string): Promise<Visit> {
  const profile = mkdtempSync(join(tmpdir(), 'marketplace-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: programPath('chromium') ?? 'chromium',
    args: ARGS,
    viewport: { width: 1440, height: 900 },
  });
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
  const page = context.pages()[0] ?? (await context.newPage());
  await page.goto(url);
  return {
    page,
    context,
    origins,
    complaints,
    picture: (name) => takePicture(page, name),
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

export async function takePicture(page: Page, name: string): Promise<string> {
  const path = join(PICTURES, `${name}.png`);
  await page.screenshot({ path });
  return path;
}

/** Pictures outlive the run: they are made to be looked at. */
const PICTURES = join(tmpdir(), 'marketplace-pictures');
