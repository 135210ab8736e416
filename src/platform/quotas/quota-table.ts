/** The table of quotas, with the values that the environment sets. */
import { QUOTAS, type QuotaName } from '../caller-limits.js';

/** How much of a scarce resource may be held at the same time. Above it, a call is refused or a connection closed. */
export interface QuotaLimits {
  /** The counted resource, in words. */
  readonly of: string;
  /** One user within a network address. */
  readonly perUser?: number | undefined;
  /** One network address. An IPv6 address counts by its /64. */
  readonly perAddress?: number | undefined;
  /** All callers together. */
  readonly total?: number | undefined;
}

export type QuotaTable = Readonly<Record<QuotaName, QuotaLimits>>;

interface QuotaVariables {
  readonly QUOTA_REQUESTS_PER_USER: number;
  readonly QUOTA_REQUESTS_PER_ADDRESS: number;
  readonly QUOTA_STREAMS_PER_ADDRESS: number;
}

/** Behind a proxy, all connections come from the proxy's address, so there is no limit per address. */
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
