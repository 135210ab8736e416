/**
 * Emails about notifications while the sending instances and Postgres are killed. Each arrives, and duplicates have the
 * same message ID.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { durablePostgres, type DurablePostgres } from '../faults/durable-postgres.js';
import { clone, type Clone } from '../app/clone.js';
import { startServer, type Started } from '../app/processes.js';
import { until as untilWithin } from '../platform/security/until.js';
import { openMailServer, type MailServer } from '../market/mail/mail-server.js';

const MAILS = Number(process.env.MAILS ?? 10_000);
const EVENTS_AT_ONCE = 100;
const LONGEST_MS = 60_000 + MAILS * 100;

let project: Clone;
let database: DurablePostgres;
let server: MailServer;
let instances: Started[] = [];
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

const until = (happened: () => boolean | Promise<boolean>) => untilWithin(happened, LONGEST_MS);

const arrived = () => new Set(server.inbox.flatMap(({ to }) => to)).size;

it(
  'no email about a notification is lost if a sender or Postgres is killed',
  async () => {
    instances = [start(), start()];
    await Promise.all(instances.map((one) => one.url));
    let sql = database.open('mails');
    await sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code,
        email_verified)
    select 'usr_' || lpad(n::text, 27, '0'), 'person.' || n || '@' || n % 20 || '.example.test', 'homeowner', 'A', 'B',
      '-', 'R' || n, true from generate_series(0, ${MAILS - 1}::int) n`;

    let next = 0;
    let isAway = false;
    /** Each event is about one person. A batch whose commit was lost is written again, with the same IDs. */
    const writeEvents = async () => {
      while (next < MAILS) {
        const first = next;
        const write = () => sql`insert into account_events (id, user_id, type, occurred_at)
        select 'aev_' || lpad(n::text, 27, '0'), 'usr_' || lpad(n::text, 27, '0'), 'webhook.paused', now()
        from generate_series(${first}::int, ${first + EVENTS_AT_ONCE - 1}::int) n on conflict do nothing`;
        await until(
          async () =>
            !isAway &&
            (await write().then(
              () => true,
              () => false,
            )),
        );
        next += EVENTS_AT_ONCE;
      }
    };
    const writing = writeEvents();
    await until(() => arrived() > MAILS / 5);
    await instances[0]?.stop('SIGKILL');
    instances[0] = start();
    await instances[0].url;
    await until(() => arrived() > (2 * MAILS) / 5);
    isAway = true;
    await database.stop('killed');
    await database.start();
    await sql.end({ timeout: 1 });
    sql = database.open('mails');
    isAway = false;
    await until(() => arrived() > (3 * MAILS) / 5);
    await instances[1]?.stop('SIGKILL');
    instances[1] = start();
    await writing;

    const left = async () => {
      // Makes it look as if the killed instances' leases and the failures' delays have expired.
      await sql`update tasks set leased_until = null, run_at = now() where leased_until < now() + interval '65 seconds'
      or run_at > now()`;
      const [row] = await sql`select (select count(*)::int from mails where outcome = 'sent') as sent`;
      return MAILS - row?.sent;
    };
    await until(async () => (await left()) === 0);
    expect(arrived()).toBe(MAILS);
    const ids = new Set((await sql`select id from mails`).map(({ id }) => `<${id}@example.test>`));
    expect(ids.size).toBe(MAILS);
    expect(new Set(server.inbox.map(({ messageId }) => messageId))).toEqual(ids);
    await sql.end();
  },
  5 * LONGEST_MS,
);
