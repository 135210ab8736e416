/** One line of JSON an event, to standard output. Nothing secret reaches a line: errors are cut down to what helps. */
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
    destination ?? pino.destination({ fd: 1, sync: false }),
  );
}

/**
 * Postgres quotes rows and parameters when data is at fault; then only its code and the names in its schema are kept.
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

/** Where it happened. In `stack` the message comes first, on as many lines as the quoted value has. */
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
