/** A Unix socket whose queue of new connections is full, because the process that accepts them is stopped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connect, named, type Database } from '../../src/platform/db/database.js';
import { freshDatabase, type FreshDatabase } from '../setup/postgres.js';
import { temporaryFolder } from '../setup/temporary-folder.js';

/** Passes connections on to Postgres. Only a few may wait to be accepted. */
const ACCEPTING = `
  const { connect, createServer } = require('node:net');
  const [path, target] = process.argv.slice(1);
  const server = createServer((near) => {
    const far = connect(target);
    near.on('error', () => far.destroy()).pipe(far).on('error', () => near.destroy()).pipe(near);
  });
  server.listen({ path, backlog: 1 }, () => console.log('listening'));
`;

let database: FreshDatabase;
let folder: ReturnType<typeof temporaryFolder>;
let accepting: ChildProcess;
let waiting: Socket[];
let databases: { patient: Database; hasty: Database };
beforeEach(async () => {
  database = await freshDatabase();
  folder = temporaryFolder('full-socket');
  const { host, port } = database.connection;
  const [path, target] = [folder.path, host].map((place) => `${place}/.s.PGSQL.${port}`) as [string, string];
  accepting = spawn(process.execPath, ['-e', ACCEPTING, path, target], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (accepting.stdout) await once(accepting.stdout, 'data');
  accepting.kill('SIGSTOP');
  waiting = await fillQueue(path);
  databases = { patient: open(300), hasty: open(0.5) };
});
afterEach(async () => {
  accepting.kill('SIGKILL');
  for (const socket of waiting) socket.destroy();
  await Promise.all([databases.patient.close(), databases.hasty.close()]);
  folder.remove();
  await database.drop();
});

async function fillQueue(path: string): Promise<Socket[]> {
  const connected: Socket[] = [];
  for (;;) {
    const socket = connectSocket(path);
    const [error] = await Promise.race([once(socket, 'connect'), failureOf(socket)]);
    if (error?.code === 'EAGAIN') return connected;
    expect(error).toBeUndefined();
    connected.push(socket);
  }
}

const failureOf = (socket: Socket) =>
  new Promise<[NodeJS.ErrnoException]>((resolve) => socket.on('error', (error) => resolve([error])));

const open = (timeoutSeconds: number) =>
  connect(
    { ...database.connection, host: folder.path, connect_timeout: timeoutSeconds },
    { poolSize: 3, queueTimeoutMs: 250_000 },
  );

const ONE = named('one', 'select 1');
const both = (db: Database) => [db.send(ONE, []), db.inTransaction((tx) => tx.send(ONE, []))];

it('makes calls wait for the connect timeout, and then counts as an unreachable database', async () => {
  const patient = both(databases.patient);
  const hasty = await Promise.allSettled(both(databases.hasty));
  const refused = { reason: expect.objectContaining({ overloadCause: 'database_away' }) as unknown };
  expect(hasty).toEqual([expect.objectContaining(refused), expect.objectContaining(refused)]);

  accepting.kill('SIGCONT');
  expect(await Promise.all(patient)).toEqual([[[1]], [[1]]]);
  await expect.poll(() => databases.hasty.send(ONE, []).catch(() => 'refused')).toEqual([[1]]);
});
