/**
 * Decides which addresses a webhook may have. Any user can register a webhook, and the other services in this network
 * trust the server. So an address that isn't certainly public is rejected, at registration and at each connection.
 */
import { NODATA, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import ipaddr from 'ipaddr.js';

export interface AddressRules {
  /** The problem with a URL. Undefined if the URL is allowed. Names are looked up only when a connection is made. */
  problemWith(url: string): string | undefined;
  /** The DNS lookup for connections to webhooks. Undefined if the system's own lookup can be used. */
  readonly lookup: LookupFunction | undefined;
}

export interface AddressSettings {
  /** Allows plain HTTP and private addresses, for tests and trials. */
  readonly allowPrivate: boolean;
  /** The name servers to use instead of the system's own. */
  readonly nameServers?: readonly string[];
}

/** The error code for a name that has a private address. */
export const NOT_PUBLIC = 'ADDRESS_NOT_PUBLIC';

export function createAddressRules({ allowPrivate, nameServers }: AddressSettings): AddressRules {
  if (allowPrivate) return { problemWith: problemWithAnyAddress, lookup: undefined };
  return { problemWith: problemWithPublicAddress, lookup: publicLookup(nameServers) };
}

function problemWithAnyAddress(text: string): string | undefined {
  const url = parseUrl(text);
  if (!url || !['https:', 'http:'].includes(url.protocol)) return 'must be a URL that starts with https://';
  return problemWithText(text) ?? problemWithParts(url);
}

function problemWithPublicAddress(text: string): string | undefined {
  const url = parseUrl(text);
  if (url?.protocol !== 'https:') return 'must be a URL that starts with https://';
  return problemWithText(text) ?? problemWithParts(url) ?? problemWithPort(url) ?? problemWithHost(url);
}

/**
 * The characters that a URL may contain. Other characters could hide where the URL leads, from people or from other
 * programs.
 */
const PRINTABLE_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i;

function problemWithText(text: string): string | undefined {
  return PRINTABLE_URL.test(text) ? undefined : 'must use only printable ASCII, with // and without \\';
}

/** Parses a URL as browsers do: the hosts of `https://0x7f.1` and `https://2130706433` become 127.0.0.1. */
function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function problemWithParts({ username, password, hash }: URL): string | undefined {
  if (username !== '' || password !== '') return 'must not contain a user name or a password';
  return hash === '' ? undefined : 'must not have a fragment (#)';
}

const LOWEST_FREE_PORT = 1024;

/** Lower ports belong to other services, which a request must not connect to. */
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
 * True for a public address. An IPv6 address must be in 2000::/3 and have no special use. Addresses that contain an
 * IPv4 address (mapped, 6to4, NAT64, Teredo) are always rejected.
 */
export function isPublicAddress(address: string): boolean {
  if (!isIP(address) || address.includes('%')) return false;
  const ip = ipaddr.parse(address);
  if (ip.range() !== 'unicast') return false;
  return !(ip instanceof ipaddr.IPv6) || ip.match(GLOBAL_UNICAST, 3);
}

const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

/** Uses c-ares instead of the system's lookup, because a silent name server must not block one of Node's threads. */
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

/**
 * Rejects a name with a private address even if its other addresses are public. No public endpoint has a name like
 * that.
 */
async function publicAddressesOf(resolver: Resolver, hostname: string) {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...addressesIn(v4).map((address) => ({ address, family: 4 })),
    ...addressesIn(v6).map((address) => ({ address, family: 6 })),
  ];
  // A CNAME without addresses resolves to an empty list without an error, and Node fails on an empty list.
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
