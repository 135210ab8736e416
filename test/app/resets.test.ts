/** Callers reset their connections at the worst moment. None of their sockets may end the process. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { patientUrl } from './callers.js';
import { clone, type Clone } from './clone.js';
import { ownDatabase, type OwnDatabase } from './own-database.js';
import { startServer } from './processes.js';

let project: Clone;
let database: OwnDatabase;
beforeAll(async () => {
  project = clone();
  database = await ownDatabase();
});
afterAll(async () => {
  await database.drop();
  project.remove();
});

const PING = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const upgrade = (...headers: string[]) =>
  ['GET /graphql HTTP/1.1', 'Upgrade: websocket', 'Connection: Upgrade', ...headers, '\r\n'].join('\r\n');
const KEY = ['Host: a', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];

const SENT: Readonly<Record<string, string>> = {
  'a WebSocket without Host': upgrade(),
  'a WebSocket of another origin': upgrade(...KEY, 'Origin: https://evil.example'),
  'a WebSocket beyond the quota': upgrade(...KEY),
  'a WebSocket without a key': upgrade('Host: a'),
  'a WebSocket behind a request': PING + upgrade(...KEY),
  'a CONNECT': 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  'no HTTP': 'x\r\n\r\n',
  'half a body': 'POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
  'requests ahead': PING.repeat(16),
  'too many requests ahead': PING.repeat(50),
  'a head beyond the bound': `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
};

/** Opens a connection and gets one response, so that the server has its socket. */
async function reset(url: string, sent: string, isAnswerAwaited: boolean): Promise<void> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  const heard = () => new Promise((resolve) => socket.once('data', resolve));
  await once(socket, 'connect');
  socket.write(PING);
  await Promise.race([heard(), closed]);
  await new Promise((resolve) => socket.write(sent, resolve));
  if (isAnswerAwaited) await Promise.race([heard(), closed]);
  socket.resetAndDestroy();
  await closed;
}

it('a server survives resets, whatever was sent before', async () => {
  const server = startServer(project, {
    DATABASE_URL: patientUrl(database.url),
    JWT_SECRET: 'a secret that only tests know, 32 bytes',
    LOG_LEVEL: 'error',
    QUOTA_STREAMS_PER_ADDRESS: '1',
  });
  const url = await server.url;
  for (const [what, sent] of Object.entries(SENT)) {
    for (let round = 0; round < 10; round += 1)
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => reset(url, sent, what !== 'half a body' && at % 2 === 0)),
      );
    expect([what, (await fetch(`${url}/healthz`)).status]).toEqual([what, 200]);
  }
  const { code, output } = await server.stop();
  expect([code, output.includes('"level":"error"')]).toEqual([0, false]);
});
