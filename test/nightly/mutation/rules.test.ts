/**
 * All tests of the rules in one file, so each mutant loads the rules once instead of once per test file. Only
 * `loading.test.ts` is left out. It loads every file in a fresh order, and mutants don't change imports.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

for (const name of readdirSync('test/market/rules', { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.test.ts') && name !== 'loading.test.ts')
    describe(name, () => import(`../../market/rules/${name}`).catch(failInTest));

/** In the other tests, `drift.test.ts` compares all pages. Most of them need the whole server. */
test('the pages that are printed from the rules show them', async () => {
  const { lifecycleDiagram } = await import('../../contracts/printers/lifecycle-diagram.js');
  const { withNotificationTables } = await import('../../contracts/printers/notifications.js');
  expect(lifecycleDiagram()).toBe(readFileSync('schema/lifecycle.md', 'utf8'));
  const page = readFileSync('docs/notifications.md', 'utf8');
  expect(withNotificationTables(page)).toBe(page);
});

/** Stryker only counts failing tests. Rules that fail to load would look like rules that no test covers. */
function failInTest(error: unknown): void {
  test('can be loaded', () => expect(error).toBeUndefined());
}
