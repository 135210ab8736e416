import type { Sql } from 'postgres';

/**
 * Vacuums until every page is marked as visible to all transactions, because the plans depend on it. On a busy
 * machine, one `vacuum` has left pages unmarked. We don't know why.
 */
export async function vacuumWhole(sql: Sql): Promise<void> {
  for (;;) {
    await sql`vacuum`;
    const unmarked = await sql`select from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relallvisible < relpages`;
    if (unmarked.length === 0) break;
  }
  await sql`analyze`;
}
