/** The tables as the code declares them, and as the last migration leaves them. drizzle-kit compares the two. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDrizzleJson } from 'drizzle-kit/api';
import drizzleConfig from '../../../drizzle.config.js';

const ROOT = join(import.meta.dirname, '../../..');
const META = join(import.meta.dirname, '../../../schema/migrations/meta');

type Snapshot = Awaited<ReturnType<typeof generateDrizzleJson>>;

export async function declaredTables(previousId: string): Promise<Snapshot> {
  const folders = [drizzleConfig.schema ?? []].flat().map((folder) => join(ROOT, folder));
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const modules = (await Promise.all(files.map((file) => import(file)))) as Record<string, unknown>[];
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
