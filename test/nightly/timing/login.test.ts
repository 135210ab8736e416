import { afterAll, beforeAll, expect, it } from 'vitest';
import { homeowner, type Person } from '../../story/cast.js';
import { openTestApp, type TestApp } from '../../setup/app.js';

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  // Slow enough to measure, and fast enough to measure often.
  app = await openTestApp({ BCRYPT_COST: '7' });
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

const logIn = (body: unknown) => app.rest('POST', '/v1/auth/login', { body });

it('a login takes as long for an unknown email as for a wrong password', { retry: 2 }, async () => {
  const took = { known: [] as number[], unknown: [] as number[] };
  for (let i = 0; i < 220; i += 1) {
    // The order of the two also alternates.
    for (const who of i % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const email = who === 'known' ? hanna.email : `nobody.${i}@example.test`;
      const began = performance.now();
      await logIn({ email, password: 'not her password' });
      if (i >= 20) took[who].push(performance.now() - began);
    }
  }
  expect(Math.abs(median(took.known) / median(took.unknown) - 1)).toBeLessThan(0.1);
});

it('requesting a reset link takes as long with an account as without', { retry: 2 }, async () => {
  const took = { known: [] as number[], unknown: [] as number[] };
  const ask = (email: string) => app.rest('POST', '/v1/auth/password-reset', { body: { email } });
  for (let i = 0; i < 1_020; i += 1) {
    for (const who of i % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const began = performance.now();
      const { body } = await ask(who === 'known' ? hanna.email : `nobody.${i}@example.test`);
      if (i >= 20) took[who].push(performance.now() - began);
      expect(body.message).toBe('If an account has this address, an email is on its way.');
    }
  }
  expect(Math.abs(median(took.known) / median(took.unknown) - 1)).toBeLessThan(0.1);
});

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
