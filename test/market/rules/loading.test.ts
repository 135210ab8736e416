/**
 * The tables of the rules are made while their files are read. Each file must do that alone: whichever is asked for
 * first is read first.
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
