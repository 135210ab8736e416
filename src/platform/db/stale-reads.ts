/** What the database needs from a replica (`replica.ts`). */
import type { Client } from '../quotas/quota.js';
import { named, type Db, type NamedStatement } from './transaction.js';

/** A position in the write-ahead log, in bytes. Every position up to 9 petabytes is exact. */
export type WalPosition = number;

const POSITION = `case when not pg_is_in_recovery() then (pg_current_wal_insert_lsn() - '0/0')::text end`;

export const readPrimaryPosition = named('readPrimaryPosition', `select ${POSITION}`);
export const commitAndReadPosition = `commit; select /* commitAndReadPosition */ ${POSITION}`;

/** Undefined if there is no row, or if a server that was never a replica is asked for a replica's position. */
export function walPosition([row]: unknown[][]): WalPosition | undefined {
  return row?.[0] == null ? undefined : Number(row[0]);
}

export interface Replica {
  /** The reads of one request. */
  readsOf(client: Client): ReplicaReads;
  /** Called before the response to a write is sent. The position is undefined if it couldn't be read. */
  noteWrite(user: string, position: WalPosition | undefined): Promise<void>;
  /** Makes these users' later reads include everything committed so far. Called before an event is sent to them. */
  bringUpToDate(users: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface ReplicaReads {
  /** Reads the primary if the replica can't be used. */
  send(read: StaleRead): Promise<unknown[][]>;
  usePrimary(): void;
}

export interface StaleRead {
  readonly statement: NamedStatement;
  readonly params: Parameters<Db['send']>[1];
  readonly isLong: boolean;
  readonly onPrimary: Db;
}
