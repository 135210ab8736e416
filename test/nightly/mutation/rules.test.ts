/** All tests of the rules as one file: each mutant loads the rules once, and not once for each of fourteen files. */
import { readdirSync } from 'node:fs';
import { describe } from 'vitest';

for (const name of readdirSync('test/rules', { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.test.ts')) describe(name, () => import(`../../rules/${name}`));
