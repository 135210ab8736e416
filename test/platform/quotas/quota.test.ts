import { describe, expect, it } from 'vitest';
import { createQuota, NO_EVENTS, type Client } from '../../../src/platform/quotas/quota.js';
import { readConfig } from '../../../src/app/config.js';
import { RequestUnderWay } from '../../../src/platform/quotas/quotas.js';

const quotaWith = (limits: { perUser?: number; perAddress?: number; total?: number }) =>
  createQuota({ name: 'requests', limits: { of: 'requests', ...limits }, events: NO_EVENTS });
const refused = (take: () => unknown) => {
  try {
    take();
    return 'taken';
  } catch (error) {
    const { code, status, details, message } = error as {
      code: string;
      status: number;
      details: object;
      message: string;
    };
    return { code, status, details, message };
  }
};

describe('a quota', () => {
  it('is for a user within an address, for an address with all of its users, and for the whole server', () => {
    const quota = quotaWith({ perUser: 1, perAddress: 2, total: 3 });
    const user = (address: string, name: string): Client => ({ address, user: name });
    quota.take(user('a', '1'));
    expect(refused(() => quota.take(user('a', '1')))).toEqual({
      code: 'RATE_LIMITED',
      status: 429,
      details: { retryAfter: 1, limit: 'requests' },
      message: 'You can have at most 1 requests at the same time. Wait for some to finish, then try again.',
    });
    quota.take(user('a', '2'));
    expect(refused(() => quota.take(user('a', '3')))).toMatchObject({
      status: 429,
      message:
        'Your network address can have at most 2 requests at the same time. Wait for some to finish, then try again.',
    });
    quota.take(user('b', '1'));
    expect(refused(() => quota.take(user('c', '1')))).toMatchObject({
      code: 'OVERLOADED',
      status: 503,
      details: { retryAfter: 1 },
    });
  });

  it('is released once, however often its holder asks', () => {
    const quota = quotaWith({ perUser: 2 });
    const client = { address: 'a', user: '1' };
    const [one] = [quota.take(client), quota.take(client)];
    one();
    one();
    expect([quota.inUse(), quota.inUse('a'), quota.inUse('b')]).toEqual([1, 1, 0]);
    quota.take(client);
    expect(refused(() => quota.take(client))).toMatchObject({ status: 429 });
  });

  it('of a holder whose user became known later is released as it was taken', () => {
    const quota = quotaWith({ perUser: 1 });
    const client: Client = { address: 'a' };
    const release = quota.take(client);
    client.user = '1';
    release();
    expect([quota.inUse(), refused(() => quota.take(client)), quota.inUse()]).toEqual([0, 'taken', 1]);
  });

  it('forgets users who hold nothing, at an address that always holds something', () => {
    const quota = quotaWith({ perUser: 1, perAddress: 2 });
    quota.take({ address: 'a' });
    for (let at = 0; at < 100; at += 1) {
      const release = quota.take({ address: 'a', user: `one of many ${at}` });
      refused(() => quota.take({ address: 'a', user: `refused ${at}` }));
      release();
    }
    expect([quota.inUse('a'), quota.inUse('a', 'one of many 0')]).toEqual([1, 0]);
  });

  it('names the largest holder', () => {
    const quota = quotaWith({});
    expect(quota.largest()).toBeUndefined();
    quota.take({ address: 'a' }, 5);
    quota.take({ address: 'b' }, 3);
    quota.take({ address: 'b' }, 3);
    expect(quota.largest()).toBe('b');
  });
});

describe('a request in progress', () => {
  it('counts only against its address until its user is known, and then against both, once', () => {
    const quota = quotaWith({ perUser: 2, perAddress: 10 });
    const requests = Array.from({ length: 3 }, () => new RequestUnderWay(quota, { address: 'a' }));
    requests[0]?.identify('usr_1');
    requests[0]?.identify('usr_1');
    requests[1]?.identify('usr_1');
    expect(quota.inUse('a')).toBe(3);
    expect(refused(() => requests[2]?.identify('usr_1'))).toMatchObject({ code: 'RATE_LIMITED' });
    requests[2]?.end();
    requests[2]?.end();
    requests[1]?.end();
    expect(quota.inUse('a')).toBe(1);
    expect(refused(() => new RequestUnderWay(quota, { address: 'a', user: 'usr_1' }))).toBe('taken');
  });

  it('that has ended takes nothing more when its user becomes known', () => {
    const quota = quotaWith({ perUser: 1 });
    const request = new RequestUnderWay(quota, { address: 'a' });
    request.end();
    request.identify('usr_1');
    expect(quota.inUse()).toBe(0);
    // A write continues without its client, and the user's reads must include it.
    expect(request.client.user).toBe('usr_1');
  });
});

describe('the table of quotas', () => {
  it('takes three numbers from the environment', () => {
    const { quotas } = readConfig({
      QUOTA_REQUESTS_PER_USER: '1',
      QUOTA_REQUESTS_PER_ADDRESS: '2',
      QUOTA_STREAMS_PER_ADDRESS: '3',
    });
    expect(quotas.requests).toMatchObject({ perUser: 1, perAddress: 2 });
    expect([quotas.streams.perAddress, quotas.webSockets.perAddress]).toEqual([3, 3]);
  });

  it("doesn't count connections by address behind a proxy, which owns them all", () => {
    const { connections, requests } = readConfig({ TRUST_PROXY_HOPS: '1' }).quotas;
    expect([connections.perAddress, connections.total, requests.perAddress]).toEqual([undefined, 10_000, 200]);
  });
});
