import { expect, test } from 'vitest';
import { accountSuspended, assertMaySuspend } from '../../../../src/market/rules/people/suspension.js';
import { ada, carla } from '../people.js';

const NOW = new Date('2026-11-29T20:00:00.000Z');

test.each([
  ['forever', null, 'This account is suspended. Contact support if you think this is a mistake.'],
  [
    'until another day',
    new Date('2026-12-01T01:30:00.000Z'),
    'This account is suspended until December 1, 2026. Contact support if you think this is a mistake.',
  ],
  [
    'for exactly a day',
    new Date('2026-11-30T20:00:00.000Z'),
    'This account is suspended until November 30, 2026. Contact support if you think this is a mistake.',
  ],
  [
    'for less than a day',
    new Date('2026-11-30T19:05:00.000Z'),
    'This account is suspended until November 30, 2026 at 7:05 PM UTC. Contact support if you think this is a mistake.',
  ],
])('a person who is suspended %s reads how long it lasts, and not why', (_, until, message) => {
  expect(accountSuspended(until, NOW)).toMatchObject({
    code: 'INVALID_CREDENTIALS',
    status: 401,
    message,
    details: { reason: 'suspended', until },
  });
});

test('an admin can suspend anyone but themselves', () => {
  expect(() => assertMaySuspend(ada.userId, carla.userId)).not.toThrow();
  expect(() => assertMaySuspend(ada.userId, ada.userId)).toThrow('You can’t suspend yourself.');
});
