import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { readInTurn } from '../../src/http/reading.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** The server's end of a connection. */
async function accepted(): Promise<Socket> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => client.destroy(),
  );
  return socket;
}

const TURNS = 20;

it.each(['gone', 'somebody else’s'])('a socket that is %s waits for no turn, even if it is resumed', async (why) => {
  const reading = readInTurn(
    () => true,
    () => true,
    () => true,
  );
  const socket = await accepted();
  const one = { socket, address: '127.0.0.1' };
  reading.add(one);
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  socket.pause();
  reading.remove(one);
  if (why === 'gone') socket.destroy();
  const resumed = vi.spyOn(socket, 'resume');
  reading.resume(one);
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  expect(resumed).not.toHaveBeenCalled();
});
