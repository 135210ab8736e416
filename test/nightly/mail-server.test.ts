/** Emails as another mail server receives them: Debian's aiosmtpd, which prints each message. */
import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, expect } from 'vitest';
import { openTestApp, type TestApp } from '../setup/app.js';
import { homeowner } from '../story/cast.js';
import { freeAddress } from '../deploy/proxy.js';
import { needs, programPath } from '../setup/needs.js';
import { until } from '../platform/security/until.js';

let app: TestApp;
let server: ChildProcess;
let printed = '';

const aiosmtpd = needs('aiosmtpd');
const lifetime = programPath('aiosmtpd') ? { beforeAll, afterAll } : { beforeAll: () => {}, afterAll: () => {} };

lifetime.beforeAll(async () => {
  const address = await freeAddress();
  const handler = ['--class', 'aiosmtpd.handlers.Debugging', 'stdout'];
  server = spawn('aiosmtpd', ['--nosetuid', '--listen', address, ...handler], {
    env: { ...process.env, PYTHONUNBUFFERED: '1' },
  });
  server.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  app = await openTestApp({
    SMTP_URL: `smtp://${address}`,
    MAIL_FROM: 'market@example.test',
    PUBLIC_URL: 'https://jobs.test',
  });
});
lifetime.afterAll(async () => {
  await app?.close();
  server?.kill();
});

aiosmtpd.it('it takes a mail whole: its headers, the text, and the page', async () => {
  const hanna = await homeowner(app, 'Hanna');
  // The first attempt may come before the server listens.
  const hurry = () => app.sql`update tasks set run_at = now() where kind = 'mail' and leased_until is null`;
  await until(async () => {
    await hurry();
    return printed.includes('END MESSAGE');
  });
  const [mail] = await app.sql`select id from mails where email = ${hanna.email}`;
  expect(printed).toContain(`To: ${hanna.email}`);
  expect(printed).toContain(`Message-ID: <${mail?.id}@example.test>`);
  expect(printed).toContain('Content-Type: text/plain; charset=utf-8');
  expect(printed).toContain('Content-Type: text/html; charset=utf-8');
  expect(printed).toContain('https://jobs.test/verify-email#token=');
  await until(
    async () => (await app.sql`select outcome from mails where email = ${hanna.email}`)[0]?.outcome === 'sent',
  );
});
