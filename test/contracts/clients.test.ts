/** docs/clients.md has an app for each client. Whatever its files import is in the document or installed by npm. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const FILES = new Map(
  [...page.matchAll(/^```ts\n\/\/ (\S+)\.ts\n([^]*?)^```$/gm)].map(([, name = '', text = '']) => [name, text]),
);

it.each([
  ['Apollo Client', 'urql'],
  ['urql', 'apollo'],
])('%s: every import is another file in the document or a package in `npm i`', (client, other) => {
  const installed = new Set([...installedIn('Types'), ...installedIn(client)]);
  const files = [...FILES].filter(([name]) => !name.startsWith(other));
  expect(files.length).toBeGreaterThan(8);
  for (const [name, text] of files)
    for (const [, imported = ''] of text.matchAll(/from '([^']+)'/g)) {
      const [, own] = /^\.\/(.+)$/.exec(imported) ?? [];
      if (own !== undefined) expect([...FILES.keys()], `${name} imports ${imported}`).toContain(own);
      else if (!imported.startsWith('../gql'))
        expect([...installed], `${name} imports ${imported}`).toContain(packageOf(imported));
    }
});

function installedIn(section: string): string[] {
  const [, text = ''] = new RegExp(`^## ${section}\n([^]*?)^## `, 'm').exec(page) ?? [];
  return [...text.matchAll(/`npm i ([^`]+)`/g)].flatMap(([, names = '']) => names.split(' '));
}

function packageOf(imported: string): string {
  return imported.split('/', imported.startsWith('@') ? 2 : 1).join('/');
}
