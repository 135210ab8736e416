/** In which order sockets are made for connections that came in one turn of the event loop. */
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { acceptInTurn } from '../../src/http/new-connections.js';
import { NO_EVENTS } from '../../src/shares/share.js';
import { createShares } from '../../src/shares/shares.js';
import { SHARES } from '../../src/rules/limits.js';

const AT_ONCE = 50;

function listening() {
  const made: string[] = [];
  const closed: string[] = [];
  const gone = new Set<string>();
  const clientFrom = (address: string) => ({
    address,
    getpeername: (name: { address?: string }) => {
      name.address = address;
      return gone.has(address) ? -1 : 0;
    },
    close: () => void closed.push(address),
  });
  type Client = ReturnType<typeof clientFrom>;
  const handle = { onconnection: (_error: number, client: Client | undefined) => void made.push(client!.address) };
  const server = Object.assign(new EventEmitter(), { _handle: handle });
  const shares = createShares(SHARES, NO_EVENTS);
  const newConnections = acceptInTurn(server as never, shares, (address) => address);
  server.emit('listening');
  const come = (address: string) => handle.onconnection(0, clientFrom(address));
  return { made, closed, gone, come, newConnections };
}

it('the last to come from another address waits for one of each other, and not for all', async () => {
  const { made, come, newConnections } = listening();
  for (let at = 0; at < AT_ONCE; at += 1) come('many');
  come('one');
  expect([made, newConnections.mayOthersGoOn()]).toEqual([['many'], false]);
  while (made.length <= AT_ONCE) await nextTurn();
  expect(made.indexOf('one')).toBe(2);
  expect(newConnections.mayOthersGoOn()).toBe(true);
});

it('a client that leaves before that gets none', async () => {
  const { made, closed, gone, come } = listening();
  for (const address of ['stays', 'leaves', 'leaves', 'stays']) come(address);
  gone.add('leaves');
  come('leaves');
  while (made.length + closed.length < 5) await nextTurn();
  expect([made, closed]).toEqual([
    ['stays', 'stays'],
    ['leaves', 'leaves', 'leaves'],
  ]);
});

it('those that are closed keep the others back, too', async () => {
  const { gone, come, newConnections } = listening();
  gone.add('leaves');
  come('leaves');
  expect(newConnections.mayOthersGoOn()).toBe(false);
  await nextTurn();
  expect(newConnections.mayOthersGoOn()).toBe(false);
  await nextTurn();
  expect(newConnections.mayOthersGoOn()).toBe(true);
});

it('where a thousand wait, one is made for each that comes', async () => {
  const { made, come } = listening();
  for (let at = 0; at <= 1_000; at += 1) come(`from ${at}`);
  for (let at = 1; at <= AT_ONCE; at += 1) {
    come('one more');
    await nextTurn();
    expect(made.length).toBeGreaterThan(at);
  }
});

it('before a server stops all are made, and while more come nothing else goes on', async () => {
  const { made, come, newConnections } = listening();
  for (let at = 0; at < AT_ONCE; at += 1) come('many');
  const all = newConnections.acceptAll(60_000);
  await nextTurn();
  for (let at = 0; at < AT_ONCE; at += 1) come('late');
  expect(newConnections.mayOthersGoOn()).toBe(false);
  await all;
  await nextTurn();
  expect([made.length, newConnections.mayOthersGoOn()]).toEqual([2 * AT_ONCE, true]);
});
