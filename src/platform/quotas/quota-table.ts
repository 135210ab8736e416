/** The table of quotas, with the values that the environment sets. */
import { QUOTAS, type QuotaName } from '../caller-limits.js';
import { readFileSync } from 'node:fs';

/**
 * How much of a resource may be held at the same time. If the limit is exceeded, a call is refused or a connection is
 * closed.
 */
export interface QuotaLimits {
  /** The counted resource, in words. */
  readonly of: string;
  /** The limit for one user within a network address. */
  readonly perUser?: number | undefined;
  /** The limit for one network address. For IPv6, a whole /64 counts as one address. */
  readonly perAddress?: number | undefined;
  readonly total?: number | undefined;
}

export type QuotaTable = Readonly<Record<QuotaName, QuotaLimits>>;

interface QuotaVariables {
  readonly QUOTA_REQUESTS_PER_USER: number;
  readonly QUOTA_REQUESTS_PER_ADDRESS: number;
  readonly QUOTA_STREAMS_PER_ADDRESS: number;
}

/** Behind a proxy, all connections come from the proxy's address, so they have no limit per address. */
export function quotasOf(variables: QuotaVariables, isBehindProxy: boolean): QuotaTable {
  const streamsPerAddress = variables.QUOTA_STREAMS_PER_ADDRESS;
  return {
    ...QUOTAS,
    connections: { ...QUOTAS.connections, perAddress: isBehindProxy ? undefined : QUOTAS.connections.perAddress },
    requests: {
      ...QUOTAS.requests,
      perUser: variables.QUOTA_REQUESTS_PER_USER,
      perAddress: variables.QUOTA_REQUESTS_PER_ADDRESS,
    },
    streams: { ...QUOTAS.streams, perAddress: streamsPerAddress },
    webSockets: { ...QUOTAS.webSockets, perAddress: streamsPerAddress },
  };
}

/**
 * A reserve of open files for the database, logs, and connections that wait for their sockets. The operating system
 * limits a process's open files. Without the reserve, idle connections could use up all files, and the server couldn't
 * connect to its own database.
 */
const OTHER_FILES = 1_200;

/** How many files this process may open. Infinite if the system doesn't report a limit. */
export function openFilesMax(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** At least half of the files are for connections, however few files there are. */
export function withinOpenFiles(quotas: QuotaTable, filesMax: number): QuotaTable {
  const { connections } = quotas;
  const total = Math.max(filesMax - OTHER_FILES, Math.floor(filesMax / 2));
  return (connections.total ?? Infinity) <= total ? quotas : { ...quotas, connections: { ...connections, total } };
}
