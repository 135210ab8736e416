/**
 * Runs a real Postgres as a child of the server, for use without a database server. This Postgres keeps its data in the
 * data folder, listens only on a Unix socket, belongs to one server at a time, and ends when that server ends for any
 * reason.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runningPostmaster, SERVER_SETTING, runPostgres, type PostgresOptions } from './server.js';
import { findPrograms, type Programs } from './programs.js';

export interface EmbeddedPostgres {
  readonly connection: { host: string; port: number; username: string; database: string };
  /** Stops Postgres cleanly. Further calls wait for the first. */
  stop(): Promise<void>;
}

interface Options extends Partial<Pick<PostgresOptions, 'settings' | 'onMessage'>> {
  /** Called with a description of each step that may take seconds. */
  readonly onStep?: (step: string) => void;
}

export async function startEmbeddedPostgres(
  dataFolder: string,
  { settings = [], onMessage = () => {}, onStep = () => {} }: Options = {},
): Promise<EmbeddedPostgres> {
  // If the server runs as root, Postgres writes here as another user. That user may enter the folder but not list it.
  mkdirSync(dataFolder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const folder = realpathSync(dataFolder);
  const cluster = join(folder, 'postgres');
  const programs = findPrograms(folder, cluster);
  onStep(existsSync(cluster) ? `Starting the database in ${folder}` : `Creating a database in ${folder}`);
  await initialiseOnce(cluster, join(folder, TEMPORARY), programs);
  // A socket path must be short. The driver and Postgres would also split it at some characters.
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

/** The connection to the database of a server that is already running on this folder. Commands use it. */
export function findRunningPostgres(dataFolder: string): EmbeddedPostgres['connection'] | undefined {
  if (!existsSync(dataFolder)) return undefined;
  const postmaster = runningPostmaster(join(realpathSync(dataFolder), 'postgres'));
  return postmaster?.server && postmaster.isReady ? { host: postmaster.socketFolder, ...DETAILS } : undefined;
}

/** Folders left by a killed server or restore are deleted at the next start. */
export const TEMPORARY = 'marketplace-';
export const SUPERUSER = 'marketplace';
export const DATABASE = 'marketplace';

/** The port only becomes part of the socket's file name. Postgres doesn't listen on TCP. */
const DETAILS = { port: 5432, username: SUPERUSER, database: DATABASE };

const SETTINGS = [
  `${SERVER_SETTING}=${process.pid}`,
  `port=${DETAILS.port}`,
  'listen_addresses=',
  'shared_buffers=128MB',
  // Statements and their errors contain users' data, so they aren't logged. The client gets the errors anyway.
  'log_min_messages=log',
  'log_min_error_statement=panic',
  'log_error_verbosity=terse',
  'log_checkpoints=off',
];

/**
 * Removes the folders that killed servers left behind. A server that starts at the same time is rejected anyway,
 * because Postgres is already running.
 */
async function removeTemporary(folder: string, socket: string): Promise<void> {
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const leftovers = paths.filter((path) => path.startsWith(join(folder, TEMPORARY)) && path !== socket);
  await Promise.all(leftovers.map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})));
}

/**
 * Creates a new cluster under another name and renames it once complete, so a start that is killed halfway leaves only
 * an incomplete folder. Text is UTF-8 and sorts by code point, which is the same on every machine.
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
    // Another server may have created the cluster first. Postgres's lock decides which of the two servers continues.
    if (!isInitialised()) throw error;
  }
}

async function initialise(folder: string, { run }: Programs): Promise<void> {
  const options = [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    // Trusts every local client, because only the socket's owner and root can open the socket.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  // pg_trgm uses the system's locale to recognize letters. Machines without this locale index only ASCII.
  await run('initdb', [...options, '--lc-ctype=C.UTF-8']).catch((error: Error) => {
    if (!error.message.includes('invalid locale name')) throw error;
    return run('initdb', options);
  });
  await run('postgres', ['--single', '-D', folder, 'postgres'], `create database ${DATABASE}\n`);
}
