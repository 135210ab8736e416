/** Writes each event to standard output as one line of JSON, in batches. Keeps secrets in errors out of the log. */
import { hostname } from 'node:os';
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { messageOf } from '../errors.js';
import { VERSION } from '../version.js';

interface LogOptions {
  /** The name of this server in every line. */
  readonly instance?: string;
  readonly destination?: DestinationStream;
}

export function createLog(level: string, { instance = hostname(), destination }: LogOptions = {}): Logger {
  return pino(
    {
      level,
      base: { instance, version: VERSION },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    destination ?? openStandardOutput(),
  );
}

const WARN = pino.levels.values['warn'] ?? 40;
const BATCH_BYTES = 4_096;
const FLUSH_INTERVAL_MS = 200;
/** If nobody reads standard output, lines above this total are dropped. */
const UNREAD_BYTES_MAX = 16 * 1_024 * 1_024;
/** How long an ending process waits until someone has read the remaining lines. */
const EXIT_WAIT_MS = 5_000;

/**
 * Collects lines until they fill 4 KB or a fifth of a second has passed. Writing each line takes 6 to 9% of a call's
 * CPU time. Warnings, errors, and the end of the process flush immediately. Writes are synchronous, because a pending
 * write can be lost when the process ends.
 */
function openStandardOutput(): DestinationStream {
  // Node makes a pipe non-blocking when it opens this stream. A stalled reader must not stop the market.
  void process.stdout;
  let exitDeadline = 0;
  const output = pino.destination({
    fd: 1,
    sync: true,
    minLength: BATCH_BYTES,
    maxLength: UNREAD_BYTES_MAX,
    // A full pipe returns EAGAIN. Only an ending process waits for its reader.
    retryEAGAIN: () => Date.now() < exitDeadline,
  });
  let isBroken = false;
  const timer = setInterval(() => output.flush(), FLUSH_INTERVAL_MS).unref();
  // After a broken pipe, drops every line. After another error, such as a full disk, the next flush retries.
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') return;
    isBroken = true;
    clearInterval(timer);
  });
  process.once('exit', () => {
    exitDeadline = Date.now() + EXIT_WAIT_MS;
    // A flush leaves less than `minLength` behind, so it would keep the last lines in memory.
    if (!isBroken) Object.assign(output, { minLength: 1 }).flush();
  });
  const destination = {
    // Makes pino set `lastLevel` before each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      if (isBroken) return;
      output.write(line);
      if (destination.lastLevel >= WARN) output.flush();
    },
  };
  return destination;
}

/** Postgres quotes users' data in some errors. Logs only their code and the names of tables and constraints. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, stack } = error;
  const message = messageOf(error);
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  if (!isFromPostgres(error)) return { type: name, message, stack, ...cause };
  const { code, severity, constraint_name, table_name, routine } = error;
  const about = /^2[23]/.test(code) ? {} : { message };
  return {
    type: 'PostgresError',
    ...about,
    code,
    severity,
    constraint_name,
    table_name,
    routine,
    at: framesOf(error),
    ...cause,
  };
}

/** `stack` starts with the message, which may span several lines. */
function framesOf({ stack = '', message }: Error): string[] {
  const at = stack.indexOf(message);
  return at < 0
    ? []
    : stack
        .slice(at + message.length)
        .split('\n')
        .slice(1, 8);
}

interface FromPostgres extends Error {
  code: string;
  severity: string;
  constraint_name?: string;
  table_name?: string;
  routine?: string;
}

function isFromPostgres(error: Error): error is FromPostgres {
  return error.name === 'PostgresError';
}
