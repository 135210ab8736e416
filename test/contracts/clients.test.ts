/** The guide for single-page apps prints an app for each client. Each app is complete and valid against the schema. */
import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { filesIn, GUIDE } from '../setup/guide.js';

const [quickStart = '', reference = ''] = pageOf('clients.md').split(/^(?=## Contents$)/m);
const shared = [
  reference,
  ...[...GUIDE].filter(([path]) => !/^clients.md$|apollo|urql/.test(path)).map(([, text]) => text),
];

it.each([
  ['Apollo Client', 'clients/apollo.md', 'urql-'],
  ['urql', 'clients/urql.md', 'apollo-'],
])('%s: every import is another file of the guide or a package from `npm i`', (_, path, other) => {
  const text = [...shared, pageOf(path)].join('\n');
  const files = [...filesIn(text)].filter(([name]) => !name.startsWith(other));
  expect(files.length).toBeGreaterThan(8);
  expectImports(files, new Set(installedIn(text)), new Set(files.map(([name]) => name)));
});

it('quick start: every import is a package from `npm install`, or React', () => {
  const files = [...filesIn(quickStart)];
  expect(files.map(([name]) => name)).toEqual(['main.ts', 'own-jobs.tsx']);
  expectImports(files, new Set(installedIn(quickStart)), new Set());
});

it.each([
  ['Apollo Client', 'clients/apollo.md'],
  ['urql', 'clients/urql.md'],
])('%s: the guide lists every file to copy', (client, path) => {
  const [, row = ''] = new RegExp(`^\\| ${client} \\| (.*) \\|$`, 'm').exec(reference) ?? [];
  const listed = [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  const pages = ['clients/sessions.md', 'clients/events.md', path].map(pageOf);
  expect(listed).toEqual([...filesIn(pages.join('\n')).keys()]);
});

it('every GraphQL document in the guide is valid', () => {
  const schema = buildSchema(readFileSync(new URL('../../schema/api.graphql', import.meta.url), 'utf8'));
  const documents = [...GUIDE.values()].flatMap(documentsIn);
  expect(documents.length).toBeGreaterThan(15);
  for (const document of documents) expect(validate(schema, parse(document)), document).toEqual([]);
});

function pageOf(path: string): string {
  const text = GUIDE.get(path);
  if (text === undefined) throw new Error(`The guide has no page ${path}.`);
  return text;
}

function expectImports(
  files: readonly (readonly [string, string])[],
  packages: ReadonlySet<string>,
  names: ReadonlySet<string>,
): void {
  for (const [name, code] of files)
    for (const [, imported = ''] of code.matchAll(/from '([^']+)'/g)) {
      const [, own] = /^\.\/(.+)$/.exec(imported) ?? [];
      if (own !== undefined) expect([...names], `${name} imports ${imported}`).toContain(`${own}.ts`);
      else if (!imported.startsWith('../gql'))
        expect([...packages], `${name} imports ${imported}`).toContain(packageOf(imported));
    }
}

function installedIn(text: string): string[] {
  return [...text.matchAll(/npm i(?:nstall)? ([^`\n]+)/g)].flatMap(([, names = '']) => names.split(' '));
}

function packageOf(imported: string): string {
  return imported.split('/', imported.startsWith('@') ? 2 : 1).join('/');
}

/** The documents in GraphQL blocks, in template strings, and in curl bodies. */
function documentsIn(text: string): string[] {
  const found = [/^```graphql\n([^]*?)^```$/gm, /\b(?:gql|graphql\()`([^`]+)`/g, /"query": "([^"]+)"/g];
  return found.flatMap((pattern) => [...text.matchAll(pattern)].map(([, document = '']) => document));
}
