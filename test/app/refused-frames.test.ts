/** WebSocket clients that break the protocol. The server closes their connections and keeps serving everyone else. */
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

const UPGRADE = [
  'GET /graphql HTTP/1.1',
  'Host: a',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: graphql-transport-ws',
  '\r\n',
].join('\r\n');

/** A client's frame, with a mask of zeros. */
function frame(firstByte: number, payload: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from([firstByte, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
}

const TEXT = 0x81;
const PING = frame(TEXT, '{"type":"ping"}');
const [PROTOCOL_ERROR, NOT_UTF8, TOO_BIG] = [1002, 1007, 1009];

const REFUSED: readonly [kind: string, frame: Buffer, code: number][] = [
  ['an unknown kind of frame', frame(0x83, 'x'), PROTOCOL_ERROR],
  ['a frame with reserved bits', frame(0xf1, 'x'), PROTOCOL_ERROR],
  ['a frame without a mask', Buffer.from([TEXT, 1, 0x78]), PROTOCOL_ERROR],
  ['a ping in pieces', frame(0x09, 'x'), PROTOCOL_ERROR],
  ['a continuation of nothing', frame(0x80, 'x'), PROTOCOL_ERROR],
  ['a close frame of one byte', frame(0x88, 'x'), PROTOCOL_ERROR],
  ['text that is not UTF-8', frame(TEXT, Buffer.from([0xff, 0xfe])), NOT_UTF8],
  ['a frame of a petabyte', Buffer.from([TEXT, 0xff, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), TOO_BIG],
];

/** So much that it takes many reads. */
const MORE = Buffer.concat(Array.from({ length: 20_000 }, () => PING));

/**
 * Returns the code with which the server closes a connection. The client sends these bytes with the request, because
 * the server closes a WebSocket whose client is silent for five seconds.
 */
async function closeCodeAfter(url: string, bytes: Buffer): Promise<number | undefined> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  let received = Buffer.alloc(0);
  const code = await new Promise<number | undefined>((resolve) => {
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      const found = closeCodeIn(received);
      if (found !== undefined) resolve(found);
    });
    // The server may reset the connection while the client still writes.
    socket.on('error', () => {});
    socket.on('close', () => resolve(undefined));
    socket.write(Buffer.concat([Buffer.from(UPGRADE), bytes]));
  });
  socket.destroy();
  return code;
}

/** The server's frames are short and have no mask. */
function closeCodeIn(received: Buffer): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  for (let at = headEnd + 4; at + 4 <= received.length; at += 2 + (received[at + 1] ?? 0))
    if (received[at] === 0x88) return received.readUInt16BE(at + 2);
  return undefined;
}

it('closes only the connection of a client that sends a refused frame, with more behind it', async () => {
  const server = startServer(project, {
    DATABASE_URL: patientUrl(database.url),
    JWT_SECRET: 'a secret that only tests know, 32 bytes',
    LOG_LEVEL: 'error',
  });
  const url = await server.url;
  for (const [kind, refused, code] of REFUSED) {
    const sent = [Buffer.concat([PING, refused, MORE]), Buffer.concat([PING, PING, PING, refused]), refused];
    const fiveTimes = Array.from({ length: 5 }, () => sent).flat();
    const codes = await Promise.all(fiveTimes.map((bytes) => closeCodeAfter(url, bytes)));
    expect([kind, ...new Set(codes)]).toEqual([kind, code]);
    expect([kind, (await fetch(`${url}/healthz`)).status]).toEqual([kind, 200]);
  }
  const { code, output } = await server.stop();
  expect([code, output]).toEqual([0, expect.not.stringMatching(/uncaught|a WebSocket failed/)]);
});
