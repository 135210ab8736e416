/**
 * Packages that only one test needs, by a lock file of that test's own. They are installed when the test first runs,
 * and stay until the lock changes. Two runs may come at the same moment: each installs in a folder of its own, which
 * then gets its name in one step. The first one has made the packages of both, and no process finds an incomplete
 * folder.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Git, the linters and `npm ci` know that this folder is nobody's source. */
const INSTALLED = fileURLToPath(new URL('../../node_modules/.cache/packages-of-tests/', import.meta.url));
const FILES = ['package.json', 'package-lock.json'] as const;

/** The `node_modules` of what stands in this folder's lock file. */
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
    // A lock without packages leaves none.
    mkdirSync(join(own, 'node_modules'), { recursive: true });
    renameSync(own, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** With the packages for developers, whatever the environment of the tests says of production. */
async function npmCi(folder: string): Promise<void> {
  const { NODE_ENV: _, ...env } = process.env;
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', ['ci', ...options], { cwd: folder, env }).catch((error: { stderr: string }) => {
    throw new Error(`npm ci failed:\n${error.stderr}`, { cause: error });
  });
}
