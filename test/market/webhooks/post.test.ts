/** One request to a hostile receiver: it ends in time, reads no more than the limit, and follows no redirect. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';
import { afterEach, describe, expect, it } from 'vitest';
import { WEBHOOKS } from '../../../src/market/rules/market-limits.js';
import {
  createAddressRules,
  isPublicAddress,
  type AddressRules,
} from '../../../src/platform/security/public-addresses.js';
import { createPoster, type Outcome } from '../../../src/market/webhooks/post.js';
import { openReceiver, type Answer } from './receiver.js';

const A = 1;
const CNAME = 5;
const AAAA = 28;

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

const anywhere = createAddressRules({ allowPrivate: true });
const MESSAGE = { headers: { 'content-type': 'application/json', 'content-length': '2' }, body: '{}' };
const NEVER = new AbortController().signal;

function poster(addresses = anywhere, timeoutMs = 10_000) {
  const post = createPoster({ addresses, timeoutMs });
  return (url: string, stop = NEVER) => post({ ...MESSAGE, url }, stop);
}

async function receiver(answer: Answer) {
  const opened = await openReceiver(answer);
  closings.push(() => opened.close());
  return opened;
}

/** A server that sends raw bytes, for responses that no HTTP server would send. */
async function server(
  serve: (socket: Socket) => void,
): Promise<{ url: string; closed: Promise<unknown>; server: Server }> {
  const made = createServer();
  const closed = new Promise<void>((resolve) => made.once('connection', (socket) => socket.once('close', resolve)));
  made.on('connection', (socket) => {
    socket.on('error', () => {});
    serve(socket);
  });
  made.listen(0, '127.0.0.1');
  await once(made, 'listening');
  closings.push(() => made.close());
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}/`, closed, server: made };
}

const refused = (error: RegExp): Outcome => ({
  responseStatus: null,
  response: null,
  error: expect.stringMatching(error),
});

describe('a request over TLS', () => {
  /** Uses a self-signed certificate for this name. */
  async function secureReceiver(name: string) {
    const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
    });
    const made = createSecureServer({ key, cert }, (_, response) => response.writeHead(204).end());
    made.listen(0);
    await once(made, 'listening');
    closings.push(() => made.close());
    return { url: `https://localhost:${(made.address() as AddressInfo).port}/`, cert };
  }

  const postTrusting = (ca: string | undefined, url: string) =>
    createPoster({ addresses: anywhere, ...(ca !== undefined && { ca }) })({ ...MESSAGE, url }, NEVER);

  it('arrives if the certificate is trusted and has the right name', async () => {
    const { url, cert } = await secureReceiver('localhost');
    for (const spelled of [url, url.replace('https', 'HTTPS')])
      expect(await postTrusting(cert, spelled)).toEqual({ responseStatus: 204, response: null, error: null });
  });

  it('isn’t sent if the certificate is untrusted or has another name', async () => {
    const unknown = await secureReceiver('localhost');
    expect(await postTrusting(undefined, unknown.url)).toEqual(refused(/isn’t secure \(DEPTH_ZERO_SELF_SIGNED_CERT\)/));
    const other = await secureReceiver('hooks.example.com');
    expect(await postTrusting(other.cert, other.url)).toEqual(refused(/isn’t secure \(ERR_TLS_CERT_ALTNAME_INVALID\)/));
  });
});

describe('a request to a webhook', () => {
  it('keeps the first characters of the response, in a form that the database can store', async () => {
    const { url } = await receiver((_, response) => response.writeHead(200).end(`a\0é${'x'.repeat(900)}`));
    const { responseStatus, response, error } = (await poster()(url)) as Outcome;
    expect([responseStatus, error]).toEqual([200, null]);
    expect(response).toMatch(/^a\uFFFDéx+\.\.\.$/);
    expect(response).toHaveLength(WEBHOOKS.answerCharacters);
  });

  it('reuses its connection until someone closes it', async () => {
    const threeConnections = async () => {
      const { url, received } = await receiver((_, response) => response.writeHead(204).end());
      const post = poster();
      for (let round = 0; round < 3; round += 1) await post(url);
      return received.map(({ connection }) => connection);
    };
    // On a busy machine, one may stay unused for so long that it's closed.
    await expect.poll(threeConnections).toEqual([1, 1, 1]);
  });

  it('counts as received by its status, even if it reads little of a response of 10 MB', async () => {
    const TEN_MB = 10_000_000;
    let taken = 0;
    const { url, closed } = await server((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${TEN_MB}\r\n\r\n`);
      const chunk = Buffer.alloc(100_000, 'x');
      const write = () => {
        while (taken < TEN_MB && socket.write(chunk)) taken += chunk.length;
        if (!socket.destroyed) socket.once('drain', write);
      };
      socket.once('data', write);
    });
    expect(await poster()(url)).toMatchObject({ responseStatus: 200, error: null });
    await closed;
    expect(taken).toBeLessThan(TEN_MB);
  });

  it('doesn’t follow redirects', async () => {
    const inside = await receiver((_, response) => response.writeHead(200).end('secret'));
    for (const status of [301, 302, 303, 307, 308]) {
      const { url } = await receiver((_, response) => response.writeHead(status, { location: inside.url }).end());
      expect(await poster()(url)).toEqual({
        responseStatus: status,
        response: null,
        error: expect.stringContaining(`the redirect ${status}. We don’t follow redirects`),
      });
    }
    expect(inside.received).toEqual([]);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['sends nothing', () => {}],
    ['sends its headers slowly', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'X-Drip: 1\r\n')],
    ['sends 100 Continue forever', (socket) => drip(socket, '', 'HTTP/1.1 100 Continue\r\n\r\n')],
  ])('ends in time if the receiver %s', async (_, serve) => {
    const { url, closed } = await server((socket) => socket.once('data', () => serve(socket)));
    expect(await poster(anywhere, 300)(url)).toEqual(refused(/^There was no response within 0.3 seconds\.$/));
    await closed;
  });

  it('ends in time if the response is slow, and counts as received by its status', async () => {
    const { url, closed } = await server((socket) =>
      socket.once('data', () => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n', 'x')),
    );
    // The first byte must arrive within the timeout, even on a busy machine.
    const outcome = await poster(anywhere, 20_000)(url);
    expect(outcome).toMatchObject({
      responseStatus: 200,
      response: expect.stringMatching(/^x+(\.\.\.)?$/),
      error: null,
    });
    await closed;
  });

  it.each<[string, string, RegExp]>([
    ['invalid HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', /^The response wasn’t valid HTTP \(HPE_/],
    ['endless headers', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, /too many headers/],
    ['an unrequested protocol', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', /./],
  ])('fails if the receiver sends %s', async (_, said, error) => {
    const { url } = await server((socket) => socket.once('data', () => socket.end(said)));
    expect(await poster()(url)).toEqual(refused(error));
  });

  it('fails if nobody listens or the receiver hangs up', async () => {
    const { url, server: gone } = await server((socket) => socket.once('data', () => socket.destroy()));
    expect(await poster()(url)).toEqual(refused(/closed before a response arrived/));
    gone.close();
    await once(gone, 'close');
    expect(await poster()(url)).toEqual(refused(/^The connection was refused\.$/));
  });

  it('can be stopped, which isn’t the receiver’s failure', async () => {
    const stop = new AbortController();
    const { url } = await server((socket) => socket.once('data', () => stop.abort()));
    expect(await poster()(url, stop.signal)).toBe('stopped');
  });
});

function drip(socket: Socket, first: string, drop: string): void {
  socket.write(first);
  const dripping = setInterval(() => socket.write(drop), 20);
  socket.once('close', () => clearInterval(dripping));
}

describe('a private address', () => {
  it.each(['https://127.0.0.1:8443/', 'https://0x7f.1:8443/', 'https://[::ffff:127.0.0.1]:8443/', 'http://8.8.8.8/'])(
    'is rejected at the request, even if it’s already stored: %s',
    async (url) => {
      expect(await poster(createAddressRules({ allowPrivate: false }))(url)).toEqual(refused(/^The URL must /));
    },
  );

  it.each<[string, Readonly<Record<number, string[]>>]>([
    ['127.0.0.1', { [A]: ['127.0.0.1'] }],
    ['a public address and 10.0.0.1', { [A]: ['8.8.8.8', '10.0.0.1'] }],
    ['169.254.169.254', { [A]: ['169.254.169.254'] }],
    ['::1', { [AAAA]: ['0:0:0:0:0:0:0:1'] }],
    ['an IPv4 address in IPv6', { [AAAA]: ['0:0:0:0:0:ffff:7f00:1'] }],
    ['a public address, and a private one over IPv6', { [A]: ['8.8.8.8'], [AAAA]: ['fd00:0:0:0:0:0:0:1'] }],
  ])('is rejected if its name resolves to %s', async (_, answers) => {
    const names = await nameServer(() => answers);
    const rules = createAddressRules({ allowPrivate: false, nameServers: [names] });
    expect(rules.problemWith('https://hooks.example.com:8443/')).toBeUndefined();
    expect(await poster(rules)('https://hooks.example.com:8443/')).toEqual(refused(/address that isn’t public/));
  });

  it.each([
    'https://exa\tmple.com/',
    'https:example.com',
    'https:\\\\example.com\\a',
    'https://example.com\\@127.0.0.1/',
    'https://example.com/\u202Emoc',
    'https://exa\u00ADmple.com/',
  ])('is rejected if it looks like another address: %j', (address) => {
    expect(createAddressRules({ allowPrivate: false }).problemWith(address)).toContain('printable ASCII');
  });

  it('is rejected if its name resolves to it at connection time, even if it was public before', async () => {
    const inside = await server(() => {});
    let connected = 0;
    inside.server.on('connection', () => (connected += 1));
    let address = '8.8.8.8';
    const names = await nameServer(() => ({ [A]: [address] }));
    const rules = createAddressRules({ allowPrivate: false, nameServers: [names] });
    expect(await addressOf(rules, 'rebinds.example.com')).toBe('8.8.8.8');
    address = '127.0.0.1';
    const post = poster(rules);
    const url = inside.url.replace('http://127.0.0.1', 'https://rebinds.example.com');
    expect(rules.problemWith(url)).toBeUndefined();
    for (let round = 0; round < 3; round += 1) expect(await post(url)).toEqual(refused(/isn’t public/));
    expect(connected).toBe(0);
  });

  it('can have an unknown name', async () => {
    const names = await nameServer(() => ({}));
    const rules = createAddressRules({ allowPrivate: false, nameServers: [names] });
    expect(await poster(rules)('https://nowhere.example.com/')).toEqual(refused(/has no IP address|doesn’t exist/));
  });

  it('can have a name that is an alias without addresses', async () => {
    const names = await nameServer(() => ({ [CNAME]: ['nothing.example.com'] }));
    const rules = createAddressRules({ allowPrivate: false, nameServers: [names] });
    expect(await poster(rules)('https://alias.example.com/')).toEqual(refused(/^The host name has no IP address\.$/));
  });

  it('isn’t mistaken for a public one', () => {
    expect(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '2a00:1450::1'].filter((ip) => !isPublicAddress(ip))).toEqual([]);
    expect(['127.0.0.1', '::1', 'fe80::1%eth0', '::ffff:8.8.8.8', 'x', ''].filter(isPublicAddress)).toEqual([]);
  });
});

/** The address that a connection to the name would use now. */
async function addressOf({ lookup }: AddressRules, name: string): Promise<unknown> {
  return lookup && promisify(lookup)(name, {});
}

/** Answers DNS queries over UDP, with the minimum of RFC 1035. */
async function nameServer(answersTo: () => Readonly<Record<number, string[]>>): Promise<string> {
  const socket: UdpSocket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    const answers = answersTo();
    const found = [
      ...(answers[CNAME] ?? []).map((name) => record(CNAME, name)),
      ...(answers[type] ?? []).map((address) => record(type, address)),
    ];
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...found]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  closings.push(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function record(type: number, value: string): Buffer {
  const bytes = dataOf(type, value);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(0, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

function dataOf(type: number, value: string): Buffer {
  if (type === A) return Buffer.from(value.split('.').map(Number));
  if (type === AAAA) return Buffer.concat(value.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
  const labels = value.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}
