/**
 * Determines a client's address, and what counts as one address. Clients can write anything into X-Forwarded-For. So
 * only the entries that our own proxies appended count, from the right.
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * One identity for all spellings of an address. A household or a rented server owns a whole IPv6 /64, so a limit per
 * single address would limit nothing. Other strings and shortened prefixes don't change.
 */
export function addressIdentity(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  return mappedIPv4(groups) ?? prefix64(groups);
}

/** The client's full address: the socket's, or the one that the outermost trusted proxy appended. */
export function believedAddress(socketAddress: string, xForwardedFor: string | undefined, trustedHops: number): string {
  if (trustedHops <= 0 || !xForwardedFor) return socketAddress;
  const entries = xForwardedFor.split(',');
  // Counts invalid entries too. Without them, the count would reach entries that the client wrote.
  const entry = entries[Math.max(0, entries.length - trustedHops)];
  return addressIn(entry ?? '') ?? socketAddress;
}

/** The entry without the port that some proxies add. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) ? bare : undefined;
}

type Groups = readonly number[];

/** The eight 16-bit groups of a valid IPv6 address. */
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

/** An address may end in IPv4 notation for its last two groups. */
function pairsOf(ipv4: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

function mappedIPv4(groups: Groups): string | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : undefined;
}

/** The second half is all zeros, so `::` always stands for the end. */
function prefix64(groups: Groups): string {
  const prefixGroups = groups.slice(0, 4);
  while (prefixGroups.at(-1) === 0) prefixGroups.pop();
  return `${prefixGroups.map((group) => group.toString(16)).join(':')}::/64`;
}

/** True if a URL's host or a socket's address is this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/i, '');
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}
