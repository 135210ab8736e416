/**
 * Runs the commands in `docs/operating.md` to back up and restore your own PostgreSQL: from a dump, and to a chosen
 * second after a mistake and a kill.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkDatabase } from '../setup/database/checker.js';
import { freeAddress } from '../deploy/proxy.js';
import { until } from '../platform/security/until.js';
import { signUp } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { start, startServer } from '../app/processes.js';
import { temporaryFolder, type TemporaryFolder } from '../setup/temporary-folder.js';
import { printFigures } from './figures.js';

const BIN = '/usr/lib/postgresql/15/bin';
const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');
const ACCOUNTS = 60;

let project: Clone;
let folder: TemporaryFolder;
let primary: ChildProcess | undefined;
let port: number;
beforeAll(async () => {
  project = clone();
  folder = temporaryFolder('recovery');
  execFileSync('chown', ['postgres:', folder.path]);
  asPostgres(`${BIN}/initdb --pgdata=${data()} --username=postgres --auth=trust --locale=C.UTF-8`);
  port = Number((await freeAddress()).split(':')[1]);
  await startPostgres();
});
afterAll(async () => {
  await stopPostgres('SIGQUIT');
  project.remove();
  folder.remove();
});

const data = () => join(folder.path, 'data');
const url = (name: string, role = 'marketplace') => `postgres://${role}@127.0.0.1:${port}/${name}`;

it('a dump restores everything into an empty database, and all tokens add up', async () => {
  await asAdmin(async (sql) => {
    await sql`create role marketplace login`;
    await sql`create database marketplace owner marketplace`;
  });
  const emails = await signUpMany('marketplace', 'dump');
  await asAdmin((sql) => sql`alter role marketplace in database marketplace set statement_timeout = '10s'`);
  const asSuperuser = postgres(url('marketplace', 'postgres'), { max: 1 });
  await asSuperuser`create extension pg_stat_statements`;
  await asSuperuser.end();
  asPostgres(commandsOf('Dump your own PostgreSQL'), {
    DATABASE_URL: url('marketplace'),
    ADMIN_URL: url('postgres', 'postgres'),
    NEW_URL: url('market'),
  });
  expect(await emailsIn('market')).toEqual(emails);
  const restored = postgres(url('market'), { max: 1 });
  expect(await restored`select current_setting('statement_timeout') as timeout`).toEqual([{ timeout: '10s' }]);
  const extensions = await restored`select extname from pg_extension order by 1`;
  expect(extensions.map(({ extname }) => extname as string)).toEqual(['btree_gin', 'pg_trgm', 'plpgsql']);
  await restored.end();
  expect(await audit('market')).toContain(`${ACCOUNTS} accounts, ${ACCOUNTS} token transfers`);
});

it('after a mistake and a kill, restores the second between them with every write acknowledged before it', async () => {
  const backups = join(folder.path, 'backups');
  mkdirSync(backups);
  execFileSync('chown', ['postgres:', backups]);
  const environment = {
    ADMIN_URL: url('postgres', 'postgres'),
    BACKUPS: backups,
    DATA: data(),
    TEXTFILES: folder.path,
  };
  asPostgres(commandsOf('Archive the log'), environment);
  await stopPostgres('SIGINT');
  await startPostgres();
  asPostgres(commandsOf('Make a full copy every night'), environment);
  const textfile = readFileSync(join(folder.path, 'backup.prom'), 'utf8');
  expect(spawnSync('promtool', ['check', 'metrics'], { input: textfile }).status).toBe(0);
  const [, completed] = /^backup_completed_timestamp_seconds (\d+)$/m.exec(textfile) ?? [];
  expect(Math.abs(Number(completed) - Date.now() / 1000)).toBeLessThan(600);
  const emails = [...(await emailsIn('marketplace')), ...(await signUpMany('marketplace', 'kept'))].toSorted();
  // One second's writes are already in the archive. The next second's are only in the killed server's log.
  await asAdmin((sql) => sql`select pg_switch_wal()`);
  emails.push(...(await signUpMany('marketplace', 'late')));
  const second = await asAdmin(async (sql) => {
    const [now] = await sql<{ second: string; next: Date }[]>`
      select date_trunc('second', clock_timestamp()) + interval '1 second' as next,
        to_char(date_trunc('second', clock_timestamp()) + interval '1 second', 'YYYY-MM-DD HH24:MI:SSOF') as second`;
    await until(async () => {
      const [row] = await sql<{ past: boolean }[]>`select clock_timestamp() > ${now?.next ?? null} as past`;
      return row?.past === true;
    });
    return now?.second ?? '';
  });
  const sql = postgres(url('marketplace'), { max: 1 });
  await sql`update token_balances set balance = balance + 1000`;
  await sql.end();
  expect((await tryAudit('marketplace')).code).toBe(1);
  await stopPostgres('SIGKILL');

  const [base] = readdirSync(backups).filter((name) => name.startsWith('base-'));
  const began = performance.now();
  const restoring = { ...environment, BASE: join(backups, String(base)), SECOND: second };
  asPostgres(commandsOf('Restore to a point in time'), restoring);
  await startPostgres();
  await until(() => asAdmin(async (sql) => (await sql`select pg_is_in_recovery() as is`)[0]?.is === false));
  const seconds = (performance.now() - began) / 1000;

  expect(await emailsIn('marketplace')).toEqual(emails.toSorted());
  expect(await audit('marketplace')).toContain(`${3 * ACCOUNTS} accounts, ${3 * ACCOUNTS} token transfers`);
  const own = postgres(url('marketplace'), { max: 1 });
  expect(await checkDatabase(own)).toEqual([]);
  await own.end();
  expect(await signUpMany('marketplace', 'anew')).toHaveLength(ACCOUNTS);
  printFigures(`back at ${second}, with ${emails.length} accounts, after ${seconds.toFixed(1)} s`);
});

/** All commands of one section, in order. */
function commandsOf(heading: string): string {
  const [section = ''] = DOCUMENT.split(`\n### ${heading}\n`)[1]?.split('\n## ')[0]?.split('\n### ') ?? [];
  const blocks = [...section.matchAll(/^ *```sh\n([^]*?)^ *```/gm)].map(([, text = '']) => text);
  if (blocks.length === 0) throw new Error(`operating.md has no commands under “${heading}”.`);
  return blocks.join('\n');
}

function asPostgres(commands: string, environment: Record<string, string> = {}): void {
  execFileSync('/usr/sbin/runuser', ['-u', 'postgres', '--', 'sh', '-euc', commands], {
    cwd: folder.path,
    env: { PATH: `${BIN}:/usr/bin:/bin`, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function startPostgres(): Promise<void> {
  const words = ['-D', data(), '-p', String(port), '-k', folder.path, '-c', 'listen_addresses=127.0.0.1'];
  words.push('-c', 'shared_preload_libraries=pg_stat_statements');
  primary = spawn('/usr/sbin/runuser', ['-u', 'postgres', '--', `${BIN}/postgres`, ...words], { stdio: 'ignore' });
  await until(async () => {
    if (primary?.exitCode !== null) throw new Error('PostgreSQL exited while starting.');
    return asAdmin(async (sql) => (await sql`select 1`).length > 0).catch(() => false);
  });
}

async function stopPostgres(signal: NodeJS.Signals): Promise<void> {
  if (!primary) return;
  const ended = once(primary, 'exit');
  process.kill(Number(readFileSync(join(data(), 'postmaster.pid'), 'utf8').split('\n')[0]), signal);
  await ended;
  primary = undefined;
}

async function asAdmin<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url('postgres', 'postgres'), { max: 1, connect_timeout: 5, onnotice: () => {} });
  return work(sql).finally(() => sql.end());
}

async function signUpMany(database: string, name: string): Promise<string[]> {
  const server = startServer(project, {
    DATABASE_URL: url(database),
    DATA_DIR: project.dataFolder(),
    RATE_LIMIT_SIGN_UP_PER_ADDRESS: '10000',
  });
  const base = await server.url;
  const people = Array.from({ length: ACCOUNTS }, (_, n) => signUp(base, `${name}${n}@example.test`));
  const emails = (await Promise.all(people)).map(({ email }) => email);
  await server.stop();
  return emails.toSorted();
}

async function emailsIn(database: string): Promise<string[]> {
  const sql = postgres(url(database), { max: 1 });
  const rows = await sql<{ email: string }[]>`select email from users`.finally(() => sql.end());
  return rows.map(({ email }) => email).toSorted();
}

async function tryAudit(database: string): Promise<{ code: number | null; output: string }> {
  return start(project, [process.execPath, 'dist/commands/admin.js', 'audit'], { DATABASE_URL: url(database) }).ended;
}

async function audit(database: string): Promise<string> {
  const { code, output } = await tryAudit(database);
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('All tokens add up.\n') });
  return output;
}
