/** Account events about passwords and paused endpoints. test/market/mail/ tests those about email addresses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdmin, setAdminPassword } from '../../../../src/market/operations/admins/admins.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { admin, homeowner, type Person } from '../../../story/cast.js';
import { mailTo } from '../../mail/mailbox.js';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await openTestApp();
  ada = await admin(app);
});
afterAll(() => app.close());

const eventsOf = async ({ userId }: Pick<Person, 'userId'>) => [
  ...(await app.sql`select type, actor_id, data from account_events
    where user_id = ${userId} order by occurred_at, id`),
];
const passwordChanged = (cause: string) => ({ type: 'account.password_changed', actor_id: null, data: { cause } });
const endpointOf = async ({ token }: Person): Promise<string> => {
  const { body } = await app.rest('POST', '/v1/webhooks', { token, body: { url: 'https://hooks.example.com/jobs' } });
  return body.webhook.id;
};
const paused = (webhookId: string, reason: string) => ({
  type: 'webhook.paused',
  actor_id: null,
  data: { webhookId, reason },
});
/** Events of one transaction can have the same millisecond. They then have no order. */
const inOrder = <One>(events: readonly One[]) =>
  events.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe('a changed password', () => {
  it('logs one event if its owner changed it, through either API, and none if the call failed', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const change = (current: string, next: string, headers = {}) =>
      app.rest('POST', '/v1/me/password', {
        token: hanna.token,
        body: { current_password: current, new_password: next },
        headers,
      });
    expect((await change('a wrong password', 'a new password')).status).toBe(401);
    expect((await change(hanna.password, 'a new password', { 'dry-run': 'true' })).status).toBe(200);
    expect(await eventsOf(hanna)).toEqual([]);
    expect((await change(hanna.password, 'a new password')).status).toBe(200);
    expect(await eventsOf(hanna)).toEqual([passwordChanged('change')]);
    const { errors } = await app.graphql(
      'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { __typename } }',
      { token: hanna.token, variables: { input: { currentPassword: 'a new password', newPassword: 'another one' } } },
    );
    expect(errors).toBeUndefined();
    expect(await eventsOf(hanna)).toEqual([passwordChanged('change'), passwordChanged('change')]);
  });

  it('logs an event if it was reset with a link, and one for each endpoint that this paused', async () => {
    const rita = await homeowner(app, 'Rita');
    const webhook = await endpointOf(rita);
    await app.rest('POST', '/v1/auth/password-reset', { body: { email: rita.email } });
    const { token } = await mailTo(app, rita.email, 'Set a new password');
    const body = { token, new_password: 'a new password' };
    expect((await app.rest('POST', '/v1/auth/password-reset/confirm', { body })).status).toBe(200);
    const events = inOrder([paused(webhook, 'account_recovered'), passwordChanged('reset')]);
    expect(inOrder(await eventsOf(rita))).toEqual(events);
    expect((await app.rest('POST', '/v1/auth/password-reset/confirm', { body })).status).toBe(400);
    expect(inOrder(await eventsOf(rita))).toEqual(events);
  });

  it('logs an event if an operator set it', async () => {
    const email = 'operations@example.test';
    await createAdmin(app.services, email, 'a good password');
    const [{ userId } = { userId: '' }] = await app.sql<{ userId: string }[]>`
      select id as "userId" from users where email = ${email}`;
    await setAdminPassword(app.services, email, 'a new password');
    expect(await eventsOf({ userId })).toEqual([passwordChanged('operator')]);
  });
});

it('a suspension logs an event for each active endpoint, and none for paused or deleted ones', async () => {
  const sam = await homeowner(app, 'Sam');
  const [first, second, asleep, gone] = [
    await endpointOf(sam),
    await endpointOf(sam),
    await endpointOf(sam),
    await endpointOf(sam),
  ] as const;
  await app.rest('PUT', `/v1/webhooks/${asleep}`, { token: sam.token, body: { status: 'paused' } });
  await app.rest('DELETE', `/v1/webhooks/${gone}`, { token: sam.token });
  const suspend = () =>
    app.rest('POST', `/v1/users/${sam.userId}/suspend`, { token: ada.token, body: { reason: 'Fraud' } });
  expect((await suspend()).status).toBe(200);
  const events = inOrder([paused(first, 'suspended'), paused(second, 'suspended')]);
  expect(inOrder(await eventsOf(sam))).toEqual(events);
  expect((await suspend()).status).toBe(200);
  expect(inOrder(await eventsOf(sam))).toEqual(events);
  const [{ status } = { status: '' }] = await app.sql`select status from webhook_endpoints where id = ${second}`;
  expect(status).toBe('paused');
});
