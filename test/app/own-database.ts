/**
 * Your own PostgreSQL, for DATABASE_URL: an empty database on the tests' server, reachable over TCP.
 */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { inject } from 'vitest';

export interface OwnDatabase {
  readonly url: string;
  readonly sql: Sql;
  drop(): Promise<void>;
}

/** An empty database without a schema, as an operator has just created it. */
export async function ownDatabase(): Promise<OwnDatabase> {
  const server = inject('postgres');
  const database = `own_${randomUUID().replaceAll('-', '')}`;
  const maintenance = postgres({ ...server, max: 1, fetch_types: false, onnotice: () => {} });
  await maintenance.unsafe(`create database ${database}`);
  const sql = postgres({ ...server, database, max: 1, fetch_types: false, onnotice: () => {} });
  const api = await openApi(join(server.host, `.s.PGSQL.${server.port}`));
  return {
    url: `postgres://${server.username}@127.0.0.1:${api.port}/${database}`,
    sql,
    drop: async () => {
      await sql.end({ timeout: 5 });
      await maintenance.unsafe(`drop database ${database} with (force)`);
      await maintenance.end({ timeout: 5 });
      api.close();
    },
  };
}

/** The tests' Postgres only listens on a Unix socket, which a URL can't express. */
export async function openApi(socketPath: string): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const api = createServer((outer) => {
    const inner = connect(socketPath);
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(one);
      one
        .on('error', () => other.destroy())
        .on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  return {
    port: (api.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      api.close();
    },
  };
}
