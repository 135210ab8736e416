/** The quick start of docs/clients.md, as it's printed except for the server's address, in Node. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { filesIn, GUIDE } from '../../setup/guide.js';
import { packagesOf } from '../../setup/packages.js';
import { newFolder, SPA, stubBrowser } from './spa-site.js';

const folder = newFolder();
let app: TestApp;

beforeAll(async () => {
  app = await openTestApp();
  symlinkSync(await packagesOf(SPA), join(folder, 'node_modules'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app?.close();
});

it('signs up, reads the account, creates a draft, and shows its event', async () => {
  const code = filesIn(GUIDE.get('clients.md') ?? '').get('main.ts') ?? '';
  expect(code.match(/localhost:4000/g)).toHaveLength(2);
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/main.ts'), code.replaceAll('localhost:4000', new URL(app.url).host));

  const shown: string[] = [];
  stubBrowser();
  vi.stubGlobal('document', { body: { append: (text: string) => shown.push(text) }, createElement: () => '' });
  await import(join(folder, 'src/main.ts'));
  await expect.poll(() => shown).toHaveLength(3);

  const [job] = await app.sql`SELECT id, status, title FROM jobs`;
  expect(job).toEqual({ id: expect.any(String), status: 'draft', title: 'Fix the sink' });
  expect(Object.assign({}, ...shown.map((text) => JSON.parse(text)))).toMatchObject({
    viewer: { user: { firstName: 'Hanna' }, tokens: { available: 10 } },
    createJob: { job: { id: job?.['id'], status: 'DRAFT' } },
    myEvents: { type: 'JOB_CREATED', jobId: job?.['id'], position: expect.any(String) },
  });
});
