// A server process for the tests to kill: starts an embedded Postgres, reports in one line of JSON, and stops when its
// parent writes a line. Arguments: the data folder, and the module that starts Postgres.
import { runnerImport } from 'vite';

const [, , folder, source] = process.argv;
const { module } = await runnerImport(source, { configFile: false, logLevel: 'silent' });

process.on('SIGINT', () => {});
process.stdin.resume();
try {
  const server = await module.startEmbeddedPostgres(folder);
  process.stdin.once('data', async () => {
    await Promise.all([server.stop(), server.stop()]);
    process.stdin.destroy();
  });
  console.log(JSON.stringify({ connection: server.connection }));
} catch (error) {
  console.log(JSON.stringify({ error: error.message }));
  process.stdin.destroy();
}
