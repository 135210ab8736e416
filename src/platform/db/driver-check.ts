/**
 * Refuses to run on an unpatched Postgres driver. In postgres 3.4.9 as published, the whole process ends when a busy
 * backend dies, and a transaction that lost its connection can write into the next transaction.
 * patches/postgres+3.4.9.patch fixes both, but `npm ci --ignore-scripts` silently skips the patch. The patch marks the
 * module itself, so this check doesn't read any file.
 */
import postgres from 'postgres';

export function assertDriverIsPatched(driver: object = postgres): void {
  if ('survivesDeadBackends' in driver && driver.survivesDeadBackends === true) return;
  throw new Error(
    'The Postgres driver lacks patches/postgres+3.4.9.patch, without which one lost connection ends this process. ' +
      'Run `npm ci` without --ignore-scripts; for production: ' +
      'npm ci && npm run build && npm prune --omit=dev --omit=optional.',
  );
}
