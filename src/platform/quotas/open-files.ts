/**
 * Each connection is an open file, and the operating system limits a process's open files. If that limit is below the
 * connection quota, the quota is lowered to it. Otherwise, idle connections would use up all files, and the server
 * couldn't connect to its own database.
 */
import { readFileSync } from 'node:fs';
import type { QuotaTable } from './quota-table.js';

/** For the database, logs, and connections that wait for their sockets. */
const OTHER_FILES = 1_200;

/** This process's limit. Infinite if the system doesn't report it. */
export function openFilesMax(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** At least half of the files are for connections, however few there are. */
export function withinOpenFiles(quotas: QuotaTable, filesMax: number): QuotaTable {
  const { connections } = quotas;
  const total = Math.max(filesMax - OTHER_FILES, Math.floor(filesMax / 2));
  return (connections.total ?? Infinity) <= total ? quotas : { ...quotas, connections: { ...connections, total } };
}
