/** The server refuses a WebSocket frame, and more data follows. If `ws` then throws, Vitest fails the run. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { buildSchema } from 'graphql';
import { expect, it } from 'vitest';
import {
  openWebSockets,
  type Upgrade,
  type WebSocketOptions,
} from '../../../../src/platform/graphql/streams/web-sockets.js';
import { TIMEOUTS } from '../../../../src/platform/service-limits.js';

/** A client's text frame, with a mask of zeros. */
const text = (payload: Buffer) => Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
const PING = text(Buffer.from('{"type":"ping"}'));
const NOT_UTF8 = text(Buffer.from([0xff, 0xfe]));

it('closes the connection with 1007, and ignores what it reads after that', async () => {
  const sockets = openWebSockets({
    schema: buildSchema('type Query { a: Int }'),
    timeouts: TIMEOUTS,
    services: {},
  } as unknown as WebSocketOptions);
  const sent: Buffer[] = [];
  const socket = new Duplex({ read() {}, write: (chunk: Buffer, _encoding, done) => void (sent.push(chunk), done()) });
  // Each of these is one read.
  for (const read of [Buffer.concat([PING, PING]), NOT_UTF8, Buffer.concat([PING, PING]), PING]) socket.push(read);
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
    'sec-websocket-protocol': 'graphql-transport-ws',
  };
  sockets.open({
    request: { method: 'GET', url: '/graphql', headers } as unknown as IncomingMessage,
    socket: socket as Socket,
    head: Buffer.alloc(0),
    address: '127.0.0.1',
    client: {},
    release: () => {},
  } as unknown as Upgrade);
  await expect.poll(() => Buffer.concat(sent).toString('hex')).toMatch(/880203ef$/);
  socket.destroy();
  sockets.close();
});
