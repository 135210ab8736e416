/**
 * Determines a client's address, and what counts as one address. A client can write anything into X-Forwarded-For, so
 * only entries that our own proxies appended are trusted, counted from the right.
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * One identity for all spellings of an address. A household or a rented server gets a whole IPv6 /64, so a budget per
 * single address wouldn't be a limit at all. Any other string stays as it is, and so does an already shortened prefix.
 */
export function addressIdentity(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  return mappedIPv4(groups) ?? prefix64(groups);
}

/** The client's full address. This is the socket's address, or the one that the outermost trusted proxy appended. */
export function believedAddress(socketAddress: string, xForwardedFor: string | undefined, trustedHops: number): string {
  if (trustedHops <= 0 || !xForwardedFor) return socketAddress;
  const entries = xForwardedFor.split(',');
  // Invalid entries count too. Omitting them would shift the count into entries that the client wrote.
  const entry = entries[Math.max(0, entries.length - trustedHops)];
  return addressIn(entry ?? '') ?? socketAddress;
}

/** An entry's address, without the port that some proxies add. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) ? bare : undefined;
}

type Groups = readonly number[];

/** The eight 16-bit groups of an address that `isIPv6` has accepted. */
function groupsOf(address: string): Groups {
  const [head = '', tail] = withoutZone(address).split('::');
  const left = groupsIn(head);
  if (tail === undefined) return left;
  const right = groupsIn(tail);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

function groupsIn(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => (isIPv4(part) ? pairsOf(part) : [Number.parseInt(part, 16)]));
}

/** The last two groups may be written as an IPv4 address. */
function pairsOf(ipv4: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

function mappedIPv4(groups: Groups): string | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : undefined;
}

/** The host's half is all zeros, so the longest run of zeros, which `::` stands for, is always at the end. */
function prefix64(groups: Groups): string {
  const prefixGroups = groups.slice(0, 4);
  while (prefixGroups.at(-1) === 0) prefixGroups.pop();
  return `${prefixGroups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** True if a host in a URL or a socket's address is this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/i, '');
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}
