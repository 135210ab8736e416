/** A release's version, and the licenses of its packages, which must be on a list. `npm run sbom` lists them. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');

it('CHANGELOG.md starts with the notes of the version in package.json', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(/^## (.+)$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
});

/** These licenses only require that their text is kept, which packages in `node_modules` do themselves. */
const LICENCES = [
  '0BSD',
  'Apache-2.0',
  'BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  '(MIT AND BSD-3-Clause)',
];

/** Dev dependencies whose files a build copies into `dist`. */
const COPIED_BY_BUILD = ['node_modules/@graphql-yoga/render-graphiql', 'node_modules/swagger-ui-dist'];

it('each package in a release has a license from the list', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; license?: string }>;
  };
  const released = Object.entries(packages).filter(([path, { dev }]) => !dev || COPIED_BY_BUILD.includes(path));
  expect(released.length).toBeGreaterThan(100);
  const others = released.filter(([, { license = 'none' }]) => !LICENCES.includes(license));
  expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  expect(released.map(([path]) => path)).toEqual(expect.arrayContaining(COPIED_BY_BUILD));
});
