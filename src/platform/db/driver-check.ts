/**
 * Refuses to run on an unpatched Postgres driver. As published, postgres 3.4.9 ends the whole process when a busy
 * backend dies, and lets a transaction that lost its connection write into the next one's. patches/postgres+3.4.9.patch
 * fixes both, but `npm ci --ignore-scripts` silently skips it. The patch marks the module itself, so the check needs no
 * file.
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
