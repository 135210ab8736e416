/** Reads the options of `npm start`, `demo`, `seed`, `admin`, and `migrate`, and prints them for `--help`. */
import { parseArgs } from 'node:util';
import { messageOf } from '../platform/errors.js';

export interface Command {
  /** The command as you type it, such as `npm start`. */
  readonly name: string;
  /** The arguments that aren't options. */
  readonly operands?: string;
  readonly does: string;
  readonly options: Readonly<Record<string, string>>;
}

export const PORT_OPTION = { port: 'The port to listen on, such as 4001. Overrides PORT. Use 0 for any free port.' };

/** Prints the help and ends the process if requested. Throws on an unknown option. */
export function readCommand(command: Command) {
  const named = Object.keys(command.options).map((name) => [name, { type: 'string' }] as const);
  const options = { ...Object.fromEntries(named), help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = parse(command, options);
  if (values.help) {
    process.stdout.write(helpOf(command));
    process.exit(0);
  }
  return { values: values as Readonly<Record<string, string | undefined>>, positionals };
}

export function fail(error: unknown): void {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

function parse({ name, operands }: Command, options: Options) {
  try {
    return parseArgs({ options, allowPositionals: operands !== undefined });
  } catch (error) {
    const [reason] = error instanceof Error ? error.message.split('. ') : [];
    throw new Error(`${reason}. For the options, run: ${name} -- --help`, { cause: error });
  }
}

function helpOf({ name, operands = '', does, options }: Command): string {
  const lines = Object.entries({ ...options, help: 'Prints this help.' }).map(
    ([option, text]) => `  --${option.padEnd(8)}${text}`,
  );
  const usage = `${name} --${operands && ` ${operands}`} [options]`;
  const settings = 'All other settings are environment variables. See docs/configuration.md.';
  return `${usage}\n\n${does}\n\n${lines.join('\n')}\n\n${settings}\n`;
}
