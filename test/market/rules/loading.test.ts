/**
 * The rules' tables are built when their files load. Each file must load on its own, because any of them may be loaded
 * first.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';

const RULES = fileURLToPath(new URL('../../../src/market/rules/', import.meta.url));

test.each(readdirSync(RULES, { encoding: 'utf8', recursive: true }).filter((file) => file.endsWith('.ts')))(
  '%s can be loaded before all others',
  async (file) => {
    vi.resetModules();
    expect(await import(/* @vite-ignore */ `${RULES}${file}`)).toBeDefined();
  },
);
