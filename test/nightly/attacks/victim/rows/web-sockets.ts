/** Attacks over WebSockets: nothing sent, too much sent, too many subscriptions, fragmented messages. */
import type { Row } from '../ground.js';
import { bytesOf } from './requests.js';

const UPGRADE = (headers: readonly string[] = []) =>
  bytesOf('GET', '/graphql', {
    headers: [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol: graphql-transport-ws',
      ...headers,
    ],
  });
const SIGNED_IN = UPGRADE(['Authorization: Bearer @TOKEN@']);
const INIT = { type: 'connection_init' };

const ALL_EVENTS = 'subscription { myEvents(after: "0") { id type position data } }';
const subscription = (id: string) => ({ type: 'subscribe', id, payload: { query: ALL_EVENTS } });

export const WEB_SOCKETS: readonly Row[] = [
  {
    name: 'upgrades to a WebSocket that stay silent',
    who: 'anonymous',
    attacks: () => [{ kind: 'connections', connections: 1_000, again: { afterMs: 50 }, first: UPGRADE() }],
  },
  {
    // Each connection waits a moment, requests a forbidden upgrade, and resets before the rejection arrives.
    name: 'upgrades that are refused, on connections that are reset at that moment, again and again',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 200,
        drip: { text: UPGRADE(['Origin: https://elsewhere.example']), everyMs: 100 },
        hangUpAfterMs: 100,
        byReset: true,
        again: { afterMs: 10 },
      },
    ],
  },
  {
    name: 'a thousand WebSockets from one address, with as many streams as there may be, again and again',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'connections',
        connections: 1_000,
        firstLocalPort: 12_000,
        tokens: people.crowd,
        first: SIGNED_IN,
        messages: [INIT, ...Array.from({ length: 12 }, (_, at) => subscription(`s${at}`))],
        again: { afterMs: 100 },
      },
    ],
  },
  {
    name: 'floods of messages on 300 WebSockets, each opened again when it is closed',
    who: '600 accounts',
    attacks: ({ people }) => [
      {
        kind: 'connections',
        connections: 300,
        tokens: people.crowd,
        first: SIGNED_IN,
        messages: [INIT, ...Array.from({ length: 5_000 }, () => ({ type: 'ping' }))],
        again: { afterMs: 10 },
      },
    ],
  },
  {
    name: 'messages of thousands of fragments on 200 WebSockets, again and again',
    who: 'anonymous',
    attacks: () => [
      {
        kind: 'connections',
        connections: 200,
        first: UPGRADE(),
        messages: [{ type: 'ping', payload: { text: 'p'.repeat(850) } }],
        fragments: 3_000,
        again: { afterMs: 10 },
      },
    ],
  },
];
