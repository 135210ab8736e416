/** Attacks on the server's connections: many opened, requests half sent, buffers filled, responses unread. */
import type { Row } from '../ground.js';
import { bytesOf, get, post, TINY, WRONG_LOG_IN } from './requests.js';

const halfBody = (path: string) =>
  bytesOf('POST', path, { headers: ['Content-Type: application/json', 'Content-Length: 60000'] });
const paddedHeaders = (bytes: number) => ({ 'X-Padding': 'p'.repeat(bytes) });
const CHUNKED =
  'POST /v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

const streamOf = (job: string) =>
  `/graphql/stream?query=${encodeURIComponent(
    `subscription { jobEvents(jobId: "${job}", after: "0") { id type position data } }`,
  )}`;

export const CONNECTIONS: readonly Row[] = [
  {
    name: '3,000 half-sent heads from 600 addresses',
    who: 'anonymous',
    attacks: ({ addresses }) => [
      {
        kind: 'connections',
        connections: 3_000,
        addresses: addresses(600),
        first: 'GET /v1/me HTTP/1.1\r\nHost: a\r\n',
        drip: { text: 'X-A: b\r\n', everyMs: 500 },
      },
    ],
  },
  {
    name: 'more idle connections than there may be, from eleven addresses',
    who: 'anonymous',
    attacks: ({ addresses }) => [
      {
        kind: 'connections',
        openPerSecond: 4_000,
        addresses: addresses(11),
        first: 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n',
      },
    ],
  },
  ...['/healthz', '/', '/metrics'].map((path): Row => ({
    name: `${path} sent ahead fifty at a time, a hundred times a second, on four connections`,
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 4,
        drip: { text: `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(50), everyMs: 10 },
      },
    ],
  })),
  {
    name: '2,000 half-sent bodies, fed drop by drop',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 2_000,
        firstLocalPort: 10_000,
        first: halfBody('/v1/auth/login'),
        drip: { text: ' '.repeat(8), everyMs: 250 },
      },
    ],
  },
  {
    name: '1,000 connections with 64 KB of tiny requests each',
    who: 'anonymous',
    attacks: () => [{ kind: 'connections', connections: 1_000, first: TINY.repeat(2_000) }],
  },
  {
    name: '1,000 connections with 64 KB of tiny requests each, unread',
    who: 'anonymous',
    attacks: () => [
      { kind: 'connections', connections: 1_000, first: TINY.repeat(2_000), take: 'nothing', hangUpAfterMs: 1_500 },
    ],
  },
  {
    name: '64 KB of tiny requests on each of 300 connections, from as many addresses, unread',
    who: 'anonymous',
    attacks: ({ addresses }) => [
      {
        kind: 'connections',
        connections: 300,
        addresses: addresses(300),
        first: TINY.repeat(2_000),
        take: 'nothing',
        hangUpAfterMs: 1_500,
      },
    ],
  },
  {
    name: '32 KB of tiny requests at once on each of 300 connections that were idle, from as many addresses',
    who: 'anonymous',
    attacks: ({ addresses }) => [
      {
        kind: 'connections',
        connections: 300,
        addresses: addresses(300),
        drip: { text: TINY.repeat(1_000), everyMs: 1_200 },
      },
    ],
  },
  {
    name: '200,000 reads with a token sent ahead on one connection',
    who: 'one account',
    attacks: ({ people }) => [
      {
        kind: 'connections',
        connections: 1,
        tokens: [people.contractor().token],
        take: 'nothing',
        hangUpAfterMs: 1_500,
        first: bytesOf('GET', '/v1/me', { headers: ['Authorization: Bearer @TOKEN@'] }),
        times: 200_000,
      },
    ],
  },
  {
    name: 'bytes that are not HTTP, 1,000 connections a second',
    who: 'anonymous',
    attacks: () => [
      { kind: 'connections', openPerSecond: 1_000, first: '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001' },
    ],
  },
  {
    name: 'HTTP/1.0 without keep-alive, as fast as it is answered',
    who: 'anonymous',
    attacks: () => [
      { kind: 'connections', connections: 100, first: 'GET /v1/me HTTP/1.0\r\n\r\n', again: { afterMs: 0 } },
    ],
  },
  {
    name: 'bodies in chunks of one byte',
    who: 'anonymous',
    forMs: 3_000,
    attacks: () => [
      {
        kind: 'connections',
        connections: 100,
        first: CHUNKED,
        next: '1\r\n \r\n'.repeat(1_000),
        nextTimes: 60,
        again: { afterMs: 10 },
      },
    ],
  },
  {
    name: 'bodies promised by Expect: 100-continue and never sent',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 2_000,
        firstLocalPort: 10_000,
        first: bytesOf('POST', '/v1/auth/login', {
          headers: ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 1000'],
        }),
      },
    ],
  },
  {
    name: 'streams from the beginning on a thousand connections, as server-sent events that are not read',
    who: '600 accounts',
    attacks: ({ people, crowdedJobId }) => [
      {
        kind: 'connections',
        connections: 1_000,
        firstLocalPort: 14_000,
        tokens: [people.ownerOfCrowdedJob.token, ...people.crowd],
        first: bytesOf('GET', streamOf(crowdedJobId), {
          headers: ['Accept: text/event-stream', 'Authorization: Bearer @TOKEN@'],
        }),
        take: 'nothing',
        hangUpAfterMs: 1_500,
        again: { afterMs: 50 },
      },
    ],
  },
  {
    name: 'a thousand streams held, and calls beside them',
    who: '600 accounts',
    attacks: ({ addresses, people, crowdedJobId }) => [
      {
        kind: 'connections',
        connections: 1_000,
        addresses: addresses(10),
        tokens: people.crowd,
        first: bytesOf('GET', streamOf(crowdedJobId), {
          headers: ['Accept: text/event-stream', 'Authorization: Bearer @TOKEN@'],
        }),
      },
      { kind: 'calls', connections: 50, tokens: people.crowd, requests: [get('/v1/jobs'), get('/v1/me')] },
    ],
  },
  {
    name: 'logins whose X-Forwarded-For is another one each time',
    who: 'anonymous',
    hashesOn: true,
    attacks: () => [
      {
        kind: 'calls',
        connections: 300,
        requests: Array.from({ length: 1_000 }, (_, at) =>
          post('/v1/auth/login', WRONG_LOG_IN, { 'x-forwarded-for': `198.51.${at >> 8}.${at & 255}` }),
        ),
      },
    ],
  },
  {
    name: 'heads of 15 KB, heads of thousands of names, and heads too long to be read',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 50,
        first: bytesOf('GET', '/v1/me', { headers: Array.from({ length: 1_900 }, (_, at) => `${at}:`) }),
        times: 20,
        again: { afterMs: 10 },
      },
      {
        kind: 'calls',
        connections: 40,
        requests: [get('/v1/me', paddedHeaders(15_000)), get('/v1/me', paddedHeaders(60_000))],
      },
    ],
  },
  {
    name: 'content types of 14 KB of spaces, and addresses that name one parameter 2,000 times',
    who: '600 accounts',
    attacks: ({ addresses, people }) => [
      {
        kind: 'calls',
        connections: 20,
        addresses: addresses(20),
        tokens: people.crowd,
        requests: [
          post('/v1/auth/login', {}, { 'content-type': `application/json${' '.repeat(14_000)}x` }),
          get(`/v1/jobs?${'page=1&'.repeat(2_000)}`),
        ],
      },
    ],
  },
  {
    name: 'the OpenAPI document and the pages of the reference, unread on 300 connections',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 300,
        first: ['/v1/openapi.json', '/v1/docs', '/v1/docs/swagger-ui-bundle.js', '/v1/docs/swagger-ui.css', '/graphql']
          .map((path) => bytesOf('GET', path, { headers: ['Accept: text/html'] }))
          .join(''),
        times: 10,
        take: 'nothing',
      },
    ],
  },
  {
    name: 'the OpenAPI document, read slowly on 500 connections',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 500,
        first: bytesOf('GET', '/v1/openapi.json'),
        times: 5,
        take: { bytes: 512, everyMs: 100 },
      },
    ],
  },
  {
    name: 'small pages left unread on a thousand connections',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'connections',
        connections: 1_000,
        tokens: people.crowd,
        take: 'nothing',
        first: bytesOf('GET', '/v1/jobs?per_page=100', { headers: ['Authorization: Bearer @TOKEN@'] }),
        times: 3,
      },
    ],
  },
  {
    name: 'small requests on 800 connections at once',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'calls',
        connections: 800,
        requests: [
          get('/v1/me'),
          get('/'),
          post('/v1/nothing'),
          { method: 'OPTIONS', path: '/v1/jobs' },
          { method: 'HEAD', path: '/v1/me' },
        ],
      },
    ],
  },
];
