/** Logs one line of JSON for each event to standard output. Errors are cut down, so that no secret reaches a line. */
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
 * Postgres quotes rows and parameters in errors about data; of such an error only the code and the names of its schema
 * are kept.
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

/** The frames of the stack. In `stack` the message comes first, on as many lines as the quoted value has. */
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
