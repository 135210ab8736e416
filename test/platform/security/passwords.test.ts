import { readFileSync } from 'node:fs';
import bcrypt from 'bcrypt';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPasswords } from '../../../src/platform/security/passwords.js';

const HAPROXY = new URL('../../../deploy/haproxy.cfg', import.meta.url);
/** Allows for a login's reads and writes before and after its password check. */
const TIME_FOR_THE_DATABASE_MS = 10_000;

/** On a busy machine, the last of many calls would otherwise be refused for waiting too long. */
function waitAsLongAsItTakes(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
}

afterEach(() => void vi.useRealTimers());

describe('passwords', () => {
  const passwords = createPasswords({ cost: 5 });

  it('match their own hash and no other, in any script', async () => {
    const hash = await passwords.hash('näher mein 🔑');
    expect(await passwords.matches('näher mein 🔑', hash)).toBe(true);
    expect(await passwords.matches('naher mein 🔑', hash)).toBe(false);
    expect(await passwords.matches('', hash)).toBe(false);
  });

  it('are hashed at the configured cost, each with its own salt', async () => {
    const [one, other] = await Promise.all([passwords.hash('same'), passwords.hash('same')]);
    expect(bcrypt.getRounds(one)).toBe(5);
    expect(one).not.toBe(other);
  });

  it("never match an account that doesn't exist", async () => {
    for (const plain of ['', 'password', 'undefined']) expect(await passwords.matches(plain, undefined)).toBe(false);
  });

  it('are hashed a few at a time: 256 wait, the next is refused, and all that waited are served', async () => {
    waitAsLongAsItTakes();
    const busy = createPasswords({ cost: 4, concurrent: 2 });
    // With this many addresses, none has more waiting calls than another.
    const inTime = Array.from({ length: 258 }, (_, at) => busy.hash('x', { address: `10.0.0.${at}` }));
    expect([busy.active, busy.waiting]).toEqual([2, 256]);
    await expect(busy.hash('x', { address: 'late' })).rejects.toMatchObject({ code: 'OVERLOADED' });
    await expect(busy.matches('x', undefined, { address: 'late' })).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(await Promise.all(inTime)).toHaveLength(258);
    expect([busy.active, busy.waiting]).toEqual([0, 0]);
  });

  it('fail with a 503 if they wait too long, well before HAProxy gives up on the call', async () => {
    const [, seconds] = /timeout server "\$\{ANSWER_WITHIN-(\d+)s\}"/.exec(readFileSync(HAPROXY, 'utf8')) ?? [];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const busy = createPasswords({ cost: 10, concurrent: 1 });
    const first = busy.hash('x', { address: '10.0.0.1' });
    const second = busy.matches('x', undefined, { address: '10.0.0.2' });
    const details = { retryAfter: expect.any(Number) as number };
    const isRefused = expect(second).rejects.toMatchObject({ code: 'OVERLOADED', details });
    vi.advanceTimersByTime(Number(seconds) * 1_000 - TIME_FOR_THE_DATABASE_MS);
    vi.useRealTimers();
    await isRefused;
    await first;
  });

  it('are hashed for one address like for others: its 129th waiting call is refused', async () => {
    waitAsLongAsItTakes();
    const busy = createPasswords({ cost: 4, concurrent: 1 });
    const order: string[] = [];
    const greedy = Array.from({ length: 129 }, (_, at) =>
      busy.hash('x', { address: 'greedy' }).then(() => order.push(`greedy ${at}`)),
    );
    await expect(busy.hash('x', { address: 'greedy' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await busy.hash('x', { address: 'other' }).then(() => order.push('other'));
    expect(order.indexOf('other')).toBeLessThanOrEqual(2);
    await Promise.all(greedy);
  });
});
