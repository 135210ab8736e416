/**
 * Backends that die under load by the hundreds: killed by an administrator, a failover, or the out-of-memory killer.
 * With the patched driver, the process survives, every query settles, later ones work, and transactions stay atomic.
 */
import { createConnection, type Socket } from 'node:net';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { named, connect, pipelined, type Database, type Db } from '../../src/platform/db/database.js';
import { freshDatabase, type FreshDatabase } from '../setup/postgres.js';
import { chanceFrom } from '../setup/random/seed.js';

const chance = chanceFrom(12);

const ACCOUNTS = 50;
const BALANCE = 1_000;
const KILLS = Number(process.env.KILLS ?? 150);
const SETTLE_TIMEOUT_MS = 100_000;

let database: FreshDatabase;
let killer: Sql;
let pool: Sql;
let db: Database;

const open = (max: number, name: string) =>
  postgres({
    ...database.connection,
    max,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: name },
  });
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

beforeAll(async () => {
  database = await freshDatabase();
  killer = open(1, 'killer');
  await killer`create table purses (id int primary key, balance int not null)`;
  await killer`create table transfers (id text primary key)`;
});

beforeEach(async () => {
  await killer`truncate purses, transfers`;
  await killer`insert into purses select n, ${BALANCE} from generate_series(1, ${ACCOUNTS}::int) n`;
  pool = open(10, 'busy');
  db = connect(database.connection, { poolSize: 10, applicationName: 'busy', queueTimeoutMs: SETTLE_TIMEOUT_MS });
  return () => Promise.all([pool.end({ timeout: 2 }), db.close()]);
});

afterAll(async () => {
  await killer.end();
  await database.drop();
});

/** Kills busy backends, and returns how many. */
async function killBusy(limit: number): Promise<number> {
  const killed = await killer`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'busy' and datname = current_database() and state <> 'idle' order by random()
      limit ${limit}`;
  return killed.length;
}

async function transfer(id: string): Promise<void> {
  const from = 1 + Math.floor(chance() * ACCOUNTS);
  const to = 1 + ((from + Math.floor(chance() * (ACCOUNTS - 1))) % ACCOUNTS);
  await db.inTransaction(async (tx) => {
    await pipelined(tx.send(named('addTransfer', 'insert into transfers values ($1)'), [id]), add(tx, from, -1));
    if (chance() < 0.3) await pause(2);
    await tx.commitWith(add(tx, to, 1));
  });
}

function add(tx: Db, purse: number, amount: number): Promise<unknown> {
  return tx.send(named('add', 'update purses set balance = balance + $1 where id = $2'), [amount, purse]);
}

/** Rejects only if a promise never settles. */
function settled(promises: Promise<unknown>[]): Promise<PromiseSettledResult<unknown>[]> {
  const late = pause(SETTLE_TIMEOUT_MS).then(() => {
    throw new Error('Some queries never settled.');
  });
  late.catch(() => {});
  return Promise.race([Promise.allSettled(promises), late]);
}

async function expectWholeTransactionsOnly(): Promise<void> {
  const [sum] = await killer`select sum(balance)::int as total from purses`;
  expect(sum).toEqual({ total: ACCOUNTS * BALANCE });
}

async function expectPoolWorks(): Promise<void> {
  for (const ask of [
    (n: number) => pool`select ${n}::int as n`,
    (n: number) => db.send(named('echo', 'select $1::int'), [n]),
  ]) {
    const answers = await settled(Array.from({ length: 40 }, (_, n) => ask(n)));
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBe(40);
  }
}

describe('when busy backends are killed', () => {
  test(
    'hundreds of kills during transfers cause no crash, no hang, and no half transfer',
    { timeout: 300_000 },
    async () => {
      const confirmed: string[] = [];
      const unconfirmed: string[] = [];
      let killed = 0;
      let next = 0;
      const work = async () => {
        while (killed < KILLS) {
          const id = `t${(next += 1)}`;
          await transfer(id).then(
            () => confirmed.push(id),
            () => unconfirmed.push(id),
          );
        }
      };
      const workers = Array.from({ length: 30 }, work);
      while (killed < KILLS) {
        killed += await killBusy(3);
        await pause(chance() * 5);
      }
      const ends = await settled(workers);
      expect(ends.every(({ status }) => status === 'fulfilled')).toBe(true);

      // Unconfirmed ones may have committed. The connection can die after the commit, before the response.
      const kept = new Set((await killer`select id from transfers`).map((row) => String(row['id'])));
      expect(confirmed.filter((id) => !kept.has(id))).toEqual([]);
      expect(unconfirmed.length).toBeGreaterThan(KILLS / 4);
      await expectWholeTransactionsOnly();
      await expectPoolWorks();
    },
  );

  test('plain and pipelined queries settle, each with its own result', async () => {
    let killed = 0;
    let wrong = 0;
    const work = async () => {
      for (let n = 0; killed < 200; n += 1) {
        const answers = await Promise.allSettled([
          pool`select ${n}::int as n`,
          pool`select ${n + 1}::int as n, pg_sleep(0.002)`,
        ]);
        wrong += answers.filter(
          (answer, index) => answer.status === 'fulfilled' && answer.value[0]?.['n'] !== n + index,
        ).length;
      }
    };
    const workers = Array.from({ length: 40 }, work);
    while (killed < 200) killed += await killBusy(2);
    expect((await settled(workers)).every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(wrong).toBe(0);
    await expectPoolWorks();
  });

  test('a connection that closed before its last query was written can be used again', async () => {
    const { host, port } = database.connection;
    let socket: Socket | undefined;
    // The driver's types don't include this option.
    const ownSocket = { socket: () => (socket = createConnection(`${host}/.s.PGSQL.${port}`)) };
    const single = postgres({ ...database.connection, ...ownSocket, max: 1, fetch_types: false });
    await single`select 1`;
    const unwritten = single`select 2`.then(
      () => 'answered',
      (error: Error) => error.message,
    );
    // The driver delays the query until the next turn of the event loop. The socket closes before that.
    for (let microtask = 0; microtask < 10; microtask += 1) await undefined;
    socket?.destroy().emit('close', false);
    expect(await unwritten).toMatch(/CONNECTION_CLOSED/);
    expect(await settled([single`select 3 as three`])).toMatchObject([{ status: 'fulfilled', value: [{ three: 3 }] }]);
    await single.end({ timeout: 2 });
  });

  test('a transaction that lost its connection can’t write into the next transaction on it', async () => {
    const single = open(1, 'busy');
    let firstIsLost = () => {};
    const lost = new Promise<void>((resolve) => (firstIsLost = resolve));
    const first = single.begin(async (sql) => {
      await sql`update purses set balance = balance - 1 where id = 1`;
      await lost;
      await sql`update purses set balance = balance + 1 where id = 2`;
    });
    const outcome = first.then(
      () => 'committed',
      (error: Error) => error.message,
    );
    while ((await killBusy(1)) === 0) await pause(5);

    await single.begin(async (sql) => {
      await sql`update purses set balance = balance - 10 where id = 3`;
      firstIsLost();
      await pause(50);
      await sql`update purses set balance = balance + 10 where id = 4`;
    });
    expect(await outcome).toMatch(/CONNECTION_CLOSED/);
    expect(await killer`select id, balance from purses where balance <> ${BALANCE} order by id`).toEqual([
      { id: 3, balance: 990 },
      { id: 4, balance: 1010 },
    ]);
    await single.end({ timeout: 2 });
  });

  test('a server’s transaction that lost its connection between two flushes writes nothing more', async () => {
    const single = connect(database.connection, { poolSize: 1, applicationName: 'busy' });
    let firstIsLost = () => {};
    const lost = new Promise<void>((resolve) => (firstIsLost = resolve));
    const first = single.inTransaction(async (tx) => {
      await add(tx, 1, -1);
      await lost;
      await tx.commitWith(add(tx, 2, 1));
    });
    const outcome = first.then(
      () => 'committed',
      (error: Error) => String(error.cause),
    );
    while ((await killBusy(1)) === 0) await pause(5);
    // The next transaction waits for the only slot, and gets a new connection.
    const second = single.inTransaction(async (tx) => {
      await add(tx, 3, -10);
      await tx.commitWith(add(tx, 4, 10));
    });
    while ((await killer`select from pg_stat_activity where application_name = 'busy' and state <> 'idle'`).length > 0)
      await pause(5);
    firstIsLost();
    // The error depends on what the socket notices first: that it was closed, or that writing failed.
    expect(await outcome).toMatch(/CONNECTION_CLOSED|ECONNRESET|EPIPE/);
    await second;
    expect(await killer`select id, balance from purses where balance <> ${BALANCE} order by id`).toEqual([
      { id: 3, balance: 990 },
      { id: 4, balance: 1010 },
    ]);
    await single.close();
  });

  test('queries that a transaction queued behind a frozen backend fail when its pool is abandoned', async () => {
    const single = open(1, 'busy');
    const reserved = await single.reserve();
    const [{ pid }] = (await reserved`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
    process.kill(pid, 'SIGSTOP');
    try {
      // A statement that is new to the connection keeps later ones in the reservation's queue.
      const statements = settled([reserved`select ${1}::int`, reserved`select ${2}::int`, reserved`select ${3}::int`]);
      await single.end({ timeout: 0 });
      expect((await statements).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('a COMMIT after a failed statement fails', async () => {
    const outcome = db.inTransaction((tx) =>
      tx.commitWith(add(tx, 1, -1), tx.send(named('divide', 'select 1 / $1::int'), [0]), add(tx, 2, 1)),
    );
    await expect(outcome).rejects.toThrow('division by zero');
    await expectWholeTransactionsOnly();
    expect(await killer`select id from purses where balance <> ${BALANCE}`).toEqual([]);
    await expectPoolWorks();
  });

  test('queries that waited in a lost transaction fail too', async () => {
    const single = open(1, 'busy');
    const transaction = single.begin((sql) =>
      Promise.all([sql`select pg_sleep(60)`, ...Array.from({ length: 200 }, (_, n) => sql`select ${n}::int`)]),
    );
    const ends = settled([transaction]);
    while ((await killBusy(1)) === 0) await pause(5);
    expect((await ends)[0]?.status).toBe('rejected');
    expect(await single`select 1 as one`).toEqual([{ one: 1 }]);
    await single.end({ timeout: 2 });
  });

  test('a pool whose connections all died still closes', async () => {
    const short = open(3, 'busy');
    const sleeping = settled(Array.from({ length: 3 }, () => short`select pg_sleep(60)`));
    while ((await killBusy(3)) > 0 || !(await Promise.race([sleeping.then(() => true), pause(20)])));
    await settled([short.end()]).then(([end]) => expect(end?.status).toBe('fulfilled'));
  });
});
