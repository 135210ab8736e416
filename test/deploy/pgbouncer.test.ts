/** Servers behind PgBouncer in transaction mode, with `deploy/pgbouncer.ini`. */
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { isLookUpOfSession, openTestApp, type Json, type TestApp } from '../setup/app.js';
import { contractor, homeowner } from '../story/cast.js';
import { needs } from '../setup/needs.js';
import { freshDatabase, type FreshDatabase } from '../setup/postgres.js';
import { until } from '../platform/security/until.js';
import { checkConnection } from '../../src/platform/db/pooler.js';
import { connect, type Connection } from '../../src/platform/db/database.js';
import { openReceiver } from '../market/webhooks/receiver.js';
import { ADMIN, startBouncer, STATS, type Bouncer } from './bouncer.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

let unknownStatements = 0;
const check = (connection: Connection, preparedStatements?: boolean) =>
  checkConnection(connection, { preparedStatements, onUnknownStatements: () => (unknownStatements += 1) });

async function withTimeouts(database: FreshDatabase): Promise<void> {
  const sql = postgres({ ...database.connection, max: 1, onnotice: () => {} });
  const { username, database: name } = database.connection;
  for (const setting of [
    `statement_timeout = '10s'`,
    `lock_timeout = '5s'`,
    `idle_in_transaction_session_timeout = '15s'`,
  ])
    await sql.unsafe(`alter role "${username}" in database "${name}" set ${setting}`);
  await sql.end();
}

needs('pgbouncer').describe('starting a server behind PgBouncer', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.drop());

  async function bouncer(change?: (configuration: string) => string): Promise<Bouncer> {
    const one = await startBouncer(database.connection, change);
    closing.push(() => one.remove());
    return one;
  }

  it('fails without DATABASE_DIRECT_URL, whatever PgBouncer ignores', async () => {
    const words = 'DATABASE_URL goes through a pooler. Set DATABASE_DIRECT_URL to the URL of PostgreSQL itself.';
    const { url } = await bouncer();
    await expect(check({ url })).rejects.toThrow(words);
    const ignored = 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout';
    const lenient = await bouncer((text) => `${text}\nignore_startup_parameters = ${ignored}\n`);
    await expect(check({ url: lenient.url })).rejects.toThrow(words);
    await expect(check({ url, direct: { url: lenient.url } })).rejects.toThrow(
      'DATABASE_DIRECT_URL goes through a pooler',
    );
  });

  it('fails without timeouts, and says how to set them, which works', async () => {
    const { url, consoleUrl } = await bouncer();
    const refused = await check({ url, direct: database.connection }).then(
      () => '',
      (error: Error) => error.message,
    );
    const { hostname, port } = new URL(url);
    const command = `psql --host=${hostname} --port=${port} --username=${ADMIN} --dbname=pgbouncer --command=RECONNECT`;
    expect(refused).toContain(`\n  ${command}`);
    const statements = refused.match(/alter role .*;/g) ?? [];
    expect(statements).toHaveLength(3);
    const sql = postgres({ ...database.connection, max: 1, onnotice: () => {} });
    for (const statement of statements) await sql.unsafe(statement);
    await sql.end();
    await onConsole(consoleUrl(ADMIN), 'reconnect');
    // Debian's 1.18 doesn't support prepared statements. Set PGBOUNCER to one that does.
    const isKnown = process.env.PGBOUNCER !== undefined;
    expect(await check({ url, direct: database.connection })).toMatchObject({ preparedStatements: isKnown });
    expect(await check({ url, direct: database.connection }, true)).toMatchObject({ preparedStatements: true });
    expect(unknownStatements).toBe(isKnown ? 0 : 1);
  });

  it('uses a direct connection as it is', async () => {
    expect(await check(database.connection)).toMatchObject({ preparedStatements: true });
    expect(await check(database.connection, false)).toMatchObject({ preparedStatements: false });
  });
});

/** PgBouncer's console supports only simple queries. */
async function onConsole(url: string, command: string): Promise<Json[]> {
  const console = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  return console
    .unsafe<Json[]>(command)
    .simple()
    .finally(() => console.end());
}

needs('pgbouncer').describe('two servers behind PgBouncer', () => {
  let bouncer: Bouncer;
  let one: TestApp;
  let other: TestApp;
  beforeAll(async () => {
    const database = await freshDatabase();
    await withTimeouts(database);
    bouncer = await startBouncer(database.connection);
    const through = (connection: Connection) => check({ url: bouncer.url, direct: connection });
    [one, other] = (await Promise.all(
      [0, 1].map(() => openTestApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' }, { sameDatabaseAs: { database }, through })),
    )) as [TestApp, TestApp];
  });
  afterAll(async () => {
    await Promise.all([one.close(), other.close()]);
    await bouncer.remove();
  });

  it('work as without it: jobs, bids, awards, webhooks, and notifications between servers', async () => {
    const hanna = await homeowner(one, 'Hanna');
    const carlos = await contractor(other, 'Carlos');
    const receiver = await openReceiver();
    closing.push(receiver.close);
    const endpoint = { url: receiver.url, event_types: ['job.awarded'] };
    const added = await other.rest('POST', '/v1/webhooks', { token: carlos.token, body: endpoint });
    expect(added.status).toBe(201);
    let told: string | undefined;
    const stop = other.services.live.onEvents((upTo) => (told = String(upTo)));
    const body = { title: 'Sink', description: 'It drips.', category: 'plumbing', urgency: 'standard' };
    const place = { address_line1: '1 Main', city: 'Austin', state: 'TX' };
    const { body: job } = await one.rest('POST', '/v1/jobs', { token: hanna.token, body: { ...body, ...place } });
    await one.rest('POST', `/v1/jobs/${job.id}/publish`, { token: hanna.token });
    const { body: bid } = await other.rest('POST', `/v1/jobs/${job.id}/bids`, {
      token: carlos.token,
      body: { amount: 100 },
    });
    const awarded = await one.rest('POST', `/v1/jobs/${job.id}/award`, {
      token: hanna.token,
      body: { bid_id: bid.id },
      headers: { 'idempotency-key': 'award-once' },
    });
    expect([awarded.status, awarded.body.status]).toEqual([200, 'awarded']);
    const position = async () =>
      (await one.sql<{ last: string }[]>`select coalesce(max(position), 0)::text as last from events`)[0]?.last;
    await until(async () => told !== undefined && told === (await position()));
    stop();
    await receiver.until((received) => received.some(({ body }) => body.type === 'job.awarded'));
    // A server remembers a session only while its listening connection, which is direct, works.
    const me = async () => (await other.rest('GET', '/v1/me', { token: hanna.token })).status;
    await until(async () => {
      other.statements();
      return (await me()) === 200 && !other.statements().some(isLookUpOfSession);
    });
    expect((await one.rest('POST', '/v1/auth/logout', { token: hanna.token })).status).toBe(200);
    await until(async () => (await me()) === 401);
  });

  it('end a slow statement, because of the role’s timeout', async () => {
    const [row = []] = await one.services.db.send(
      { name: 'timeouts', text: `select current_setting('statement_timeout'), current_setting('lock_timeout')` },
      [],
    );
    expect(row).toEqual(['10s', '5s']);
  });

  it('have JIT compilation off, both through PgBouncer and directly', async () => {
    const jit = { name: 'jit', text: `select current_setting('jit')` };
    expect(await one.services.db.send(jit, [])).toEqual([['off']]);
    const direct = connect(one.database.connection);
    expect(await direct.send(jit, [])).toEqual([['off']]);
    await direct.close();
  });

  it('wait while an operator pauses PgBouncer, then continue; an exporter can only watch', async () => {
    const carla = await homeowner(one, 'Carla');
    const list = () => one.rest('GET', '/v1/jobs', { token: carla.token });
    await onConsole(bouncer.consoleUrl(ADMIN), 'pause marketplace');
    const waiting = list();
    const pools = () => onConsole(bouncer.consoleUrl(STATS), 'show pools');
    await until(async () => (await pools()).some((pool) => pool.database === 'marketplace' && Number(pool.cl_waiting)));
    await expect(onConsole(bouncer.consoleUrl(STATS), 'resume marketplace')).rejects.toThrow(/admin/);
    await onConsole(bouncer.consoleUrl(ADMIN), 'resume marketplace');
    // Fails if the pause was too long.
    expect([200, 503]).toContain((await waiting).status);
    await until(async () => (await list()).status === 200);
    const stats = await onConsole(bouncer.consoleUrl(STATS), 'show stats');
    expect(stats.map(({ database }) => database as string)).toContain('marketplace');
  });

  it('recover when a killed PgBouncer is back, and report the outage until then', async () => {
    const readiness = async () => {
      const response = await fetch(`${one.url}/readyz`);
      return [response.status, ((await response.json()) as Json).status];
    };
    await bouncer.stop('SIGKILL');
    await until(async () => (await readiness())[0] === 503);
    expect(await readiness()).toEqual([503, 'the database cannot be reached']);
    await bouncer.start();
    await until(async () => (await readiness())[0] === 200);
    const carla = await homeowner(one, 'Carla');
    expect((await other.rest('GET', '/v1/me', { token: carla.token })).status).toBe(200);
  });
});
