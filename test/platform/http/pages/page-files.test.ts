/** A build copies the files that a server needs for its pages, because it may run without the packages. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPageFile, type PageFileName } from '../../../../src/platform/http/pages/page-files.js';
import { clone, type Clone } from '../../../app/clone.js';

let project: Clone;
/** Has only the build, without the packages. */
const folder = mkdtempSync(join(tmpdir(), 'marketplace-pages-'));
beforeAll(() => {
  project = clone();
});
afterAll(() => {
  project.remove();
  rmSync(folder, { recursive: true });
});

const NAMES: readonly PageFileName[] = [
  'graphiql.js',
  'graphiql.css',
  'editor.worker.js',
  'json.worker.js',
  'graphql.worker.js',
  'swagger-ui-bundle.js',
  'swagger-ui.css',
];

it('a build copies every file, and a server without the packages reads the copies', async () => {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: project.folder });
  cpSync(join(project.folder, 'dist/platform/http/pages'), join(folder, 'pages'), { recursive: true });
  const read = `import { createHash } from 'node:crypto';
    const { readPageFile } = await import(${JSON.stringify(pathToFileURL(join(folder, 'pages/page-files.js')).href)});
    for (const name of ${JSON.stringify(NAMES)})
      console.log(createHash('sha256').update(await readPageFile(name)).digest('hex'));`;
  // In its own process, which can't find the packages.
  const copies = execFileSync(process.execPath, ['--input-type=module', '--eval', read], {
    cwd: folder,
    encoding: 'utf8',
  });
  const packages = await Promise.all(
    NAMES.map(async (name) =>
      createHash('sha256')
        .update(await readPageFile(name))
        .digest('hex'),
    ),
  );
  expect(copies.trim().split('\n')).toEqual(packages);
  expect(new Set(packages).size).toBe(NAMES.length);
});
