/** An earlier release's database: the number of migrations it had run, and its rows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Sql } from 'postgres';

export interface RecordedDatabase {
  readonly migrations: number;
  readonly tables: Readonly<Record<string, readonly object[]>>;
}

export async function record(sql: Sql): Promise<RecordedDatabase> {
  const [{ migrations = 0 } = {}] = await sql<{ migrations: number }[]>`
    select count(*)::int as migrations from drizzle.__drizzle_migrations`;
  const named = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`;
  const tables: Record<string, object[]> = {};
  for (const { name } of named) {
    const [{ rows = '[]' } = {}] = await sql<{ rows: string }[]>`
      select coalesce(json_agg(t), '[]')::text as rows from ${sql(name)} t`;
    tables[name] = JSON.parse(rows) as object[];
  }
  return { migrations, tables };
}

/** The database must have run the same number of migrations. No trigger fires, as if the rows had always been there. */
export async function restore(sql: Sql, { tables }: RecordedDatabase): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const [name, rows] of Object.entries(tables)) {
      const columns = await tx<{ name: string }[]>`
        select column_name as name from information_schema.columns
        where table_schema = 'public' and table_name = ${name} and is_generated = 'NEVER'`;
      const list = tx(columns.map((column) => column.name));
      await tx`delete from ${tx(name)}`;
      await tx`
        insert into ${tx(name)} (${list}) overriding system value
        select ${list} from json_populate_recordset(null::${tx(name)}, ${JSON.stringify(rows)}::text::json)`;
    }
  });
}

export function recordedDatabase(release: string): RecordedDatabase {
  const file = join(import.meta.dirname, `${release}.json.gz`);
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as RecordedDatabase;
}
