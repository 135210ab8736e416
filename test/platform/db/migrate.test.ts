/** Migrations run file by file, on one server at a time, without holding up others that use the tables. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/db/migrate.js';
import { until } from '../security/until.js';
import { patientUrl } from '../../app/callers.js';
import { ownDatabase, type OwnDatabase } from '../../app/own-database.js';
import { temporaryFolder } from '../../setup/temporary-folder.js';

const QUICK = { lockTimeoutMs: 20, retryAfterMs: 5, retryForMs: 60_000, pollEveryMs: 5 };
const PATIENT = { ...QUICK, lockTimeoutMs: 60_000 };

let own: OwnDatabase;
let sql: Sql;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  own = await ownDatabase();
  sql = postgres(own.url, { max: 2, fetch_types: false, onnotice: () => {} });
  folder = temporaryFolder('migrations');
});
afterEach(async () => {
  folder.remove();
  await sql.end();
  await own.drop();
});

const CREATE = 'create table boats (id integer primary key, name text not null)';
const FILL = `insert into boats select n, 'boat ' || n from generate_series(1, 1000) n`;

/** Creates a release with these migrations, named by their order. */
function release(...files: string[]): void {
  mkdirSync(join(folder.path, 'meta'), { recursive: true });
  const entries = files.map((_, at) => ({ idx: at, version: '7', when: 1_000 + at, tag: `m${at}`, breakpoints: true }));
  writeFileSync(join(folder.path, 'meta/_journal.json'), JSON.stringify({ entries }));
  for (const [at, text] of files.entries()) writeFileSync(join(folder.path, `m${at}.sql`), text);
}

const run = (settings: Parameters<typeof migrate>[1] = {}) =>
  migrate({ url: patientUrl(own.url) }, { folder: folder.path, times: QUICK, ...settings });

const recorded = async () =>
  (await sql`select created_at::int as at from drizzle.__drizzle_migrations order by id`).map(({ at }) => at);

it('a file that fails is named; the files before it are kept, and the next run continues there', async () => {
  release(
    `${CREATE};--> statement-breakpoint\n${FILL}`,
    'delete from boats;--> statement-breakpoint\nselect 1 / 0',
    '',
  );
  await expect(run()).rejects.toMatchObject({ message: 'the migration m1 failed: division by zero', code: '22012' });
  expect(await recorded()).toEqual([1_000]);
  expect(await sql`select count(*)::int from boats`).toEqual([{ count: 1_000 }]);

  release(`${CREATE};--> statement-breakpoint\n${FILL}`, 'delete from boats', 'select 1');
  expect(await run()).toEqual(['m1', 'm2']);
  expect(await recorded()).toEqual([1_000, 1_001, 1_002]);
  expect(await run()).toEqual([]);
});

const CONCURRENTLY = `-- Outside a transaction.
drop index concurrently if exists boats_by_name;--> statement-breakpoint
create unique index concurrently boats_by_name on boats (name)`;

it('a file outside a transaction builds an index while rows are written, and runs again after a failure', async () => {
  release(CREATE, FILL, `insert into boats values (1001, 'boat 7')`, CONCURRENTLY);
  await expect(run()).rejects.toThrow('the migration m3 failed: could not create unique index "boats_by_name"');
  const state = async () =>
    (await sql`select indisvalid from pg_index where indexrelid = 'boats_by_name'::regclass`)[0];
  expect(await state()).toEqual({ indisvalid: false });
  await sql`delete from boats where id = 1001`;

  await sql.begin(async (tx) => {
    await tx`insert into boats values (2000, 'under way')`;
    const running = run();
    await until(async () => (await waitingFor('index concurrently')) > 0);
    await tx`insert into boats values (2001, 'under way still')`;
    void running;
  });
  await run();
  expect(await state()).toEqual({ indisvalid: true });
  expect(await recorded()).toEqual([1_000, 1_001, 1_002, 1_003]);
});

it('rows are moved in batches that are committed one by one', async () => {
  release(
    `${CREATE};--> statement-breakpoint\nalter table boats add column moved_by xid8`,
    FILL,
    `-- Outside a transaction.
do $$
begin
  for batch in 0..9 loop
    update boats set moved_by = pg_current_xact_id() where id between batch * 100 + 1 and batch * 100 + 100;
    commit;
  end loop;
end
$$`,
  );
  await run();
  expect(await sql`select count(*)::int, count(distinct moved_by)::int as batches from boats`).toEqual([
    { count: 1_000, batches: 10 },
  ]);
});

it("a migration doesn't wait long for a table in use: callers continue, and the file is retried", async () => {
  release(CREATE, FILL);
  await run();
  release(CREATE, FILL, 'alter table boats add column sail text');
  const retries: unknown[] = [];
  let running: Promise<readonly string[]> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from boats limit 1`;
    running = run({ onRetry: (migration, error) => retries.push([migration, (error as { code: string }).code]) });
    await until(() => retries.length >= 3);
  });
  expect(await running).toEqual(['m2']);
  expect(retries[0]).toEqual(['m2', '55P03']);
  // The failing migration isn't retried forever.
  release(CREATE, FILL, 'alter table boats add column sail text', 'alter table boats drop column sail');
  await sql.begin(async (tx) => {
    await tx`select from boats limit 1`;
    await expect(run({ times: { ...QUICK, retryForMs: 0 } })).rejects.toThrow(
      'the migration m3 failed: canceling statement due to lock timeout',
    );
  });
});

it('of three instances that start together, one runs each file, and the others wait for it', async () => {
  release(CREATE, FILL, 'update boats set id = id + 1000');
  const holders: unknown[] = [];
  const ran = await Promise.all(Array.from({ length: 3 }, () => run({ onWait: (client) => holders.push(client) })));
  expect(ran.flat()).toEqual(['m0', 'm1', 'm2']);
  expect(await recorded()).toEqual([1_000, 1_001, 1_002]);
  expect(await sql`select min(id), max(id) from boats`).toEqual([{ min: 1_001, max: 2_000 }]);
  expect(holders.length).toBeLessThanOrEqual(2);
});

it('an instance that waits for another names it once, and stops when asked to', async () => {
  release(CREATE);
  const stopping = new AbortController();
  const holders: unknown[] = [];
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7203118)`;
    const [{ pid } = {}] = await tx`select pg_backend_pid() as pid`;
    const running = run({ signal: stopping.signal, onWait: (client) => holders.push(client) });
    await until(() => holders.length > 0);
    stopping.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(holders).toEqual([pid]);
    // Its backends end a moment after it has disconnected. A transaction would see the same list of backends each time.
    await until(async () => {
      const backends = await sql`select from pg_stat_activity
        where datname = current_database() and application_name = 'job-marketplace migrations'`;
      return backends.length === 0;
    });
  });
  expect(await sql`select to_regclass('boats') as made`).toEqual([{ made: null }]);
});

it("an instance that lost its lock doesn't run a file that another has run in the meantime", async () => {
  const WAIT = `select pg_advisory_xact_lock(1)`;
  release(CREATE, FILL, `${WAIT};--> statement-breakpoint\nupdate boats set id = id + 1000`);
  let running: Promise<unknown>[] = [];
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`;
    running = [run({ times: PATIENT }).catch((error: unknown) => error)];
    await until(async () => (await waitingFor(WAIT)) > 0);
    await tx`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7203118
      and database = (select oid from pg_database where datname = current_database())`;
    running.push(run({ times: PATIENT }));
    await until(async () => (await waitingFor('lock table')) > 0);
  });
  await Promise.all(running);
  expect(await recorded()).toEqual([1_000, 1_001, 1_002]);
  expect(await sql`select min(id), max(id) from boats`).toEqual([{ min: 1_001, max: 2_000 }]);
});

/** The number of statements with this text that wait for a lock. */
async function waitingFor(text: string): Promise<number> {
  const [{ count = 0 } = {}] = await sql<{ count: number }[]>`
    select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query ilike ${`%${text}%`}`;
  return count;
}

it("the role's timeouts for calls don't end a migration", async () => {
  const database = new URL(own.url).pathname.slice(1);
  for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout'])
    await sql.unsafe(`alter role marketplace in database ${database} set ${name} = '1s'`);
  const slow = 'select pg_sleep(1.2)';
  release(CREATE, `${slow};--> statement-breakpoint\n${slow}`, `-- Outside a transaction.\n${slow}`);
  expect(await run()).toEqual(['m0', 'm1', 'm2']);
});
