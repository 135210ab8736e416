/**
 * Starts the server: configuration, database, services, and APIs. On SIGTERM or SIGINT, stops them in reverse order.
 */
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import { ConfigError, type Config } from './config.js';
import { createReload, type Reload } from './reload.js';
import { messageOf } from '../platform/errors.js';
import { createLog } from '../platform/telemetry/log.js';
import { openQueue, repeat } from '../platform/queue/queue.js';
import { prepareSchema } from './prepare-schema.js';
import { openServices, type OpenServices } from './services.js';
import { loadPlaces } from '../market/operations/places/places.js';
import { ensureAdmin } from '../market/operations/admins/admins.js';
import { startServer } from './server.js';
import { taskKinds } from './task-kinds.js';
import { openWebhooks } from '../market/webhooks/webhooks.js';
import { openNotificationEmails } from '../market/mail/notification-emails.js';
import { directly, type Connection } from '../platform/db/database.js';
import { checkConnection } from '../platform/db/pooler.js';
import { openPurchaseLookups } from '../market/operations/purchases/lookups.js';
import { openMatching } from '../market/operations/searches/matching-loop.js';
import { createClock } from '../market/operations/jobs/clock.js';
import { CLOCK } from '../market/rules/market-limits.js';
import { startCleanup } from '../market/store/housekeeping.js';
import { STOP_WITHIN_MS } from '../platform/service-limits.js';
import { tellStep } from './welcome.js';

export interface Run {
  /** The command as you type it. */
  readonly command: string;
  readonly config: () => Config;
  readonly whenOpen: (url: string, config: Config, log: Logger) => Promise<void> | void;
}

export function run(what: Run): void {
  runUntilStopped(what).catch(fail);
}

async function runUntilStopped(what: Run): Promise<void> {
  const config = what.config();
  const log = createLog(config.LOG_LEVEL, { instance: `${hostname()}:${config.PORT}` });
  const closers: Closer[] = [];
  for (const variable of config.withoutEffect) log.warn({ variable }, 'this variable is set but has no effect');
  // If a list fails synchronously, graphql-js drops its promises. A later rejection of one must not end the process and
  // all its calls.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled promise rejection'));
  // Node still ends the process and prints its own message.
  process.on('uncaughtExceptionMonitor', (error) =>
    log.fatal({ err: error }, 'uncaught exception: the server is exiting'),
  );
  const stopping = new AbortController();
  const starting = start(what, config, log, closers, stopping.signal).catch(async (error: unknown) => {
    await closeAll(closers);
    if (!stopping.signal.aborted || !isAbort(error)) throw error;
    return undefined;
  });

  const stop = once(async (signal: string) => {
    log.info({ signal }, 'shutting down: finishing requests in progress');
    stopping.abort();
    setTimeout(
      () => {
        log.fatal('shutdown timed out: exiting with work in progress');
        process.exit(1);
      },
      config.LAME_DUCK_SECONDS * 1_000 + STOP_WITHIN_MS,
    ).unref();
    await starting;
    await closeAll(closers);
    log.info('stopped');
    endSoon();
  });
  // Handles signals from the start. A container's first process gets only the signals that it listens for.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal).catch(fail));
  // In a terminal, SIGHUP means that the terminal was closed.
  if (isatty(0)) process.on('SIGHUP', () => void stop('SIGHUP').catch(fail));
  else
    process.on('SIGHUP', () => {
      starting.then(
        (reload) => reload?.(),
        () => {}, // The server couldn't start, which is reported below.
      );
    });
  await starting;
}

type Closer = () => Promise<void>;

/** Adds each part to `closers` once it's open. If a later part fails to start, the caller closes the open ones. */
async function start(
  { command, config: readConfig, whenOpen }: Run,
  config: Config,
  log: Logger,
  closers: Closer[],
  stopping: AbortSignal,
): Promise<Reload> {
  const opening = openDatabase(config, log);
  // Loads places while Postgres starts. Otherwise, the first request with an address would wait for them.
  const placesLoaded = loadPlaces();
  const database = await opening;
  closers.push(database.stop);
  await placesLoaded;
  await prepareSchema(config, log, directly(database.connection), stopping).catch(explain(config));
  const open = await openServices(config, log, database.connection).catch(explain(config));
  const { services } = open;
  closers.push(open.close);
  if (config.ADMIN_EMAIL && config.ADMIN_PASSWORD)
    if ((await ensureAdmin(services, config.ADMIN_EMAIL, config.ADMIN_PASSWORD)) === 'created')
      log.info('an admin was created with the address in ADMIN_EMAIL');
  if (config.NODE_ENV === 'production' && config.WEBHOOKS_ALLOW_PRIVATE)
    log.warn('WEBHOOKS_ALLOW_PRIVATE is on: every user can make this server send requests inside its network');
  if (config.NODE_ENV === 'production' && !config.RATE_LIMITS)
    log.warn('RATE_LIMITS is off: nothing limits how often passwords can be guessed');
  if (config.NODE_ENV === 'production' && config.METRICS_TOKEN === undefined)
    log.warn('METRICS_TOKEN is not set: nobody can read /metrics');
  if (!services.mail.isOn)
    log.warn('no mail server is set (SMTP_URL): users cannot reset passwords, or confirm or change email addresses');
  // Isn't awaited, because only emails depend on the mail server.
  void tellWhetherMailGoesOut(services, log);
  const queue = openQueue({ ...services, connection: database.connection, kinds: taskKinds(services) });
  closers.push(queue.close);
  const webhooks = await openWebhooks({ ...services, queue });
  closers.push(webhooks.close);
  const matching = openMatching({ ...services, queue });
  closers.push(matching.close);
  const notificationEmails = openNotificationEmails({ ...services, queue, digestHour: config.DIGEST_HOUR_UTC });
  closers.push(notificationEmails.close);
  const housekeeping = startCleanup(services.db, (kind, error) =>
    log.warn({ err: error, kind }, 'deleting expired rows failed'),
  );
  closers.push(housekeeping.close);
  const clock = repeat(createClock(services).run, CLOCK.everyMs, (error) =>
    log.warn({ err: error }, 'the clock could not check deadlines'),
  );
  closers.push(clock.close);
  const purchases = openPurchaseLookups(services);
  closers.push(purchases.close);
  const server = await startServer(services, config).catch(explainPort(config, command));
  closers.push(server.close);
  if (config.PUBLIC_URL === undefined) services.mail.addresses.origin = server.url;
  await whenOpen(server.url, config, log);
  return createReload(config, readConfig, open, log);
}

async function tellWhetherMailGoesOut({ mail }: OpenServices['services'], log: Logger): Promise<void> {
  const failure = await mail.check();
  if (failure)
    log.warn({ ...failure, end: undefined }, 'the mail server (SMTP_URL) cannot be used: emails wait until it can');
}

async function closeAll(closers: Closer[]): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

interface OpenDatabase {
  connection: Connection;
  stop(): Promise<void>;
}

/** With DATABASE_URL, the embedded database's module isn't even loaded. */
async function openDatabase(config: Config, log: Logger): Promise<OpenDatabase> {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, DATA_DIR } = config;
  if (url) {
    const notices = {
      preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
      onUnknownStatements: () =>
        log.warn('DATABASE_PREPARED_STATEMENTS is on, but the pooler at DATABASE_URL does not seem to support them'),
    };
    const connection = await checkConnection(
      { url, direct: directUrl === undefined ? undefined : { url: directUrl } },
      notices,
    ).catch(explain(config));
    return { connection, stop: async () => {} };
  }
  const { startEmbeddedPostgres } = await import('../platform/embedded/embedded.js');
  return startEmbeddedPostgres(DATA_DIR, {
    onMessage: (message) => log.warn(message),
    onStep: (step) => tellStep(step, config, log),
  });
}

function explainPort({ HOST, PORT }: Config, command: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    const other = `${command} -- --port ${PORT + 1}`;
    throw new Error(`Port ${PORT} on ${HOST} is in use by another program. Choose another port: ${other}`, {
      cause: error,
    });
  };
}

/** Explains what is wrong with DATABASE_URL. Leaves out the stack, which wouldn't help the operator. */
function explain({ DATABASE_URL, DATABASE_DIRECT_URL: direct }: Config): (error: unknown) => never {
  const variable = direct === undefined ? 'DATABASE_URL' : 'DATABASE_URL or DATABASE_DIRECT_URL';
  return (error) => {
    const reason = DATABASE_URL === undefined || isAbort(error) ? undefined : reasonOfDatabase(error);
    throw reason
      ? new Error(`The database at ${variable} cannot be used: ${messageOf(reason)}`, { cause: error })
      : error;
  };
}

/** The error from Postgres or the network. Drizzle wraps it in an error that contains only the statement. */
function reasonOfDatabase(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error ? error : reasonOfDatabase(error.cause);
}

/** True if the server was told to stop while it was still starting. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function once(work: (signal: string) => Promise<void>): (signal: string) => Promise<void> {
  let promise: Promise<void> | undefined;
  return (signal) => (promise ??= work(signal));
}

/** Prints errors written for operators without a stack, and all others with it. */
function fail(error: unknown): void {
  const plain =
    error instanceof ConfigError ||
    (error instanceof Error && error.constructor === Error && !error.stack?.includes('node_modules'));
  process.stderr.write(`${plain ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
  endSoon();
}

/** Ends the process even with open handles. A connection to a frozen database never closes. */
function endSoon(): void {
  setTimeout(() => process.exit(), 2_000).unref();
}
