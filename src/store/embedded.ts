/**
 * Runs a real Postgres as a child of the server, for use without a database server. It has its data in the data folder,
 * listens only on a Unix socket, belongs to one server at a time, is restarted if it ends by itself, and ends with that
 * server however the server ends. Leftovers of an earlier one are removed first.
 */
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseAccount } from './embedded/account.js';
import { findBinaries, type Binaries } from './embedded/binaries.js';
import { initialiseOnce, DATABASE, SUPERUSER } from './embedded/cluster.js';
import { clearLeftovers } from './embedded/leftovers.js';
import { isLocked, lockFolder, type FolderLock } from './embedded/lock.js';
import { reachFor } from './embedded/reach.js';
import { LINE_PREFIX, runPostgres } from './embedded/server.js';
import { prepareSocketFolder } from './embedded/socket.js';
import { armWatchdog } from './embedded/watchdog.js';

export interface EmbeddedPostgres {
  readonly connection: { host: string; port: number; username: string; database: string; password?: string };
  /** Stops Postgres cleanly. Further calls wait for the first. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Further settings, each as `name=value`. */
  settings?: readonly string[];
  /** For tests: without fsync, and the whole folder is removed when the server stops. */
  disposable?: boolean;
  /** Called with warnings and errors of Postgres, and whenever it was restarted. */
  onMessage?: (message: string) => void;
}

/** Only a part of the socket's file name; Postgres does not listen on TCP. */
const PORT = 5432;
const CONNECTION_FILE = 'connection.json';

export async function startEmbeddedPostgres(
  dataFolder: string,
  options: EmbeddedOptions = {},
): Promise<EmbeddedPostgres> {
  const binaries = findBinaries();
  const folder = makeFolder(dataFolder);
  const lock = await lockFolder(folder);
  const leave = leaving(folder, lock, options);
  try {
    return await start(folder, leave, binaries, options);
  } catch (error) {
    leave();
    throw error;
  }
}

/** The connection to the database of a server that is running on this folder, for a command. */
export function findRunningPostgres(dataFolder: string): EmbeddedPostgres['connection'] | undefined {
  if (!isLocked(dataFolder)) return undefined;
  try {
    return JSON.parse(readFileSync(join(dataFolder, CONNECTION_FILE), 'utf8')) as EmbeddedPostgres['connection'];
  } catch {
    return undefined; // That server is still starting, or just ending.
  }
}

async function start(
  folder: string,
  leave: () => void,
  binaries: Binaries,
  { settings = [], disposable = false, onMessage = () => {} }: EmbeddedOptions,
): Promise<EmbeddedPostgres> {
  const cluster = join(folder, 'postgres');
  const account = chooseAccount(cluster);

  rmSync(join(folder, CONNECTION_FILE), { force: true });
  await clearLeftovers(cluster);
  const reach = reachFor(account, folder, binaries);
  const prepareSocket = () => prepareSocketFolder(folder, account, { port: PORT, inside: reach.seesFolder });
  const socketFolder = prepareSocket();
  await initialiseOnce(cluster, { account, reach, disposable });
  const server = await runPostgres({
    reach,
    cluster,
    account,
    settings: [...settingsFor(socketFolder), ...settings],
    disposable,
    onMessage,
    clear: async () => {
      await clearLeftovers(cluster);
      prepareSocket();
    },
  });

  async function stopOnce(): Promise<void> {
    rmSync(join(folder, CONNECTION_FILE), { force: true });
    await server.stop();
    rmSync(socketFolder, { recursive: true, force: true });
    reach.clear();
    leave();
  }

  const connection = { host: socketFolder, port: PORT, username: SUPERUSER, database: DATABASE };
  try {
    writeFileSync(join(folder, CONNECTION_FILE), JSON.stringify(connection));
  } catch (error) {
    await stopOnce();
    throw error;
  }
  let stopping: Promise<void> | undefined;
  return { connection, stop: () => (stopping ??= stopOnce()) };
}

/**
 * Returns a function that ends our use of the folder. It removes a disposable folder, as does a watchdog if this
 * process is killed, repeatedly until no process writes there.
 */
function leaving(folder: string, lock: FolderLock, { disposable }: EmbeddedOptions): () => void {
  if (!disposable) return () => lock.release();
  const watchdog = armWatchdog('n=0; while [ -e "$1" ] && [ $n -lt 50 ]; do rm -rf "$1"; sleep 0.2; n=$((n+1)); done', [
    folder,
  ]);
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    watchdog.disarm();
  };
}

/** When the server is root, Postgres writes in it as another user: other users may enter the folder but not list it. */
function makeFolder(dataFolder: string): string {
  mkdirSync(dataFolder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  return realpathSync(dataFolder);
}

function settingsFor(socketFolder: string): string[] {
  return [
    `port=${PORT}`,
    'listen_addresses=',
    `unix_socket_directories=${socketFolder}`,
    'unix_socket_permissions=0700',
    'shared_buffers=128MB',
    // JIT compilation costs more than these short queries take.
    'jit=off',
    'timezone=UTC',
    'log_timezone=UTC',
    `log_line_prefix=${LINE_PREFIX}`,
  ];
}
