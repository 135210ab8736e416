/**
 * Each connection is a file to the operating system, of which a process may have so many open. Where that is less than
 * the share of connections, the share is what it allows: else idle connections would keep everybody out, and the server
 * from its own database.
 */
import { readFileSync } from 'node:fs';
import type { ShareTable } from './configured.js';

/** For the database, logs, and connections that wait for their sockets. */
const OTHER_FILES = 1_200;

/** Of this process; without a bound where the system does not say. */
export function openFilesMax(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** At least half of the files are for connections, however few there are. */
export function withinOpenFiles(shares: ShareTable, filesMax: number): ShareTable {
  const { connections } = shares;
  const total = Math.max(filesMax - OTHER_FILES, Math.floor(filesMax / 2));
  return (connections.total ?? Infinity) <= total ? shares : { ...shares, connections: { ...connections, total } };
}
