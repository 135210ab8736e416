/**
 * Runs a real Postgres as the server's child process, for use without a database server. Its data is in the data
 * folder. It listens only on a Unix socket, belongs to one server at a time, and always ends with that server.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runningPostmaster, SERVER_SETTING, runPostgres, type PostgresOptions } from './server.js';
import { findPrograms, type Programs } from './programs.js';

export interface EmbeddedPostgres {
  readonly connection: { host: string; port: number; username: string; database: string; connect_timeout?: number };
  /** Stops Postgres cleanly. Repeated calls wait for the first. */
  stop(): Promise<void>;
}

interface Options extends Partial<Pick<PostgresOptions, 'settings' | 'onMessage'>> {
  /** Called before each step that may take seconds. */
  readonly onStep?: (step: string) => void;
}

export async function startEmbeddedPostgres(
  dataFolder: string,
  { settings = [], onMessage = () => {}, onStep = () => {} }: Options = {},
): Promise<EmbeddedPostgres> {
  // If the server runs as root, Postgres runs as another user. That user may enter the folder but not list it.
  mkdirSync(dataFolder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const folder = realpathSync(dataFolder);
  const cluster = join(folder, 'postgres');
  const programs = findPrograms(folder, cluster);
  onStep(existsSync(cluster) ? `Starting the database in ${folder}` : `Creating a database in ${folder}`);
  await initialiseOnce(cluster, join(folder, TEMPORARY), programs);
  // Socket paths must be short. The driver and Postgres would split them at some characters.
  const fits = Buffer.byteLength(folder) <= 65 && !/[,:"'\s]/.test(folder);
  const host = mkdtempSync(join(fits ? folder : tmpdir(), TEMPORARY));
  const removeSocket = () => rm(host, { recursive: true, force: true });
  try {
    programs.own(host);
    const allSettings = [...SETTINGS, `unix_socket_directories=${host}`, ...settings];
    const stopPostgres = await runPostgres({ programs, cluster, settings: allSettings, onMessage });
    await removeTemporary(folder, host);
    return { connection: { host, ...DETAILS }, stop: () => stopPostgres().finally(removeSocket) };
  } catch (error) {
    await removeSocket();
    throw error;
  }
}

/** Lets a command connect to a running server's database. */
export function findRunningPostgres(dataFolder: string): EmbeddedPostgres['connection'] | undefined {
  if (!existsSync(dataFolder)) return undefined;
  const postmaster = runningPostmaster(join(realpathSync(dataFolder), 'postgres'));
  return postmaster?.server && postmaster.isReady ? { host: postmaster.socketFolder, ...DETAILS } : undefined;
}

/** The next start deletes folders left by a killed server or restore. */
export const TEMPORARY = 'marketplace-';
export const SUPERUSER = 'marketplace';
export const DATABASE = 'marketplace';

/**
 * The port only appears in the socket's file name. Postgres doesn't listen on TCP. If the machine is busy, opening a
 * connection may take more than the usual 5 seconds.
 */
const DETAILS = { port: 5432, username: SUPERUSER, database: DATABASE, connect_timeout: 60 };

const SETTINGS = [
  `${SERVER_SETTING}=${process.pid}`,
  `port=${DETAILS.port}`,
  'listen_addresses=',
  'shared_buffers=128MB',
  // Doesn't log statements and their errors, which contain users' data. The client still gets the errors.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_error_verbosity=terse',
  'log_checkpoints=off',
];

/**
 * Removes the folders that killed servers left behind. A server that starts meanwhile fails anyway, because Postgres is
 * already running.
 */
async function removeTemporary(folder: string, socket: string): Promise<void> {
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const leftovers = paths.filter((path) => path.startsWith(join(folder, TEMPORARY)) && path !== socket);
  await Promise.all(leftovers.map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})));
}

/**
 * Creates a cluster under a temporary name and renames it when complete. A start that is killed halfway leaves no
 * broken cluster. Text is UTF-8 and sorts by code point on every machine.
 */

export async function initialiseOnce(cluster: string, temporary: string, programs: Programs): Promise<void> {
  const isInitialised = () => existsSync(join(cluster, 'PG_VERSION'));
  if (isInitialised()) return;
  const temporaryCluster = mkdtempSync(temporary);
  programs.own(temporaryCluster);
  try {
    await initialise(temporaryCluster, programs);
    renameSync(temporaryCluster, cluster);
  } catch (error) {
    rmSync(temporaryCluster, { recursive: true, force: true, maxRetries: 5 });
    // Another server may have created the cluster first. Postgres's lock decides which one continues.
    if (!isInitialised()) throw error;
  }
}

async function initialise(folder: string, { run }: Programs): Promise<void> {
  const options = [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    // Trusts local clients, because only the owner and root can open the socket.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  // pg_trgm needs this locale to recognize letters. Without it, only ASCII is indexed.
  await run('initdb', [...options, '--lc-ctype=C.UTF-8']).catch((error: Error) => {
    if (!error.message.includes('invalid locale name')) throw error;
    return run('initdb', options);
  });
  await run('postgres', ['--single', '-D', folder, 'postgres'], `create database ${DATABASE}\n`);
}
