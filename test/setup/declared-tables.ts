/** The tables as the code declares them, and as the last migration has left them, for drizzle-kit to compare. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDrizzleJson } from 'drizzle-kit/api';
import drizzleConfig from '../../drizzle.config.js';

const TABLES = join(import.meta.dirname, '../../src/market/store/tables');
const META = join(import.meta.dirname, '../../schema/migrations/meta');

type Snapshot = Awaited<ReturnType<typeof generateDrizzleJson>>;

export async function declaredTables(previousId: string): Promise<Snapshot> {
  const files = readdirSync(TABLES).filter((name) => name.endsWith('.ts'));
  const modules = (await Promise.all(files.map((name) => import(join(TABLES, name))))) as Record<string, unknown>[];
  const tables = Object.assign({}, ...modules) as Record<string, unknown>;
  return generateDrizzleJson(tables, previousId, undefined, drizzleConfig.casing);
}

export function migratedTables(): Snapshot {
  const last = readdirSync(META)
    .filter((name) => name.endsWith('_snapshot.json'))
    .toSorted()
    .at(-1);
  return JSON.parse(readFileSync(join(META, last ?? 'missing'), 'utf8')) as Snapshot;
}
