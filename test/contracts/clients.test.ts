/** The guide for single-page apps prints an app for each client. Each app is complete and valid against the schema. */
import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { anchorsOf, filesIn, GUIDE } from '../setup/guide.js';

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
  // The template of a React app installs React.
  expectImports(
    files,
    new Set([...installedIn(text), 'react']),
    new Set(files.map(([name]) => name.replace(/\.tsx?$/, ''))),
  );
});

it('quick start: every import is a package from `npm install`, or React', () => {
  const files = [...filesIn(quickStart)];
  expect(files.map(([name]) => name)).toEqual(['main.ts', 'own-jobs.tsx']);
  expectImports(files, new Set(installedIn(quickStart)), new Set());
});

it.each([
  ['Apollo Client', 'urql-'],
  ['urql', 'apollo-'],
])('%s: the guide lists every file to copy, with a link to its section', (client, other) => {
  const rows = [...reference.matchAll(/^\| \[([\w-]+\.tsx?)\]\((\S+)\) \| ([^|]+) \| /gm)].filter(([, , , use = '']) =>
    ['Either client', client, `${client} with React`].includes(use),
  );
  const names = [...filesIn([reference, ...GUIDE.values()].join('\n')).keys()].filter(
    (name) => !name.startsWith(other) && !/listed|^main|^own-jobs/.test(name),
  );
  expect(rows.map(([, name]) => name).toSorted()).toEqual(names.toSorted());
  for (const [, name = '', link = ''] of rows) expect([...filesIn(sectionAt(link)).keys()], link).toContain(name);
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

/** The section that a link of clients.md leads to. */
function sectionAt(link: string): string {
  const [path = '', anchor = ''] = link.split('#');
  const sections = pageOf(path || 'clients.md').split(/^(?=## )/m);
  return sections.find((text) => anchorsOf(text)[0] === anchor) ?? '';
}

function expectImports(
  files: readonly (readonly [string, string])[],
  packages: ReadonlySet<string>,
  names: ReadonlySet<string>,
): void {
  for (const [name, code] of files)
    for (const [, imported = ''] of code.matchAll(/from '([^']+)'/g)) {
      const [, own] = /^\.\/(.+)$/.exec(imported) ?? [];
      if (own !== undefined) expect([...names], `${name} imports ${imported}`).toContain(own);
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
