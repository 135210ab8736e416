/** The table of shares as the environment configures it. */
import { SHARES, type ShareName } from '../limits.js';

/** How much of something scarce may be held at once; beyond it a call is refused, or a connection closed. */
export interface ShareLimits {
  /** What is counted, in words. */
  readonly of: string;
  /** One user inside a network address. */
  readonly perUser?: number | undefined;
  /** One network address, IPv6 by its /64. */
  readonly perAddress?: number | undefined;
  /** All callers together. */
  readonly total?: number | undefined;
}

export type ShareTable = Readonly<Record<ShareName, ShareLimits>>;

interface ShareVariables {
  readonly SHARE_REQUESTS_PER_USER: number;
  readonly SHARE_REQUESTS_PER_ADDRESS: number;
  readonly SHARE_STREAMS_PER_ADDRESS: number;
}

/** Behind a proxy all connections come from the proxy's address, so that they have no limit for one address. */
export function sharesOf(variables: ShareVariables, isBehindProxy: boolean): ShareTable {
  const streamsPerAddress = variables.SHARE_STREAMS_PER_ADDRESS;
  return {
    ...SHARES,
    connections: { ...SHARES.connections, perAddress: isBehindProxy ? undefined : SHARES.connections.perAddress },
    requests: {
      ...SHARES.requests,
      perUser: variables.SHARE_REQUESTS_PER_USER,
      perAddress: variables.SHARE_REQUESTS_PER_ADDRESS,
    },
    streams: { ...SHARES.streams, perAddress: streamsPerAddress },
    webSockets: { ...SHARES.webSockets, perAddress: streamsPerAddress },
  };
}
