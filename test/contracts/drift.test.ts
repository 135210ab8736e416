/** Each contract matches the code. `npm run contracts` runs this file to print them again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CONTRACTS } from './printers/contracts.js';

const PRINTING = process.env.CONTRACTS === 'print';

describe(PRINTING ? 'printing' : 'what people have reviewed is still what the code says', () => {
  for (const [name, print] of Object.entries(CONTRACTS)) {
    const file = fileURLToPath(new URL(`../../${name}`, import.meta.url));
    it(
      name,
      async () => {
        const kept = existsSync(file) ? readFileSync(file, 'utf8') : '';
        const printed = await print(kept);
        if (PRINTING) writeFileSync(file, printed);
        else expect(kept, `${name} is out of date. Run: npm run contracts, and review what changed`).toBe(printed);
      },
      // The permissions file takes this long, because every call is made.
      1_200_000,
    );
  }
});
