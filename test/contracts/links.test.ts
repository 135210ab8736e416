/** The links in our Markdown pages, and the log messages that they name. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { anchorsOf } from '../setup/guide.js';

const ROOT = new URL('../../', import.meta.url);
const PAGES = [
  'README.md',
  ...readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

it.each(PAGES)('%s links to files and headings that exist', (page) => {
  const here = new URL(page, ROOT);
  const links = [...readFileSync(here, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const local = links.filter((link) => !/^[a-z]+:/.test(link));
  expect(local.filter((link) => !leadsSomewhere(new URL(link, here)))).toEqual([]);
});

it('every log message that operators are told to look for is in the code', () => {
  const [runbook, operating] = ['docs/runbook.md', 'docs/operating.md'].map((page) => readFileSync(page, 'utf8'));
  const searches = [...(runbook ?? '').matchAll(/log \| grep '([^'"^…]+)'/g)].map(([, text = '']) => text);
  const rows = [...(operating ?? '').matchAll(/^\| `(?:info|warn|error|fatal)` \| (.+?) \| /gm)];
  const named = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
  const code = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`src/${name}`, 'utf8'))
    .join('\n');
  const messages = [...searches, ...named.map((text) => text.replace('…', '').trim())];
  expect(messages.length).toBeGreaterThan(30);
  expect(messages.filter((message) => !code.includes(message))).toEqual([]);
});

function leadsSomewhere(target: URL): boolean {
  const anchor = decodeURIComponent(target.hash.slice(1));
  const file = new URL(target.pathname, 'file:');
  if (!existsSync(file)) return false;
  return anchor === '' || anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
}
