/** All tests of the rules as one file: each mutant loads the rules once, and not once for each file of tests. */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

for (const name of readdirSync('test/market/rules', { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.test.ts')) describe(name, () => import(`../../market/rules/${name}`).catch(failInTest));

/** Stryker counts failures of tests alone: rules that cannot be loaded would pass for rules that nothing breaks. */
function failInTest(error: unknown): void {
  test('can be loaded', () => expect(error).toBeUndefined());
}
