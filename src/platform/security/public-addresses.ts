/**
 * Decides which addresses a webhook may have. Any user can register a webhook, and other services in this network trust
 * the server. So an address that isn't certainly public is rejected, at registration and on each connection.
 */
import { NODATA, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import ipaddr from 'ipaddr.js';

export interface AddressRules {
  /** The problem with a URL. Undefined if the URL is allowed. Names are looked up only for a connection. */
  problemWith(url: string): string | undefined;
  /** The DNS lookup for webhook connections. Undefined to use the system's own. */
  readonly lookup: LookupFunction | undefined;
}

export interface AddressSettings {
  /** Allows plain HTTP and private addresses, for tests and trials. */
  readonly allowPrivate: boolean;
  readonly nameServers?: readonly string[];
}

/** The error code for a name with a private address. */
export const NOT_PUBLIC = 'ADDRESS_NOT_PUBLIC';

export function createAddressRules({ allowPrivate, nameServers }: AddressSettings): AddressRules {
  if (allowPrivate) return { problemWith: problemWithAnyAddress, lookup: undefined };
  return { problemWith: problemWithPublicAddress, lookup: publicLookup(nameServers) };
}

function problemWithAnyAddress(text: string): string | undefined {
  const url = parseUrl(text);
  if (!url || !['https:', 'http:'].includes(url.protocol)) return 'must be a URL that starts with https://';
  return problemWithText(text) ?? problemWithCredentialsOrHash(url);
}

function problemWithPublicAddress(text: string): string | undefined {
  const url = parseUrl(text);
  if (url?.protocol !== 'https:') return 'must be a URL that starts with https://';
  return problemWithText(text) ?? problemWithCredentialsOrHash(url) ?? problemWithPort(url) ?? problemWithHost(url);
}

/** Other characters could hide from people or programs where a URL leads. */
const PRINTABLE_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i;

function problemWithText(text: string): string | undefined {
  return PRINTABLE_URL.test(text) ? undefined : 'must use only printable ASCII, with // and without \\';
}

/** Parses a URL like browsers, which read the hosts `0x7f.1` and `2130706433` as 127.0.0.1. */
function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function problemWithCredentialsOrHash({ username, password, hash }: URL): string | undefined {
  if (username !== '' || password !== '') return 'must not contain a user name or a password';
  return hash === '' ? undefined : 'must not have a fragment (#)';
}

const LOWEST_FREE_PORT = 1024;

/** Lower ports belong to other services, which webhooks must not reach. */
function problemWithPort({ port }: URL): string | undefined {
  return port === '' || Number(port) >= LOWEST_FREE_PORT
    ? undefined
    : `must use port 443, or a port of at least ${LOWEST_FREE_PORT}`;
}

const NOT_PUBLIC_PROBLEM = 'must point to a public IP address';
const INSIDE_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|test|invalid|onion)$/;

function problemWithHost({ hostname }: URL): string | undefined {
  const host = hostname.replaceAll(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host)) return isPublicAddress(host) ? undefined : NOT_PUBLIC_PROBLEM;
  return !host.includes('.') || INSIDE_NAMES.test(host) ? NOT_PUBLIC_PROBLEM : undefined;
}

/**
 * True for a public address. An IPv6 address must be in 2000::/3 and have no special use. Addresses that embed an IPv4
 * address (mapped, 6to4, NAT64, Teredo) are always rejected.
 */
export function isPublicAddress(address: string): boolean {
  if (!isIP(address) || address.includes('%')) return false;
  const ip = ipaddr.parse(address);
  if (ip.range() !== 'unicast') return false;
  return !(ip instanceof ipaddr.IPv6) || ip.match(GLOBAL_UNICAST, 3);
}

const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

/** Uses c-ares, because a silent name server would block one of Node's threads in the system's lookup. */
function publicLookup(nameServers: readonly string[] | undefined): LookupFunction {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (nameServers) resolver.setServers(nameServers);
  const find = callbackify((hostname: string) => publicAddressesOf(resolver, hostname));
  return (hostname, options, callback) => {
    find(hostname, (error, addresses = []) => {
      if (error || options.all) callback(error, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family ?? 0);
    });
  };
}

/** Rejects a name if any of its addresses is private. No public endpoint has such a name. */
async function publicAddressesOf(resolver: Resolver, hostname: string) {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...addressesIn(v4).map((address) => ({ address, family: 4 })),
    ...addressesIn(v6).map((address) => ({ address, family: 6 })),
  ];
  // A CNAME without addresses resolves to an empty list, on which Node fails.
  if (addresses.length === 0)
    throw v4.status === 'rejected'
      ? v4.reason
      : Object.assign(new Error(`${hostname} has no address.`), { code: NODATA });
  if (!addresses.every(({ address }) => isPublicAddress(address)))
    throw Object.assign(new Error(`${hostname} points to an address that isn’t public.`), { code: NOT_PUBLIC });
  return addresses;
}

function addressesIn(result: PromiseSettledResult<string[]>): string[] {
  return result.status === 'fulfilled' ? result.value : [];
}
