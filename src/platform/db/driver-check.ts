/**
 * Refuses to start with an unpatched Postgres driver. In postgres 3.4.9, a dying backend can end the whole process.
 * Also, a transaction that loses its connection can write into the next one. patches/postgres+3.4.9.patch fixes both,
 * but `npm ci --ignore-scripts` silently skips it. The patch marks the module itself, so this check reads no files.
 */
import postgres from 'postgres';

export function assertDriverIsPatched(driver: object = postgres): void {
  if ('survivesDeadBackends' in driver && driver.survivesDeadBackends === true) return;
  throw new Error(
    'The Postgres driver isn’t patched with patches/postgres+3.4.9.patch. Without the patch, a single lost ' +
      'connection can crash this process. Run `npm ci` without --ignore-scripts. For production, run ' +
      '`npm ci && npm run build && npm prune --omit=dev --omit=optional`.',
  );
}
