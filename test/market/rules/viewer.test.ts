import { expect, test } from 'vitest';
import { newId } from '../../../src/market/store/new-id.js';
import { isBearer, ROLES } from '../../../src/market/rules/viewer.js';

const claims = { userId: newId('user'), sessionId: newId('session'), role: 'homeowner' };

test('a token’s claims name a user, a session, and a role', () => {
  for (const role of ROLES) expect(isBearer({ ...claims, role })).toBe(true);
});

test.each([
  ['another role', { role: 'owner' }],
  ['no role', { role: undefined }],
  ['a list of roles', { role: ['admin'] }],
  ['a session as the user', { userId: newId('session') }],
  ['a user as the session', { sessionId: newId('user') }],
  ['a user that is not a string', { userId: 1 }],
])('claims with %s are rejected', (_, wrong) => {
  expect(isBearer({ ...claims, ...wrong })).toBe(false);
});
