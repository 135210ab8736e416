/** Sending email to a real mail server: what the server receives, and what happens to a message that it rejects. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfig } from '../../../src/app/config.js';
import { mailSettings } from '../../../src/app/mail-settings.js';
import { taskKinds } from '../../../src/app/task-kinds.js';
import { JWT_SECRET, openTestApp, type TestApp } from '../../setup/app.js';
import { homeowner } from '../../story/cast.js';
import { until } from '../../platform/security/until.js';
import { openMailServer, type MailServer } from './mail-server.js';

/** The tests decide when emails are retried. On a busy machine, the first retry could come too soon. */
vi.mock('../../../src/market/rules/market-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/market/rules/market-limits.js')>();
  const { MAIL } = limits;
  return { ...limits, MAIL: { ...MAIL, connectMs: 100_000, retryAfterSeconds: MAIL.retryAfterSeconds.with(0, 300) } };
});

let server: MailServer;
let app: TestApp;
beforeEach(async () => {
  server = await openMailServer();
  app = await openTestApp({ SMTP_URL: server.url, MAIL_FROM: 'market@example.test', PUBLIC_URL: 'https://jobs.test' });
});
afterEach(async () => {
  await app.close();
  await server.close();
});

const mailRows = () => app.sql`select id, kind, outcome from mails order by id`;
const task = async () => (await app.sql`select attempts, run_at > now() as waits from tasks where kind = 'mail'`)[0];
const undeliverable = async (token: string) =>
  (await app.rest('GET', '/v1/me', { token })).body.user.email_undeliverable as boolean;
const hurry = () => app.sql`update tasks set run_at = now() where kind = 'mail'`;

it('arrives as plain text and HTML, with its own ID and the link in the fragment', async () => {
  const hanna = await homeowner(app, 'Hanna');
  await until(() => server.inbox.length > 0);
  const [mail] = server.inbox;
  const [row] = await mailRows();
  expect(mail).toMatchObject({
    from: 'market@example.test',
    to: [hanna.email],
    messageId: `<${row?.id}@example.test>`,
  });
  expect(mail?.headers).toMatch(/^From: Job Marketplace <market@example\.test>$/m);
  expect(mail?.headers).toMatch(/^Subject: Confirm your email address$/m);
  expect(mail?.headers).toMatch(/^Auto-Submitted: auto-generated$/m);
  expect(mail?.content.match(/https:\/\/jobs\.test\/verify-email#token=[\w-]{43}/g)).toHaveLength(3);
  expect(mail?.content).not.toContain('Hanna');
  await until(async () => (await mailRows())[0]?.outcome === 'sent');
  expect(await task()).toBeUndefined();
});

it('goes to the address that was typed, or nowhere', async () => {
  const hostile = [
    'a@example.test,b@example.test',
    'a@example.test; b@example.test',
    'a@example.test b@example.test',
    'a@example.test\r\nBcc: b@example.test',
    'a@example.test\0',
    'a@[127.0.0.1]',
    '<a@example.test>',
    'A <a@example.test>',
    '"a b"@example.test',
    '"a@b.example"@example.test',
    'a(b)@example.test',
    'a@example.test(b@example.test)',
    'a%b.example@example.test@c.example',
    'а@example.test',
    'a@exаmple.test',
    'a@example.test.',
    '-oQ/tmp@example.test',
    '..@example.test',
    'a@localhost',
  ];
  const odd = ["o'neil+tag@example.test", 'a%b@example.test', 'a_b-c.d@sub.example.test'];
  for (const email of [...hostile, ...odd]) {
    const signUp = { email, password: 'a good password', first_name: 'A', last_name: 'B' };
    const { status } = await app.rest('POST', '/v1/auth/signup/homeowner', { body: signUp });
    expect([email, [201, 400].includes(status)]).toEqual([email, true]);
  }
  const accounts = (await app.sql`select email from users where user_type <> 'admin'`).map(({ email }) => email);
  await until(() => server.inbox.length === accounts.length);
  expect(server.inbox.map(({ to }) => to).toSorted()).toEqual(accounts.map((email) => [email]).toSorted());
  expect(accounts).toEqual(expect.arrayContaining(odd.slice(0, 1)));
  expect(accounts.filter((email) => hostile.slice(0, 15).includes(email))).toEqual([]);
});

it('is sent again, as the same email, if the server defers it', async () => {
  server.refuse = { code: 451, text: 'greylisted' };
  const { token } = await homeowner(app, 'Hugo');
  await until(async () => (await task())?.attempts === 1);
  expect(await task()).toEqual({ attempts: 1, waits: true });
  server.refuse = undefined;
  await hurry();
  await until(() => server.inbox.length === 1);
  expect(server.inbox[0]?.messageId).toContain((await mailRows())[0]?.id);
  expect(await undeliverable(token)).toBe(false);
});

it('ends for a permanently rejected address, which its owner sees until an email arrives', async () => {
  server.refuse = { code: 550, text: 'no such mailbox' };
  const { token } = await homeowner(app, 'Heidi');
  await until(async () => (await mailRows())[0]?.outcome === 'refused');
  expect(await task()).toBeUndefined();
  expect(await undeliverable(token)).toBe(true);
  expect(app.logged.some((line) => line.includes('"responseCode":550'))).toBe(true);
  server.refuse = undefined;
  await app.rest('POST', '/v1/me/email/verification', { token, body: {} });
  await until(() => server.inbox.length === 1);
  await until(async () => !(await undeliverable(token)));
  expect(server.refusedCount).toBe(1);
});

it('is sent again if the server accepts nothing from here, which says nothing about the address', async () => {
  server.refuse = { code: 554, text: '5.7.1 this server is on a block list' };
  const { token } = await homeowner(app, 'Hedda');
  await until(async () => (await task())?.attempts === 1);
  expect([(await mailRows())[0]?.outcome, await undeliverable(token)]).toEqual([null, false]);
});

it('is given up if its message is permanently rejected, which says nothing about the address', async () => {
  server.refuse = { code: 550, text: 'a policy of the sender', at: 'message' };
  const { token } = await homeowner(app, 'Hilde');
  await until(async () => (await mailRows())[0]?.outcome === 'given_up');
  expect([await task(), await undeliverable(token), server.refusedCount]).toEqual([undefined, false, 1]);
});

it('waits for an instance that has the secret its link was created with', async () => {
  server.refuse = { code: 451, text: 'greylisted' };
  await homeowner(app, 'Heike');
  await until(async () => (await task())?.attempts === 1);
  const [before] = await app.sql`select token_hash as hash from mails`;
  await app.sql`update mails set token_hash = 'of another secret'`;
  server.refuse = undefined;
  await hurry();
  await until(async () => (await task())?.attempts === 2);
  expect(server.inbox).toEqual([]);
  await app.sql`update mails set token_hash = ${before?.hash}`;
  await hurry();
  await until(() => server.inbox.length === 1);
});

it('is left to other instances by one with neither a mail server nor a mailbox', () => {
  const kindsWith = (env: Record<string, string>) => {
    const mail = mailSettings(readConfig({ NODE_ENV: 'test', JWT_SECRET, ...env }), JWT_SECRET);
    return Object.keys(taskKinds({ ...app.services, mail }));
  };
  expect(kindsWith({})).toContain('mail');
  const withoutMailbox: Record<string, string>[] = [
    { HOST: '0.0.0.0' },
    { TRUST_PROXY_HOPS: '1' },
    { NODE_ENV: 'production' },
  ];
  for (const env of withoutMailbox) expect(kindsWith(env)).not.toContain('mail');
});

it("waits if the server is unreachable, which isn't the address's fault", async () => {
  await server.close();
  const { token } = await homeowner(app, 'Horst');
  await until(async () => (await task())?.attempts === 1);
  expect(await undeliverable(token)).toBe(false);
  expect(app.logged.some((line) => line.includes('sending an email failed') && line.includes('ESOCKET'))).toBe(true);
});

it("doesn't go to a server without encryption if encryption is required", async () => {
  const SMTP_URL = `${server.url}/?requireTLS=true`;
  const careful = await openTestApp({ SMTP_URL, MAIL_FROM: 'market@example.test' });
  await homeowner(careful, 'Clara');
  const attempts = async () => (await careful.sql`select attempts from tasks where kind = 'mail'`)[0]?.attempts;
  await until(async () => (await attempts()) === 1);
  expect(server.inbox).toEqual([]);
  await careful.close();
});

it('has the sender name from MAIL_FROM', async () => {
  const named = await openTestApp({
    SMTP_URL: server.url,
    MAIL_FROM: '"Builders, Inc." <no-reply@example.test>',
    PUBLIC_URL: 'https://jobs.test',
  });
  await homeowner(named, 'Nora');
  await until(() => server.inbox.length > 0);
  expect(server.inbox[0]?.from).toBe('no-reply@example.test');
  expect(server.inbox[0]?.headers).toMatch(/^From: "Builders, Inc\." <no-reply@example\.test>$/m);
  await named.close();
  for (const MAIL_FROM of [
    'nobody',
    'a@example.test, b@example.test',
    'Name <>',
    'Team: a@example.test, b@example.test;',
  ])
    expect(() => readConfig({ SMTP_URL: server.url, MAIL_FROM })).toThrow('MAIL_FROM must be an email address');
});

it('is checked at startup: an unreachable server and a working one', async () => {
  expect(await app.services.mail.check()).toBeUndefined();
  const away = mailSettings(readConfig({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@b.example' }), JWT_SECRET);
  expect(await away.check()).toMatchObject({ code: 'ESOCKET' });
});
