/** What a build copies for the pages is what a server reads where the packages are not. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { readPageFile, type PageFileName } from '../../src/http/page-files.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-pages-')));
afterAll(() => rmSync(folder, { recursive: true }));

const NAMES: readonly PageFileName[] = [
  'graphiql.js',
  'graphiql.css',
  'editor.worker.js',
  'json.worker.js',
  'graphql.worker.js',
  'swagger-ui-bundle.js',
  'swagger-ui.css',
];

/** A whole build, which takes minutes where others want the processor too. */
const BUILD_TIMEOUT_MS = 300_000;

it(
  'a build copies every file, and without the packages it is read from there',
  async () => {
    execFileSync('node_modules/.bin/tsc', [
      '--project',
      'tsconfig.build.json',
      '--outDir',
      folder,
      '--tsBuildInfoFile',
      join(folder, 'info'),
    ]);
    const built = join(folder, 'http/page-files.js');
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, [built]);
    unlinkSync(join(folder, 'node_modules'));
    // In a process of its own, by which the packages cannot be found.
    const read = `const { readPageFile } = await import(${JSON.stringify(pathToFileURL(built).href)});
    const { createHash } = await import('node:crypto');
    for (const name of ${JSON.stringify(NAMES)})
      console.log(createHash('sha256').update(await readPageFile(name)).digest('hex'));`;
    const copies = execFileSync(process.execPath, ['--input-type=module', '--eval', read], {
      cwd: folder,
      encoding: 'utf8',
    })
      .trim()
      .split('\n');
    const packages = await Promise.all(
      NAMES.map(async (name) =>
        createHash('sha256')
          .update(await readPageFile(name))
          .digest('hex'),
      ),
    );
    expect(copies).toEqual(packages);
    expect(new Set(copies).size).toBe(NAMES.length);
  },
  BUILD_TIMEOUT_MS,
);
