/**
 * Notices that requests come through a proxy which the configuration does not count. All callers then have the proxy's
 * address, and share the limits of that one address.
 */
import type { IncomingMessage } from 'node:http';

const HEADERS_OF_PROXIES = ['x-forwarded-for', 'forwarded'] as const;

/** Calls `warn` at the first such request and never again: any caller can send these headers. */
export function proxyNotice(trustedHops: number, warn: (header: string) => void): (request: IncomingMessage) => void {
  let isSilent = trustedHops > 0;
  return ({ headers }) => {
    if (isSilent) return;
    const header = HEADERS_OF_PROXIES.find((name) => headers[name] !== undefined);
    if (header === undefined) return;
    isSilent = true;
    warn(header);
  };
}
