/** The links in our Markdown pages. */
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

function leadsSomewhere(target: URL): boolean {
  const anchor = decodeURIComponent(target.hash.slice(1));
  const file = new URL(target.pathname, 'file:');
  if (!existsSync(file)) return false;
  return anchor === '' || anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
}
