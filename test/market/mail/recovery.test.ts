/** People who forgot their password get back in, and people who lost an account recover it, through both APIs. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MAILBOX_SECRET, openTestApp, type TestApp } from '../../setup/app.js';
import { admin, contractor, homeowner, programOf, type Person } from '../../story/cast.js';
import { DRAFT } from '../../story/journey.js';
import { until } from '../../platform/security/until.js';
import { mailsTo, mailTo } from './mailbox.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const RESET = 'Set a new password';
const CONFIRM = 'Confirm your email address';
const NEW_ADDRESS = 'Confirm your new email address';
const CHANGED = 'Your account’s email address was changed';

const post = (path: string, body: object, token?: string) => app.rest('POST', `/v1${path}`, { body, token });
const logIn = async (email: string, password: string) => post('/auth/login', { email, password });
const ask = (email: string) => post('/auth/password-reset', { email });
const reset = (token: string, password: string) =>
  post('/auth/password-reset/confirm', { token, new_password: password });
const reasonOf = ({ body }: Awaited<ReturnType<typeof post>>) => [body.details.code, body.details.reason];

async function mutate(name: string, input: object, token?: string) {
  const inputType = `${name[0]?.toUpperCase()}${name.slice(1)}Input!`;
  const fields =
    { resetPassword: 'changed', changePassword: 'noticeSent', verifyEmail: 'email', undoEmailChange: 'email' }[name] ??
    'requested';
  const document = `mutation ($input: ${inputType}) { ${name}(input: $input) { ${fields} } }`;
  const { data, errors } = await app.graphql(document, { token, variables: { input } });
  return { answer: data?.[name], extensions: errors?.[0]?.extensions };
}

async function confirm({ email }: Person): Promise<void> {
  const { token } = await mailTo(app, email, CONFIRM);
  expect((await post('/auth/verify-email', { token })).status).toBe(200);
}

const verifiedOf = async (token: string) => (await app.rest('GET', '/v1/me', { token })).body.user.email_verified;

describe('a forgotten password', () => {
  it('is reset once by an emailed link; all sessions end, and an email says so', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const program = await programOf(app, hanna);
    expect(await verifiedOf(hanna.token)).toBe(false);
    const { status, body } = await ask(hanna.email.toUpperCase());
    expect(status).toBe(200);
    const first = await mailTo(app, hanna.email, RESET);
    expect(first.page).toBe('/reset-password');
    expect((await mutate('requestPasswordReset', { email: hanna.email })).answer).toEqual({ requested: true });
    const second = await mailTo(app, hanna.email, RESET, 2);
    expect(second.token).not.toBe(first.token);

    expect((await reset(second.token, hanna.email)).body.details.fields).toEqual({
      new_password: 'must not be the email address itself',
    });
    expect((await reset(second.token, 'a new one')).status).toBe(200);
    expect((await logIn(hanna.email, hanna.password)).status).toBe(401);
    const session = await logIn(hanna.email, 'a new one');
    expect(session.status).toBe(200);
    expect(await verifiedOf(session.body.token)).toBe(true);
    for (const { token } of [hanna, program]) expect((await app.rest('GET', '/v1/me', { token })).status).toBe(401);
    expect(reasonOf(await reset(second.token, 'another one'))).toEqual(['INVALID_LINK', 'used']);
    expect(reasonOf(await reset(first.token, 'another one'))).toEqual(['INVALID_LINK', 'expired']);
    await mailTo(app, hanna.email, 'Your password was changed');
    expect((await ask('nobody.at.all@example.test')).body).toEqual(body);
  });

  it('gets the same response for an address without an account, and no email is sent there', async () => {
    expect((await ask('nobody@example.test')).status).toBe(200);
    const rows = () => app.sql`select outcome from mails where email = 'nobody@example.test'`;
    await until(async () => {
      app.sendEmails();
      return (await rows())[0]?.outcome !== null;
    });
    expect([...(await rows())]).toEqual([{ outcome: 'nobody' }]);
    expect(await mailsTo(app, 'nobody@example.test')).toEqual([]);
  });

  it('is kept with a link that is unknown, cut off, of another kind, or expired', async () => {
    const carl = await contractor(app, 'Carl');
    const verification = await mailTo(app, carl.email, CONFIRM);
    await ask(carl.email);
    const { id, token } = await mailTo(app, carl.email, RESET);
    for (const wrong of ['', 'x', token.slice(0, -1), `${token} `, verification.token, id])
      expect(reasonOf(await reset(wrong, 'a new one'))).toEqual(['INVALID_LINK', 'unknown']);
    await app.sql`update mails set expires_at = now() - interval '1 ms' where id = ${id}`;
    expect(reasonOf(await reset(token, 'a new one'))).toEqual(['INVALID_LINK', 'expired']);
    expect((await mutate('resetPassword', { token, newPassword: 'a new one' })).extensions).toMatchObject({
      code: 'INVALID_LINK',
      reason: 'expired',
    });
    expect((await logIn(carl.email, carl.password)).status).toBe(200);
  });

  it('is reset by one of many people who use the same link at the same time', async () => {
    const henry = await homeowner(app, 'Henry');
    await ask(henry.email);
    const { token } = await mailTo(app, henry.email, RESET);
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => reset(token, `new password ${n}`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
    const winner = answers.findIndex(({ status }) => status === 200) + 1;
    expect((await logIn(henry.email, `new password ${winner}`)).status).toBe(200);
  });
});

it("support's link goes to the person who wrote, is recorded, and is of no use to anybody else", async () => {
  const [ada, vera] = [await admin(app), await homeowner(app, 'Vera')];
  const send = (token: string) => app.rest('POST', `/v1/users/${vera.userId}/password-reset`, { token });
  expect((await send(vera.token)).status).toBe(403);
  const sent = await send(ada.token);
  const message = `A link to set a new password is on its way to ${vera.email}.`;
  expect([sent.status, sent.body]).toEqual([200, { status: 200, message, data: {}, requested: true }]);
  const { token } = await mailTo(app, vera.email, RESET);
  expect((await reset(token, 'vera is back')).status).toBe(200);
  const recorded = await app.sql`select action, admin_id from admin_actions where user_id = ${vera.userId}`;
  expect([...recorded]).toEqual([{ action: 'sendPasswordReset', admin_id: ada.userId }]);
  const nobody = await app.rest('POST', `/v1/users/usr_${'0'.repeat(27)}/password-reset`, { token: ada.token });
  expect(nobody.status).toBe(404);
});

it.each([
  ['password-reset', 'A link to set a new password is on its way to '],
  ['email/verification', 'A link to confirm the address is on its way to '],
])("tells support that Vera's address bounces and another one claims her account (%s)", async (path, beginning) => {
  const [ada, vera] = [await admin(app), await homeowner(app, 'Vera')];
  // Once the signup email has arrived, it can't change anything anymore.
  await mailTo(app, vera.email, CONFIRM);
  await app.sql`update users set email_undeliverable = true, email_undo = 'pending',
    email_undo_address = 'former.vera@example.test' where id = ${vera.userId}`;
  const { body } = await app.rest('POST', `/v1/users/${vera.userId}/${path}`, { token: ada.token });
  const message =
    `${beginning}${vera.email}. The mail server permanently rejected our last email to this address. ` +
    'Support hasn’t decided yet whether this address or former.vera@example.test keeps the account.';
  expect(body).toMatchObject({ message, requested: true });
});

describe('an address', () => {
  it('is confirmed by its link, and then no more emails are sent', async () => {
    const heidi = await homeowner(app, 'Heidi');
    expect((await post('/me/email/verification', {}, heidi.token)).status).toBe(200);
    const { page, token } = await mailTo(app, heidi.email, CONFIRM, 2);
    expect(page).toBe('/verify-email');
    expect((await mutate('verifyEmail', { token })).answer).toEqual({ email: heidi.email });
    expect(await verifiedOf(heidi.token)).toBe(true);
    expect(reasonOf(await post('/auth/verify-email', { token }))).toEqual(['INVALID_LINK', 'used']);
    const request = 'mutation { requestEmailVerification { requested } }';
    expect((await app.graphql(request, { token: heidi.token })).data.requestEmailVerification).toEqual({
      requested: false,
    });
    expect(await mailsTo(app, heidi.email)).toHaveLength(2);
  });

  it('shows nothing of another address, except to admins', async () => {
    const [horst, ada] = [await homeowner(app, 'Horst'), await admin(app)];
    const other = await contractor(app, 'Cora');
    const read = async (token: string) => (await app.rest('GET', `/v1/users/${horst.userId}`, { token })).body;
    expect(await read(ada.token)).toMatchObject({ email_verified: false, email_undeliverable: false });
    expect(await read(other.token)).toMatchObject({ email_verified: null, email_undeliverable: null });
  });

  it('can’t be the password', async () => {
    const heiko = await homeowner(app, 'Heiko');
    const password = 'heiko.new@example.test';
    const change = { current_password: heiko.password, new_password: password };
    expect((await post('/me/password', change, heiko.token)).status).toBe(200);
    const { status, body } = await post(
      '/me/email',
      { email: 'Heiko.New@example.test', current_password: password },
      heiko.token,
    );
    expect([status, body.details.fields]).toEqual([400, { email: 'must not be the account’s password' }]);
  });

  it('changes once the new one is confirmed, and not before', async () => {
    const hugo = await homeowner(app, 'Hugo');
    await confirm(hugo);
    const input = { email: 'Hugo.New@example.test', currentPassword: hugo.password };
    const wrong = await mutate('changeEmail', { ...input, currentPassword: 'no' }, hugo.token);
    expect(wrong.extensions).toMatchObject({ code: 'INVALID_CREDENTIALS' });
    const same = await mutate('changeEmail', { ...input, email: hugo.email }, hugo.token);
    expect(same.extensions).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect((await mutate('changeEmail', input, hugo.token)).answer).toEqual({ requested: true });
    const { token } = await mailTo(app, 'hugo.new@example.test', NEW_ADDRESS);
    expect((await logIn(hugo.email, hugo.password)).status).toBe(200);
    expect((await post('/auth/verify-email', { token })).status).toBe(200);
    expect((await logIn(hugo.email, hugo.password)).status).toBe(401);
    expect((await logIn('hugo.new@example.test', hugo.password)).status).toBe(200);
    // The session that requested the change continues.
    expect(await verifiedOf(hugo.token)).toBe(true);
    const undo = await mailTo(app, hugo.email, CHANGED);
    expect(undo.page).toBe('/undo-email-change');
    // The address stays reserved for its owner, who can undo the change.
    const signUp = { email: hugo.email, password: 'someone else', first_name: 'A', last_name: 'B' };
    expect((await post('/auth/signup/homeowner', signUp)).body.details.code).toBe('EMAIL_TAKEN');
  });

  it("that is taken gets the same response; its owner gets an email, and nobody's address changes", async () => {
    const [ivan, irma] = [await homeowner(app, 'Ivan'), await homeowner(app, 'Irma')];
    const { status } = await post('/me/email', { email: irma.email, current_password: ivan.password }, ivan.token);
    expect(status).toBe(200);
    const mail = await mailTo(app, irma.email, 'Your email address already has an account');
    expect(mail.token).toBe('');
    // Even a person who obtains the link can't move the account.
    const token = app.services.mail.tokens.tokenOf(mail.id as `mal_${string}`);
    expect((await post('/auth/verify-email', { token })).body.details.code).toBe('EMAIL_TAKEN');
    expect((await logIn(irma.email, irma.password)).status).toBe(200);
    expect((await logIn(ivan.email, ivan.password)).status).toBe(200);
  });
});

describe('a stolen account', () => {
  async function steal(owner: Person, to: string): Promise<void> {
    await post('/me/email', { email: to, current_password: owner.password }, owner.token);
    await post('/auth/verify-email', { token: (await mailTo(app, to, NEW_ADDRESS)).token });
    await ask(to);
    await reset((await mailTo(app, to, RESET)).token, 'mine now');
  }

  it("isn't lost to an undo at the thief's address after its owner moved it back", async () => {
    const olaf = await homeowner(app, 'Olaf');
    await confirm(olaf);
    await post('/me/email', { email: 'olafs.thief@example.test', current_password: olaf.password }, olaf.token);
    const moved = await mailTo(app, 'olafs.thief@example.test', NEW_ADDRESS);
    await post('/auth/verify-email', { token: moved.token });
    const own = await mailTo(app, olaf.email, CHANGED);
    await post('/me/email', { email: olaf.email, current_password: olaf.password }, olaf.token);
    const back = await mailTo(app, olaf.email, NEW_ADDRESS);
    expect((await post('/auth/verify-email', { token: back.token })).status).toBe(200);
    const undos = await app.sql`select email from mails where kind = 'email_changed' and user_id = ${olaf.userId}`;
    expect([...undos]).toEqual([{ email: olaf.email }]);
    // The owner's undo link still works, so moving the account again doesn't help a thief.
    expect((await post('/auth/undo-email-change', { token: own.token })).status).toBe(200);
  });

  it('is taken back by the owner of the former address, however often the thief moved it', async () => {
    const olga = await homeowner(app, 'Olga');
    await confirm(olga);
    await steal(olga, 'thief@example.test');
    const { token } = (await logIn('thief@example.test', 'mine now')).body;
    await post('/me/email', { email: 'thief.2@example.test', current_password: 'mine now' }, token);
    const moved = await mailTo(app, 'thief.2@example.test', NEW_ADDRESS);
    expect((await post('/auth/verify-email', { token: moved.token })).status).toBe(200);
    const thiefsUndo = await mailTo(app, 'thief@example.test', CHANGED);
    await ask('thief.2@example.test');
    const thiefsReset = await mailTo(app, 'thief.2@example.test', RESET);
    const thief = (await logIn('thief.2@example.test', 'mine now')).body.token;

    const undo = await mailTo(app, olga.email, CHANGED);
    const undone = await mutate('undoEmailChange', { token: undo.token });
    expect(undone).toMatchObject({ answer: { email: olga.email } });
    expect((await app.rest('GET', '/v1/me', { token: thief })).status).toBe(401);
    for (const email of [olga.email, 'thief@example.test', 'thief.2@example.test'])
      for (const password of ['mine now', olga.password]) expect((await logIn(email, password)).status).toBe(401);
    expect(reasonOf(await post('/auth/undo-email-change', { token: thiefsUndo.token }))).toEqual([
      'INVALID_LINK',
      'expired',
    ]);
    expect(reasonOf(await reset(thiefsReset.token, 'mine again'))).toEqual(['INVALID_LINK', 'expired']);
    const own = await mailTo(app, olga.email, RESET);
    expect((await reset(own.token, 'olga again')).status).toBe(200);
    const back = await logIn(olga.email, 'olga again');
    expect(back.body.user.id).toBe(olga.userId);
    expect(reasonOf(await post('/auth/undo-email-change', { token: undo.token }))).toEqual(['INVALID_LINK', 'used']);
  });
});

it('a new password ends an email change that someone else may have requested, and an email says so', async () => {
  const rosa = await homeowner(app, 'Rosa');
  await post('/auth/verify-email', { token: (await mailTo(app, rosa.email, CONFIRM)).token });
  await post('/me/email', { email: 'rosas.thief@example.test', current_password: rosa.password }, rosa.token);
  const { token } = await mailTo(app, 'rosas.thief@example.test', NEW_ADDRESS);
  const passwords = { current_password: rosa.password, new_password: 'rosa alone knows' };
  const changed = await post('/me/password', passwords, rosa.token);
  expect([changed.status, changed.body.notice_sent]).toEqual([200, true]);
  await mailTo(app, rosa.email, 'Your password was changed');
  expect(reasonOf(await post('/auth/verify-email', { token }))).toEqual(['INVALID_LINK', 'expired']);
  expect((await logIn(rosa.email, 'rosa alone knows')).status).toBe(200);
  const next = { currentPassword: 'rosa alone knows', newPassword: 'rosa has a third' };
  expect((await mutate('changePassword', next, rosa.token)).answer).toEqual({ noticeSent: true });
  await mailTo(app, rosa.email, 'Your password was changed', 2);
});

it('a new password also ends an email change that has already passed the password check', async () => {
  const rudi = await homeowner(app, 'Rudi');
  const thief = (await logIn(rudi.email, rudi.password)).body.token;
  const { passwords } = app.services;
  const matches = passwords.matches.bind(passwords);
  let goOn = () => {};
  const isChecked = new Promise<void>((checked) => {
    vi.spyOn(passwords, 'matches').mockImplementationOnce(async (...tried) => {
      const isSame = await matches(...tried);
      checked();
      await new Promise<void>((resolve) => (goOn = resolve));
      return isSame;
    });
  });
  // The owner's own session. It stays active, so only the password can make the call fail.
  const change = post('/me/email', { email: 'rudis.thief@example.test', current_password: rudi.password }, rudi.token);
  await isChecked;
  const passwordsOfRudi = { current_password: rudi.password, new_password: 'rudi alone knows' };
  expect((await post('/me/password', passwordsOfRudi, rudi.token)).status).toBe(200);
  goOn();
  expect((await change).body.details.code).toBe('INVALID_CREDENTIALS');
  expect(await app.sql`select from mails where email = 'rudis.thief@example.test'`).toHaveLength(0);
  expect((await app.rest('GET', '/v1/me', { token: thief })).status).toBe(401);
});

it("a new password set by someone who knows the old one doesn't stop a reset link or its email", async () => {
  const ruth = await homeowner(app, 'Ruth');
  const { token } = (await logIn(ruth.email, ruth.password)).body;
  await ask(ruth.email);
  const { token: link } = await mailTo(app, ruth.email, RESET);
  const passwords = { current_password: ruth.password, new_password: 'the thief has another' };
  expect((await post('/me/password', passwords, token)).status).toBe(200);
  expect((await reset(link, 'ruth has the last')).status).toBe(200);
  expect((await logIn(ruth.email, 'ruth has the last')).status).toBe(200);
});

it('a password reset and an undo pause webhooks that someone else may have created', async () => {
  const hooked = await openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' });
  const reni = await homeowner(hooked, 'Reni');
  await hooked.rest('POST', '/v1/webhooks', { token: reni.token, body: { url: 'http://127.0.0.1:9/' } });
  await hooked.rest('POST', '/v1/auth/password-reset', { body: { email: reni.email } });
  const { token } = await mailTo(hooked, reni.email, RESET);
  const body = { token, new_password: 'reni alone knows' };
  expect((await hooked.rest('POST', '/v1/auth/password-reset/confirm', { body })).status).toBe(200);
  const endpoints = await hooked.sql`select status, paused_reason from webhook_endpoints`;
  expect([...endpoints]).toEqual([{ status: 'paused', paused_reason: 'account_recovered' }]);
  await hooked.close();
});

it('an undo of an address that someone has just taken is refused, and can be retried', async () => {
  const rune = await homeowner(app, 'Rune');
  await confirm(rune);
  await post('/me/email', { email: 'rune.new@example.test', current_password: rune.password }, rune.token);
  await post('/auth/verify-email', { token: (await mailTo(app, 'rune.new@example.test', NEW_ADDRESS)).token });
  const undo = await mailTo(app, rune.email, CHANGED);
  const { userId } = await homeowner(app, 'Rival');
  await app.sql`update users set email = ${rune.email} where id = ${userId}`;
  expect((await post('/auth/undo-email-change', { token: undo.token })).body.details.code).toBe('EMAIL_TAKEN');
  await app.sql`update users set email = 'rival.elsewhere@example.test' where id = ${userId}`;
  expect((await post('/auth/undo-email-change', { token: undo.token })).status).toBe(200);
});

it('someone with a used link gets no more calls than with an unknown one', async () => {
  const limited = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_INVALID_TOKEN: '2' });
  const rosi = await homeowner(limited, 'Rosi');
  const { token } = await mailTo(limited, rosi.email, CONFIRM);
  const statuses = [];
  for (let call = 0; call < 30; call += 1)
    statuses.push((await limited.rest('POST', '/v1/auth/verify-email', { body: { token } })).status);
  expect([statuses[0], statuses[1], statuses.at(-1)]).toEqual([200, 400, 429]);
  await limited.close();
});

it('25 signups from one IP address get confirmations, and five people there can reset their passwords', async () => {
  // The resets use up this limit, so none of the signups may count.
  const limited = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_MAIL_PER_ADDRESS: '5' });
  const people: Person[] = [];
  for (let n = 0; n < 25; n += 1) people.push(await homeowner(limited, `Neighbour${n}`));
  for (const { email } of people.slice(0, 5))
    expect((await limited.rest('POST', '/v1/auth/password-reset', { body: { email } })).status).toBe(200);
  await until(async () => {
    limited.sendEmails();
    return (await limited.sql`select from mails where outcome = 'sent'`).length === 30;
  });
  const confirmed = await limited.sql`select distinct email from mails where kind = 'email_verification'`;
  expect(confirmed.map(({ email }) => email).toSorted()).toEqual(people.map(({ email }) => email).toSorted());
  expect(await limited.metric('mails_dropped_total{limit="mailPerAddress"}')).toBe(0);
  await limited.close();
});

it('a fourth signup within an hour with an address that other accounts left gets no email, and says so', async () => {
  const limited = await openTestApp({ RATE_LIMITS: 'on' });
  const sent: boolean[] = [];
  for (let n = 0; n < 4; n += 1) {
    const body = { email: 'left@example.test', password: 'a good password', first_name: 'A', last_name: 'B' };
    const joined = await limited.rest('POST', '/v1/auth/signup/homeowner', { body });
    expect(joined.status).toBe(201);
    sent.push(joined.body.confirmation_sent);
    await limited.sql`update users set email = ${`away.${n}@example.test`} where email = 'left@example.test'`;
  }
  expect(sent).toEqual([true, true, true, false]);
  expect(await limited.metric('mails_dropped_total{limit="mailPerRecipient"}')).toBe(1);
  expect(limited.logged.filter((line) => line.includes('an email was not sent')).join()).toContain('mailPerRecipient');
  await limited.close();
});

it("a password change by someone who signed up with a stranger's address sends that stranger nothing", async () => {
  const rolf = await homeowner(app, 'Rolf');
  const passwords = { current_password: rolf.password, new_password: 'rolf has another' };
  expect((await post('/me/password', passwords, rolf.token)).status).toBe(200);
  const kinds = await app.sql`select kind from mails where email = ${rolf.email}`;
  expect([...kinds]).toEqual([{ kind: 'email_verification' }]);
});

it('of two links to one account used at the same time, one sets its password, and the other has expired', async () => {
  const rita = await homeowner(app, 'Rita');
  await ask(rita.email);
  const first = await mailTo(app, rita.email, RESET);
  await ask(rita.email);
  const second = await mailTo(app, rita.email, RESET, 2);
  const answers = await Promise.all([reset(first.token, 'rita one'), reset(second.token, 'rita two')]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  const late = answers.find(({ status }) => status === 400);
  expect(late && reasonOf(late)).toEqual(['INVALID_LINK', 'expired']);
});

it('a dry run sends nothing, and a repeated call sends one email', async () => {
  const resi = await homeowner(app, 'Resi');
  await mailTo(app, resi.email, CONFIRM);
  const call = (headers: Record<string, string>) =>
    app.rest('POST', '/v1/me/email/verification', { token: resi.token, headers, body: {} });
  expect((await call({ 'dry-run': 'true' })).status).toBe(200);
  for (const _ of ['once', 'again']) expect((await call({ 'idempotency-key': 'k' })).status).toBe(200);
  await mailTo(app, resi.email, CONFIRM, 2);
  expect(await app.sql`select from mails where email = ${resi.email}`).toHaveLength(2);
});

it("needs a session, and can't be called with an API key", async () => {
  const program = await programOf(app, await homeowner(app, 'Paul'));
  const input = { email: 'x@example.test', current_password: 'x' };
  expect((await post('/me/email', input, program.token)).status).toBe(403);
  expect((await post('/me/email/verification', {}, program.token)).status).toBe(403);
  expect((await post('/me/email', input)).status).toBe(401);
});

it('keeps no token in any row', async () => {
  const pia = await homeowner(app, 'Pia');
  await ask(pia.email);
  const { token } = await mailTo(app, pia.email, RESET);
  const rows = await app.sql`select to_jsonb(mails)::text as row from mails
    union all select to_jsonb(tasks)::text from tasks union all select to_jsonb(idempotency_records)::text
    from idempotency_records`;
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.filter(({ row }) => row.includes(token))).toEqual([]);
  expect(app.logged.filter((line) => line.includes(token))).toEqual([]);
});

describe('emails requested by strangers', () => {
  it("to move an account to an address don't stop a reset there, and reveal nothing about others", async () => {
    const limited = await openTestApp({ RATE_LIMITS: 'on' });
    const victim = await homeowner(limited, 'Vera');
    const stranger = await homeowner(limited, 'Stella');
    const body = { email: victim.email, current_password: stranger.password };
    const change = () => limited.rest('POST', '/v1/me/email', { token: stranger.token, body });
    const statuses = [await change(), await change(), await change(), await change()].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const asked = await limited.rest('POST', '/v1/auth/password-reset', { body: { email: victim.email } });
    const limits = asked.headers.get('ratelimit-policy')?.match(/[a-z]+(?=")/gi);
    expect([asked.status, limits]).toEqual([200, ['mailPerAddress']]);
    await limited.close();
  });

  it('count against the IP address of an account whose own address is unconfirmed', async () => {
    const limited = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_MAIL_PER_ADDRESS: '1' });
    const answers = [];
    for (const name of ['Mona', 'Mara']) {
      const { token, password } = await homeowner(limited, name);
      const body = { email: `victim+${name}@example.test`, current_password: password };
      answers.push(await limited.rest('POST', '/v1/me/email', { token, body }));
    }
    expect(answers.map(({ status, body }) => [status, body.details?.limit])).toEqual([
      [200, undefined],
      [429, 'mailPerAddress'],
    ]);
    await limited.close();
  });

  it('are limited to three per hour per address; the response is the same, and operators see it', async () => {
    const limited = await openTestApp({ RATE_LIMITS: 'on' });
    const request = (email: string, from: number) =>
      limited.rest('POST', '/v1/auth/password-reset', { body: { email }, from });
    const { email } = await homeowner(limited, 'Quinn');
    for (const address of [email, 'nobody@example.test']) {
      const answers = [];
      for (const from of [2, 3, 4, 5]) answers.push(await request(address, from));
      expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
      const written = await limited.sql`select from mails where email = ${address} and kind = 'password_reset'`;
      expect([answers[0]?.status, written.length]).toEqual([200, 3]);
    }
    expect(await limited.metric('mails_dropped_total{limit="mailPerRecipient"}')).toBe(2);
    const dropped = limited.logged.filter((line) => line.includes('an email was not sent'));
    expect(dropped.map((line) => JSON.parse(line).limit)).toEqual(['mailPerRecipient', 'mailPerRecipient']);
    await limited.close();
  });

  it("aren't used up by dry runs, which send nothing", async () => {
    const limited = await openTestApp({ RATE_LIMITS: 'on' });
    const { token, password } = await homeowner(limited, 'Dora');
    const body = { email: 'wanted@example.test', current_password: password };
    const change = (headers: Record<string, string>) => limited.rest('POST', '/v1/me/email', { token, body, headers });
    // More than 3 per recipient, and more than 20 per user.
    for (let n = 0; n < 21; n += 1) expect((await change({ 'dry-run': 'true' })).status).toBe(200);
    expect(await limited.sql`select from mails where email = 'wanted@example.test'`).toHaveLength(0);
    for (let n = 0; n < 3; n += 1) expect((await change({})).status).toBe(200);
    expect(await limited.sql`select from mails where email = 'wanted@example.test'`).toHaveLength(3);
    // Once the limit is reached, a dry run fails as the real call does. Only the real one counts as a dropped email.
    const refused = [await change({ 'dry-run': 'true' }), await change({})];
    expect(refused.map(({ status, body }) => [status, body.details.limit])).toEqual([
      [429, 'mailPerRecipient'],
      [429, 'mailPerRecipient'],
    ]);
    expect(await limited.metric('mails_dropped_total{limit="mailPerRecipient"}')).toBe(1);
    await limited.close();
  });

  it('are limited to 20 per hour per user, without affecting others on the same IP address', async () => {
    const limited = await openTestApp({ RATE_LIMITS: 'on' });
    const [mia, max] = [await homeowner(limited, 'Mia'), await homeowner(limited, 'Max')];
    const change = ({ token, password }: Person, n: number) =>
      limited.rest('POST', '/v1/me/email', {
        token,
        body: { email: `to.${n}@example.test`, current_password: password },
      });
    for (let n = 0; n < 20; n += 1) expect((await change(mia, n)).status).toBe(200);
    const { status, body } = await change(mia, 20);
    expect([status, body.details.limit, body.error]).toEqual([
      429,
      'mailPerCaller',
      expect.stringMatching(/^Too many emails\. Try again in \d+ minutes\.$/),
    ]);
    expect((await change(max, 21)).status).toBe(200);
    await limited.close();
  });

  it('are limited to 200 per hour per IP address without a session', async () => {
    const limited = await openTestApp({ RATE_LIMITS: 'on', RATE_LIMIT_MAIL_PER_ADDRESS: '200' });
    const request = (n: number) =>
      limited.rest('POST', '/v1/auth/password-reset', { body: { email: `p${n}@example.test` } });
    for (let n = 0; n < 200; n += 1) expect((await request(n)).status).toBe(200);
    const { status, body } = await request(200);
    expect([status, body.details.limit]).toEqual([429, 'mailPerAddress']);
    expect(await limited.metric('mails_dropped_total{limit="mailPerAddress"}')).toBe(1);
    await limited.close();
  });
});

/** The server's response to exactly these bytes, until it closes the connection. */
function spokenTo(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

describe('the page at /mailbox', () => {
  const cookie = `mailbox=${MAILBOX_SECRET}`;
  const statusFor = async (headers: Record<string, string>) =>
    (await app.rest('GET', '/mailbox', { headers: { accept: 'application/json', cookie, ...headers } })).status;
  const open = (at: string, headers: Record<string, string> = {}) =>
    fetch(`${app.url}${at}`, { headers, redirect: 'manual' });

  it('opens with the secret link, which a cookie remembers for 30 days', async () => {
    const hanna = await homeowner(app, 'Hanna');
    await mailTo(app, hanna.email, CONFIRM);
    const linked = await open(`/mailbox?secret=${MAILBOX_SECRET}`);
    expect([linked.status, linked.headers.get('location'), await linked.text()]).toEqual([303, '/mailbox', '']);
    const given = linked.headers.get('set-cookie') ?? '';
    const { port } = new URL(app.url);
    expect(given).toBe(`mailbox${port}=${MAILBOX_SECRET}; Path=/mailbox; Max-Age=2592000; HttpOnly; SameSite=Strict`);
    // Browsers also send the cookie of a server on another port.
    const page = await open('/mailbox', { cookie: `theme=dark; mailbox1=another secret; ${given.split(';')[0]}` });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(hanna.email)]);
  });

  it.each<[who: string, at: string, headers: Record<string, string>]>([
    ['nothing', '/mailbox', {}],
    ['a wrong secret', '/mailbox?secret=the_mailbox_of_the_test', {}],
    ['no secret in the link', '/mailbox?secret=', {}],
    ['another cookie', '/mailbox', { cookie: 'mailbox=; mailbox2=x; theme=dark' }],
    ['the beginning of the cookie', '/mailbox', { cookie: cookie.slice(0, -1) }],
  ])("tells a browser with %s where to find the link, and doesn't show emails", async (_who, at, headers) => {
    const answer = await open(at, headers);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    expect(text).toMatch(/the secret link that the\s+server prints at startup/);
    expect(text).not.toMatch(/@example\.test|#token=|the_mailbox_of_the_tests/);
  });

  it('shows nothing through a plain proxy, even with the cookie', async () => {
    const raw = (path: string, ...headers: string[]) =>
      spokenTo(app.url, [`GET ${path} HTTP/1.0`, 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n'));
    for (const headers of [[], [`Cookie: ${cookie}`]]) {
      const answer = await raw('/mailbox', ...headers);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).not.toContain('@example.test');
    }
    expect(await raw('/metrics')).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('exists for this machine under its own name, and for no other', async () => {
    expect((await fetch(`${app.url}/mailbox`, { headers: { cookie } })).status).toBe(200);
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '0.0.0.0', 'x'])
      expect(await statusFor({ host })).toBe(404);
    expect(await statusFor({ origin: 'https://evil.example' })).toBe(404);
    for (const header of ['x-forwarded-for', 'via', 'x-real-ip'])
      expect(await statusFor({ [header]: '9.9.9.9' })).toBe(404);
    const written = { headers: { accept: 'application/json' } };
    expect((await app.rest('DELETE', '/mailbox', written)).status).toBe(404);
  });

  it.each<[where: string, env: Record<string, string>]>([
    ['where others may reach it', { HOST: '0.0.0.0' }],
    ['behind a proxy', { TRUST_PROXY_HOPS: '1' }],
    ['where there is a mail server', { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' }],
  ])("doesn't exist %s", async (_where, env) => {
    const other = await openTestApp(env);
    expect((await fetch(`http://127.0.0.1:${new URL(other.url).port}/mailbox?secret=${MAILBOX_SECRET}`)).status).toBe(
      404,
    );
    await other.close();
  });
});

it("says that it doesn't send email, in production without a mail server", async () => {
  const silent = await openTestApp({ NODE_ENV: 'production', BCRYPT_COST: '10' });
  const nina = await homeowner(silent, 'Nina');
  const request = (path: string, body: object) => silent.rest('POST', `/v1${path}`, { token: nina.token, body });
  for (const [path, body] of [
    ['/auth/password-reset', { email: nina.email }],
    ['/me/email', { email: 'nina.new@example.test', current_password: nina.password }],
    ['/me/email/verification', {}],
  ] as const) {
    const { status, body: answer } = await request(path, body);
    expect([status, answer.details.code]).toEqual([501, 'NOT_CONFIGURED']);
  }
  expect([...(await silent.sql`select id from mails`)]).toEqual([]);
  await silent.close();
});

describe('if the operator requires a confirmed email', () => {
  it('only people with one can publish or bid, and availableActions says so', async () => {
    const strict = await openTestApp({ REQUIRE_VERIFIED_EMAIL: 'on' });
    const [hanna, carl] = [await homeowner(strict, 'Hanna'), await contractor(strict, 'Carl')];
    const jobId = (await strict.rest('POST', '/v1/jobs', { token: hanna.token, body: DRAFT })).body.id;
    const call = (path: string, { token }: Person, body = {}) =>
      strict.rest('POST', `/v1/jobs${path}`, { token, body });
    const foretold = async ({ token }: Person, action: string) => {
      const { body } = await strict.rest('GET', `/v1/jobs/${jobId}/actions`, { token });
      return body.data.find((one: { action: string }) => one.action === action);
    };
    const confirm = async ({ email }: Person) => {
      const { token } = await mailTo(strict, email, CONFIRM);
      expect((await strict.rest('POST', '/v1/auth/verify-email', { body: { token } })).status).toBe(200);
    };
    const bid = { amount: 100 };

    const refused = await call(`/${jobId}/publish`, hanna);
    expect([refused.status, refused.body.details]).toMatchObject([403, { reason: 'email_unverified' }]);
    expect(await foretold(hanna, 'publish')).toMatchObject({ allowed: false, reason: 'FORBIDDEN' });
    await confirm(hanna);
    expect(await foretold(hanna, 'publish')).toMatchObject({ allowed: true });
    expect((await call(`/${jobId}/publish`, hanna)).status).toBe(200);
    const program = await programOf(strict, carl);
    for (const bidder of [carl, program])
      expect((await call(`/${jobId}/bids`, bidder, bid)).body.details.reason).toBe('email_unverified');
    await confirm(carl);
    expect((await call(`/${jobId}/bids`, program, bid)).status).toBe(201);
    await strict.close();
  });
});
