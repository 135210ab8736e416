/**
 * All tests of the rules in one file, so each mutant loads the rules once instead of once per test file. Only
 * `loading.test.ts` is left out. It loads every file in a fresh order, and mutants don't change imports.
 */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

for (const name of readdirSync('test/market/rules', { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.test.ts') && name !== 'loading.test.ts')
    describe(name, () => import(`../../market/rules/${name}`).catch(failInTest));

/** Stryker only counts failing tests. Rules that fail to load would look like rules that no test covers. */
function failInTest(error: unknown): void {
  test('can be loaded', () => expect(error).toBeUndefined());
}
