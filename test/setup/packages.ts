/**
 * Installs packages that only one test needs, from that test's own lock file. They stay until the lock file changes.
 * Each run installs into its own folder and then renames it in one step. If two runs start together, both use the first
 * one's folder, and neither ever sees an incomplete one.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Git, the linters, and `npm ci` ignore this folder. */
const INSTALLED = fileURLToPath(new URL('../../node_modules/.cache/packages-of-tests/', import.meta.url));
const FILES = ['package.json', 'package-lock.json'] as const;

export async function packagesOf(folder: string, installed = INSTALLED): Promise<string> {
  const place = join(installed, keyOf(folder));
  if (!existsSync(place)) await install(folder, installed, place);
  return join(place, 'node_modules');
}

function keyOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of FILES) hash.update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

async function install(folder: string, installed: string, place: string): Promise<void> {
  mkdirSync(installed, { recursive: true });
  const own = mkdtempSync(join(installed, 'being-installed-'));
  try {
    for (const name of FILES) copyFileSync(join(folder, name), join(own, name));
    await npmCi(own);
    // If the lock file has no packages, npm creates no folder.
    mkdirSync(join(own, 'node_modules'), { recursive: true });
    renameSync(own, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Includes dev dependencies, even if the environment is production. */
async function npmCi(folder: string): Promise<void> {
  const { NODE_ENV: _, ...env } = process.env;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', ['ci', ...options], { cwd: folder, env }).catch((error: { stderr: string }) => {
    throw new Error(`npm ci failed:\n${error.stderr}`, { cause: error });
  });
}
