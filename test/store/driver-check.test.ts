import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { assertDriverIsPatched } from '../../src/store/driver-check.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-driver-')));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the Postgres driver', () => {
  test('is patched in this installation', () => {
    expect(() => assertDriverIsPatched()).not.toThrow();
  });

  test('is refused as npm publishes it, with the command that cures it', async () => {
    cpSync('node_modules/postgres', join(folder, 'node_modules/postgres'), { recursive: true });
    execFileSync('git', ['apply', '--reverse', join(process.cwd(), 'patches/postgres+3.4.9.patch')], {
      cwd: folder,
      env: { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    for (const entry of ['src/index.js', 'cjs/src/index.js']) {
      const published: { default: object } = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'node_modules/postgres', entry)).href);
      expect(() => assertDriverIsPatched(published.default)).toThrow(/npx patch-package --error-on-fail/);
    }
  });
});
