/** What an operator can't do with accounts. test/commands/admin.test.ts tests the command itself. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAdmin, ensureAdmin, setAdminPassword } from '../../../../src/market/operations/admins/admins.js';
import { ADMIN, openTestApp, type TestApp } from '../../../setup/app.js';
import { admin, homeowner } from '../../../story/cast.js';
import { mailTo } from '../../mail/mailbox.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const PASSWORD = 'another password';

it('nobody else becomes an admin or gets a password', async () => {
  const { email } = await homeowner(app, 'Hanna');
  await expect(ensureAdmin(app.services, email, PASSWORD)).rejects.toThrow(`${email} belongs to a homeowner`);
  await expect(createAdmin(app.services, email, PASSWORD)).rejects.toThrow(`${email} belongs to a homeowner`);
  await expect(setAdminPassword(app.services, email, PASSWORD)).rejects.toThrow(`${email} is not an admin.`);
  await expect(setAdminPassword(app.services, 'nobody@example.test', PASSWORD)).rejects.toThrow('is not an admin.');
  await expect(createAdmin(app.services, ADMIN.email, PASSWORD)).rejects.toThrow('is already an admin');
  const [row] = await app.sql`select user_type, (select count(*)::int from users where user_type = 'admin') as admins
    from users where email = ${email}`;
  expect(row).toEqual({ user_type: 'homeowner', admins: 1 });
});

it('a new password lets in an admin whom another has suspended', async () => {
  const email = 'grace@example.test';
  await createAdmin(app.services, email, PASSWORD);
  const logIn = (password: string) => app.rest('POST', '/v1/auth/login', { body: { email, password } });
  const { id } = (await logIn(PASSWORD)).body.user;
  const { token } = await admin(app);
  await app.rest('POST', `/v1/users/${id}/suspend`, { token, body: { reason: 'A stolen account did this.' } });
  expect((await logIn(PASSWORD)).body.details.reason).toBe('suspended');
  await setAdminPassword(app.services, email, 'a third password');
  // Grace hasn't confirmed her address.
  expect(await app.sql`select from mails where email = ${email} and kind = 'password_changed'`).toEqual([]);
  expect((await logIn('a third password')).status).toBe(200);
});

it("a password is set for an admin's current address, not for a former one", async () => {
  const [before, after] = ['gina@example.test', 'gina.new@example.test'];
  await createAdmin(app.services, before, PASSWORD);
  const { body } = await app.rest('POST', '/v1/auth/login', { body: { email: before, password: PASSWORD } });
  await app.rest('POST', '/v1/me/email', { token: body.token, body: { email: after, current_password: PASSWORD } });
  const { token } = await mailTo(app, after, 'Confirm your new email address');
  expect((await app.rest('POST', '/v1/auth/verify-email', { body: { token } })).status).toBe(200);
  await expect(setAdminPassword(app.services, before, PASSWORD)).rejects.toThrow(`${before} is not an admin.`);
  await setAdminPassword(app.services, after, 'a third password');
  expect((await mailTo(app, after, 'Your password was changed')).to).toBe(after);
});

it('an email and a password follow the signup rules', async () => {
  await expect(createAdmin(app.services, 'ada', PASSWORD)).rejects.toThrow('The email');
  await expect(createAdmin(app.services, 'new@example.test', 'short')).rejects.toThrow(/The password .*8/);
  await expect(createAdmin(app.services, 'new@example.test', 'New@example.test')).rejects.toThrow(
    'must not be the email address',
  );
  expect(await app.sql`select email from users where email like 'new@%' or email = 'ada'`).toEqual([]);
});
