/** A client gets the response to a rejected body, however much of the body it still sends. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DISCARDED_BODY } from '../../../src/platform/caller-limits.js';
import { head, openConnection, refusalIn } from '../../attacks/raw-connection.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { homeowner, type Person } from '../../story/cast.js';
import { PATIENT, startProxy, type Proxy } from '../../deploy/proxy.js';
import { needs } from '../../setup/needs.js';

/** A busy machine may need more than ten seconds to transfer sixty megabytes. */
vi.mock('../../../src/platform/caller-limits.js', async (original) => {
  const limits = await original<typeof import('../../../src/platform/caller-limits.js')>();
  return { ...limits, DISCARDED_BODY: { ...limits.DISCARDED_BODY, msMax: 60_000 } };
});

const MB = 1_000_000;
const TOO_LARGE = [413, 'PAYLOAD_TOO_LARGE'];

let app: TestApp;
let hanna: Person;
beforeAll(async () => {
  app = await openTestApp({ TRUST_PROXY_HOPS: '1' });
  hanna = await homeowner(app, 'Hanna');
});
afterAll(() => app.close());

describe('on the bare port', () => {
  answers(() => app.url);

  it('only a limited part of a body is read', async () => {
    const client = await openConnection(app.url);
    client.send(head('POST', '/v1/jobs', ['Content-Length: 1000000000']));
    expect(refusalIn(await client.answer())).toEqual(TOO_LARGE);
    client.send('x'.repeat(DISCARDED_BODY.bytesMax + MB));
    await client.closed;
  });

  it('the next request on the connection is read as a request', async () => {
    const client = await openConnection(app.url);
    client.send(`${head('POST', '/v1/jobs', [`Content-Length: ${MB}`])}${'x'.repeat(MB)}${head('GET', '/healthz')}`);
    expect(refusalIn(await client.answer())).toEqual(TOO_LARGE);
    expect((await client.answer()).status).toBe(200);
    client.hangUp();
  });
});

needs('haproxy').describe('through HAProxy', () => {
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await startProxy([new URL(app.url).host], PATIENT);
  });
  afterAll(() => proxy.stop());
  answers(() => proxy.url);
});

function answers(url: () => string): void {
  it.each(['/v1/jobs', '/graphql'])('twelve simultaneous uploads of 5 MB all get a response: %s', async (path) => {
    const upload = () =>
      fetch(url() + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${hanna.token}`, 'content-type': 'application/json' },
        body: Buffer.alloc(5 * MB, ' '),
      });
    const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await upload()).status));
    expect(statuses).toEqual(Array(12).fill(413));
  });

  it.each([
    ['413 is answered', '/v1/jobs', [], TOO_LARGE],
    ['413 is answered, also where the connection is to be closed', '/v1/jobs', ['Connection: close'], TOO_LARGE],
    ['404 is answered', '/v1/nothing', [], [404, 'NOT_FOUND']],
  ])('a client that sends everything before it reads gets a response: %s', async (_, path, headers, refusal) => {
    const client = await openConnection(url());
    client.socket.pause();
    client.send(head('POST', path, [`Content-Length: ${5 * MB}`, ...headers]));
    await new Promise((resolve) => client.socket.write('x'.repeat(5 * MB), resolve));
    client.socket.resume();
    expect(refusalIn(await client.answer())).toEqual(refusal);
    client.hangUp();
  });
}
