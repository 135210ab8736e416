/**
 * Emails while the sending instances and Postgres are killed. Each arrives, and duplicates have the same message ID.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { durablePostgres, type DurablePostgres } from '../faults/durable-postgres.js';
import { clone, type Clone } from '../app/clone.js';
import { startServer, type Started } from '../app/processes.js';
import { until } from '../platform/security/until.js';
import { openMailServer, type MailServer } from '../market/mail/mail-server.js';

const MAILS = Number(process.env.MAILS ?? 500);
const AT_ONCE = 20;

let project: Clone;
let database: DurablePostgres;
let server: MailServer;
let instances: Started[];
beforeAll(async () => {
  project = clone();
  database = await durablePostgres();
  await database.start();
  server = await openMailServer();
});
afterAll(async () => {
  await Promise.all(instances.map((one) => one.stop()));
  await server.close();
  await database.remove();
  project.remove();
});

const start = () =>
  startServer(project, {
    DATABASE_URL: database.url,
    DATA_DIR: project.dataFolder(),
    JWT_SECRET: 'a secret that every instance shares',
    SMTP_URL: server.url,
    MAIL_FROM: 'market@example.test',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
  });

const addressOf = (n: number) => `person.${n}@example.test`;

/** Like a client that retries when it gets no response. */
async function ask(n: number): Promise<void> {
  await until(async () => {
    const body = JSON.stringify({ email: addressOf(n) });
    const send = async ({ url }: Started) =>
      fetch(`${await url}/v1/auth/password-reset`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    const answer = await send(instances[n % instances.length] as Started).catch(() => undefined);
    return answer?.status === 200;
  });
}

const arrived = () => new Set(server.inbox.flatMap(({ to }) => to)).size;

it('no email is lost if a sender or Postgres is killed', async () => {
  instances = [start(), start()];
  await Promise.all(instances.map((one) => one.url));
  let sql = database.open('mails');
  await sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
    select 'usr_' || lpad(n::text, 27, '0'), 'person.' || n || '@example.test', 'homeowner', 'A', 'B', '-', 'R' || n
    from generate_series(0, ${MAILS - 1}::int) n`;
  await sql.end();

  let next = 0;
  const askAll = async () => {
    while (next < MAILS) await ask(next++);
  };
  const asking = Promise.all(Array.from({ length: AT_ONCE }, askAll));
  await until(() => arrived() > MAILS / 5);
  await instances[0]?.stop('SIGKILL');
  instances[0] = start();
  await instances[0].url;
  await until(() => arrived() > (2 * MAILS) / 5);
  await database.stop('killed');
  await database.start();
  await until(() => arrived() > (3 * MAILS) / 5);
  await instances[1]?.stop('SIGKILL');
  instances[1] = start();
  await asking;

  sql = database.open('mails');
  const left = async () => {
    // Makes it look as if the killed instances' leases and the failures' delays have expired.
    await sql`update tasks set leased_until = null, run_at = now() where leased_until < now() + interval '65 seconds'
      or run_at > now()`;
    return (await sql`select from mails where outcome is null`).length;
  };
  await until(async () => (await left()) === 0);
  expect(arrived()).toBe(MAILS);
  const outcomes = await sql`select outcome, count(*)::int from mails group by outcome`;
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['sent']);
  // If a response was lost with its server, the call was made again, which sent another email.
  const ids = new Set((await sql`select id from mails`).map(({ id }) => `<${id}@example.test>`));
  expect(new Set(server.inbox.map(({ messageId }) => messageId))).toEqual(ids);
  await sql.end();
});
