/**
 * Detects a pooler in transaction mode, such as PgBouncer, which switches connections between transactions. Such a
 * pooler keeps session locks, drops notifications and timeouts, and may not support prepared statements. So only calls
 * go through it, and everything else uses `DATABASE_DIRECT_URL`. At startup, the server rejects a configuration that
 * can't work.
 */
import type { Row } from 'postgres';
import { DATABASE_DEFAULTS, directly, openPool, type Connection } from './database.js';

export interface PoolerNotices {
  /** Undefined if the configuration doesn't say whether to use prepared statements. */
  readonly preparedStatements: boolean | undefined;
  onUnknownStatements(): void;
}

interface PoolerCheck {
  readonly isPooled: boolean;
  readonly rewritesStatements: boolean;
  readonly missing: readonly string[];
  readonly row: Row;
}

/** Returns the connection to use. Throws an error that names the setting to change. */
export async function checkConnection(
  connection: Connection,
  { preparedStatements, onUnknownStatements }: PoolerNotices,
): Promise<Connection> {
  if (await isPooled(directly(connection)))
    throw new Error(
      connection.direct === undefined
        ? 'DATABASE_URL goes through a pooler. Set DATABASE_DIRECT_URL to the URL of PostgreSQL itself.'
        : 'DATABASE_DIRECT_URL goes through a pooler. Set it to the URL of PostgreSQL itself.',
    );
  if (connection.direct === undefined) return { ...connection, preparedStatements: preparedStatements ?? true };
  const pooled = await inspect(connection);
  if (pooled.missing.length > 0)
    throw new Error([NO_TIMEOUTS, timeoutsOfRole(pooled), RECONNECT, `  ${reconnectCommand(connection)}`].join('\n'));
  if (preparedStatements === true && pooled.isPooled && !pooled.rewritesStatements) onUnknownStatements();
  return { ...connection, preparedStatements: preparedStatements ?? (!pooled.isPooled || pooled.rewritesStatements) };
}

/** By default, PgBouncer rejects connections that set timeouts. That error also reveals a pooler. */
function isPooled(connection: Connection): Promise<boolean> {
  return inspect(connection).then(
    (connected) => connected.isPooled,
    (error: unknown) => {
      if (error instanceof Error && error.message.startsWith('unsupported startup parameter')) return true;
      throw error;
    },
  );
}

const NO_TIMEOUTS =
  "With DATABASE_DIRECT_URL, DATABASE_URL is treated as a pooler, which doesn't pass timeouts on. In PostgreSQL, set " +
  'them for the role:';

const RECONNECT =
  "The pooler's open connections don't have them yet. Have it reconnect, then start this server again. For " +
  'PgBouncer, run this as its admin user:';

function reconnectCommand(connection: Connection): string {
  const { hostname, port } =
    'url' in connection ? new URL(connection.url) : { hostname: connection.host, port: connection.port };
  const console = `--host=${hostname} --port=${port || 5432} --username=pgbouncer_admin --dbname=pgbouncer`;
  return `psql ${console} --command=RECONNECT`;
}

/** The timeouts that every connection needs, by their Postgres names. */
const TIMEOUTS = {
  statement_timeout: DATABASE_DEFAULTS.statementTimeoutMs,
  lock_timeout: DATABASE_DEFAULTS.lockTimeoutMs,
  idle_in_transaction_session_timeout: DATABASE_DEFAULTS.idleInTransactionTimeoutMs,
};

function timeoutsOfRole({ missing, row }: PoolerCheck): string {
  return Object.entries(TIMEOUTS)
    .filter(([name]) => missing.includes(name))
    .map(([name, ms]) => `  alter role "${row.role}" in database "${row.database}" set ${name} = '${ms}ms';`)
    .join('\n');
}

/** A pooler reports an invented process ID, and renames the prepared statements that it supports. */
async function inspect(connection: Connection): Promise<PoolerCheck> {
  const client = openPool({ ...connection, preparedStatements: true }, { ...DATABASE_DEFAULTS, poolSize: 1 });
  try {
    const rows = await client`select pg_backend_pid() as pid, current_user as role, current_database() as database,
      (select count(*)::int from pg_prepared_statements where name like 'PGBOUNCER\\_%') as renamed,
      (select array_to_json(array_agg(name))::text from pg_settings
        where name in ${client(Object.keys(TIMEOUTS))} and setting = '0') as missing`;
    const [row = {}] = rows;
    return {
      isPooled: rows.state.pid !== row.pid,
      rewritesStatements: row.renamed > 0,
      missing: JSON.parse(row.missing ?? '[]') as string[],
      row,
    };
  } finally {
    await client.end({ timeout: 5 });
  }
}
