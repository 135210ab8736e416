/** Logs each event as one line of JSON to standard output, in batches. Trims errors to keep secrets out. */
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: undefined,
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
/** The maximum size of unread log lines. If nobody reads standard output, further lines are dropped. */
const UNREAD_BYTES_MAX = 16 * 1_024 * 1_024;
/** How long an ending process waits for somebody to read the remaining lines. */
const EXIT_WAIT_MS = 5_000;

/**
 * Writing line by line takes 6 to 9% of a call's CPU time, so lines are collected until they fill 4 KB or a fifth of a
 * second has passed. Warnings and errors are written immediately, and a process that ends flushes the rest. Writes are
 * synchronous, because a write in progress when the process ends can be lost.
 */
function openStandardOutput(): DestinationStream {
  // Node makes a pipe non-blocking when it opens this stream. A reader that stopped reading must not stop the market.
  void process.stdout;
  let exitDeadline = 0;
  const output = pino.destination({
    fd: 1,
    sync: true,
    minLength: BATCH_BYTES,
    maxLength: UNREAD_BYTES_MAX,
    // A full pipe returns EAGAIN. Only an ending process waits for the pipe's reader.
    retryEAGAIN: () => Date.now() < exitDeadline,
  });
  let isBroken = false;
  const timer = setInterval(() => output.flush(), FLUSH_INTERVAL_MS).unref();
  // After a broken pipe, every line is dropped. After another error, such as a full disk, the next flush retries.
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') return;
    isBroken = true;
    clearInterval(timer);
  });
  process.once('exit', () => {
    exitDeadline = Date.now() + EXIT_WAIT_MS;
    // A flush stops when less than `minLength` is left, so it would keep the last lines in memory.
    if (!isBroken) Object.assign(output, { minLength: 1 }).flush();
  });
  const destination = {
    // This symbol asks pino to set `lastLevel` before each line.
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

/**
 * Postgres quotes users' data in errors about data. For these errors, the log has only the code and the names of tables
 * and constraints.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
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

/** `stack` starts with the message, which can span several lines if it quotes a value. */
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
