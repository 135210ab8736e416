/** On SIGHUP, reads the configuration again, and applies the log level, the rate limits, and the quotas. */
import type { Logger } from 'pino';
import { isReloadable, VARIABLES, type Config } from './config.js';
import type { OpenServices } from './services.js';

export type Reload = () => void;

/** `read` throws if the new configuration is invalid. Then nothing changes. */
export function createReload(
  startedWith: Config,
  read: () => Config,
  { changeLimits }: Pick<OpenServices, 'changeLimits'>,
  log: Logger,
): Reload {
  let current = startedWith;

  return () => {
    const next = tryRead();
    if (!next) return;
    const changed = differences(current, next);
    current = next;
    changeLimits(next);
    log.level = next.LOG_LEVEL;
    // Logged even at higher log levels, because an operator who reloads a server waits for these lines.
    const always = log.child({}, { level: 'info' });
    always.info({ changed: changed.filter(isReloadable) }, 'configuration reloaded');
    const ignored = differences(startedWith, next).filter((variable) => !isReloadable(variable));
    if (ignored.length > 0) always.warn({ variables: ignored }, 'these variables only change when the server restarts');
  };

  function tryRead(): Config | undefined {
    try {
      return read();
    } catch (error) {
      log.error({ err: error }, 'configuration not reloaded: it is invalid, so nothing has changed');
      return undefined;
    }
  }
}

/** Returns the names without the values, because some values are secret. */
function differences(one: Config, other: Config): string[] {
  const names = Object.keys(VARIABLES) as (keyof typeof VARIABLES)[];
  return names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}
