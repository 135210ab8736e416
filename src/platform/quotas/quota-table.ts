/** The table of quotas, with the values that the environment sets. */
import { QUOTAS, type QuotaName } from '../caller-limits.js';
import { readFileSync } from 'node:fs';

/** The limits on a resource. Above them, calls are refused or connections are closed. */
export interface QuotaLimits {
  readonly of: string;
  readonly perUser?: number | undefined;
  /** The limit for one address. An IPv6 /64 counts as one. */
  readonly perAddress?: number | undefined;
  readonly total?: number | undefined;
}

export type QuotaTable = Readonly<Record<QuotaName, QuotaLimits>>;

interface QuotaVariables {
  readonly QUOTA_REQUESTS_PER_USER: number;
  readonly QUOTA_REQUESTS_PER_ADDRESS: number;
  readonly QUOTA_STREAMS_PER_ADDRESS: number;
}

/** Behind a proxy, all connections come from the proxy, so they have no limit per address. */
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
 * Open files reserved for the database, logs, and connections without a socket yet. Otherwise, idle connections could
 * use all files that the system allows. The server then couldn't reach its own database.
 */
const OTHER_FILES = 1_200;

/** Infinite if the system doesn't report a limit. */
export function openFilesMax(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** At least half of the files serve connections, however few files there are. */
export function withinOpenFiles(quotas: QuotaTable, filesMax: number): QuotaTable {
  const { connections } = quotas;
  const total = Math.max(filesMax - OTHER_FILES, Math.floor(filesMax / 2));
  return (connections.total ?? Infinity) <= total ? quotas : { ...quotas, connections: { ...connections, total } };
}
