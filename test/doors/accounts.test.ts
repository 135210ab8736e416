import { afterAll, beforeAll, expect, test } from 'vitest';
import { homeowner } from '../cast.js';
import { openTestHouse, type TestHouse } from '../house.js';

let house: TestHouse;
beforeAll(async () => {
  house = await openTestHouse();
});
afterAll(() => house.close());

test('Hanna joins and reads herself through both doors', async () => {
  const hanna = await homeowner(house, 'Hanna');
  const byRest = await house.rest('GET', '/v1/me', { token: hanna.token });
  expect(byRest.body).toMatchObject({ user: { id: hanna.userId, email: hanna.email }, tokens: { balance: 10, held: 0, available: 10 } });
  const byGraphql = await house.graphql('{ viewer { user { id email } tokens { balance } } }', { token: hanna.token });
  expect(byGraphql.data.viewer).toEqual({ user: { id: hanna.userId, email: hanna.email }, tokens: { balance: 10 } });
});
