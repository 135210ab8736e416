/** The table of shares as the environment configures it, each number by its own variable. */
import { SHARES, type ShareName } from '../rules/limits.js';

/** How much of something scarce may be held at once; beyond it a call is refused, or a connection closed. */
export interface ShareLimits {
  /** What is counted, in words. */
  readonly of: string;
  /** One user inside a network address. */
  readonly perUser?: number | undefined;
  /** One network address, IPv6 by its /64. */
  readonly perAddress?: number | undefined;
  readonly perConnection?: number | undefined;
  /** All callers together. */
  readonly total?: number | undefined;
}

export type ShareTable = Readonly<Record<ShareName, ShareLimits>>;

const BOUNDS = {
  perUser: 'for one user',
  perAddress: 'for one network address',
  perConnection: 'on one connection',
  total: 'in all',
} as const;
type BoundName = keyof typeof BOUNDS;

/** Each number of each share, with the name of its variable. */
export const SHARE_NUMBERS = Object.entries(SHARES).flatMap(([name, limits]: [string, ShareLimits]) =>
  (Object.keys(BOUNDS) as BoundName[]).flatMap((bound) => {
    const max = limits[bound];
    const variable = `SHARE_${inUpperSnake(name)}_${inUpperSnake(bound)}`;
    return max === undefined
      ? []
      : [{ variable, name: name as ShareName, bound, max, of: `${limits.of}, ${BOUNDS[bound]}` }];
  }),
);

export function inUpperSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Behind a proxy all connections come from the proxy's address, so that they have no limit for one address. */
export function sharesOf(env: Readonly<Record<string, unknown>>, isBehindProxy: boolean): ShareTable {
  const shares: Record<ShareName, ShareLimits> = { ...SHARES };
  for (const { variable, name, bound, max } of SHARE_NUMBERS)
    shares[name] = { ...shares[name], [bound]: env[variable] ?? max };
  if (!isBehindProxy) return shares;
  const { connections, newConnections, requestsAhead } = shares;
  return {
    ...shares,
    connections: { ...connections, perAddress: undefined },
    newConnections: { ...newConnections, perAddress: undefined },
    requestsAhead: { ...requestsAhead, perAddress: undefined },
  };
}
