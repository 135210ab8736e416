/** How a command finds the database, whether a server is running or not. */
import type { Connection } from './store/database.js';

/** The embedded database may be running inside a server already; then this command joins it there. */
export async function reachDatabase(
  url: string | undefined,
  dataFolder: string,
): Promise<{ connection: Connection; stop(): Promise<void> }> {
  if (url) return { connection: { url }, stop: async () => {} };
  const { findRunningPostgres, startEmbeddedPostgres } = await import('./store/embedded.js');
  const running = findRunningPostgres(dataFolder);
  return running ? { connection: running, stop: async () => {} } : startEmbeddedPostgres(dataFolder);
}
