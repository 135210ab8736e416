/**
 * Each connection is an open file, and the operating system limits the open files of a process. Where that limit is
 * below the quota of connections, the quota is lowered to it: otherwise idle connections would use up all files, and
 * the server could not connect to its own database.
 */
import { readFileSync } from 'node:fs';
import type { QuotaTable } from './quota-limits.js';

/** For the database, logs, and connections that wait for their sockets. */
const OTHER_FILES = 1_200;

/** The limit of this process; infinite where the system does not report it. */
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
