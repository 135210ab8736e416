import { describe, expect, it } from 'vitest';
import { addressIdentity, believedAddress } from '../../../src/platform/security/address.js';

const clientAddress = (...from: Parameters<typeof believedAddress>) => addressIdentity(believedAddress(...from));

describe("the client's address", () => {
  it.each([
    ['the socket, when no proxy is trusted', '203.0.113.9', '198.51.100.1', 0, '203.0.113.9'],
    ['the socket, without the header', '203.0.113.9', undefined, 1, '203.0.113.9'],
    ['the socket, with an empty header', '203.0.113.9', '', 1, '203.0.113.9'],
    ['the last entry, behind one proxy', '10.0.0.1', '6.6.6.6, 198.51.100.1', 1, '198.51.100.1'],
    ['the last but one, behind two', '10.0.0.1', '6.6.6.6, 198.51.100.1, 10.0.0.2', 2, '198.51.100.1'],
    ['the leftmost entry, where there are fewer than hops', '10.0.0.1', '198.51.100.1, 10.0.0.2', 5, '198.51.100.1'],
    ['the socket, where the trusted entry is garbage', '10.0.0.1', '6.6.6.6, unknown', 1, '10.0.0.1'],
    ['the socket, where garbage would shift the count', '10.0.0.1', '6.6.6.6, , 10.0.0.2', 2, '10.0.0.1'],
    ['the entry without its port', '10.0.0.1', '198.51.100.1:50123', 1, '198.51.100.1'],
    ['the bracketed entry without its port', '10.0.0.1', '[2001:db8:1:2::5]:443', 1, '2001:db8:1:2::/64'],
    ['the socket, where an entry is out of range', '10.0.0.1', '999.1.1.1', 1, '10.0.0.1'],
    ['the socket, where a name stands for an address', '10.0.0.1', '__proto__', 1, '10.0.0.1'],
    ['the socket unmapped from IPv6', '::ffff:203.0.113.9', undefined, 0, '203.0.113.9'],
  ])('is %s', (_name, socket, header, hops, address) => {
    expect(clientAddress(socket, header, hops)).toBe(address);
  });

  it("can't be chosen by the client, whatever comes before the entry that our proxy appended", () => {
    for (const forged of ['', '1.1.1.1', '1.1.1.1, 2.2.2.2', ',,,', '"x"', '::1', 'a'.repeat(5_000)]) {
      expect(clientAddress('10.0.0.1', `${forged}, 198.51.100.1`, 1)).toBe('198.51.100.1');
    }
  });

  it('is available in full, to identify a single machine', () => {
    expect(believedAddress('10.0.0.1', '2001:db8::5', 1)).toBe('2001:db8::5');
  });
});

describe("an address's identity", () => {
  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:db8:0:0:1::', '2001:db8::/64'],
    ['2001:0:0:4::9', '2001:0:0:4::/64'],
    ['::1', '::/64'],
    ['::', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4::/64'],
    ['::ffff:192.0.2.128', '192.0.2.128'],
    ['::FFFF:c000:0280', '192.0.2.128'],
    ['0:0:0:0:0:ffff:192.0.2.128', '192.0.2.128'],
    ['192.0.2.128', '192.0.2.128'],
    ['', ''],
    ['no address', 'no address'],
  ])('of %s is %s', (address, identity) => {
    expect(addressIdentity(address)).toBe(identity);
    expect(addressIdentity(identity)).toBe(identity);
  });

  it('is the same for a whole /64, and different for its neighbor', () => {
    const inside = Array.from({ length: 500 }, (_, i) =>
      addressIdentity(`2001:db8:aa:bb:${i.toString(16)}:1:2:${(i * 97).toString(16)}`),
    );
    expect(new Set(inside)).toEqual(new Set(['2001:db8:aa:bb::/64']));
    expect(addressIdentity('2001:db8:aa:bc::1')).not.toBe(inside[0]);
  });
});
