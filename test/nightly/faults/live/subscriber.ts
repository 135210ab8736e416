/**
 * A client with `myEvents` open over graphql-ws for as long as it is wanted: whatever ends the stream, it comes again,
 * at the other server, and asks for what is after the last event that it saw.
 */
import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { setTimeout as pause } from 'node:timers/promises';
import type { Person } from './market.js';

export interface Seen {
  readonly id: string;
  readonly position: string;
  readonly jobId: string;
  readonly type: string;
}

export interface Subscriber {
  readonly person: Person;
  readonly seen: readonly Seen[];
  /** How often it had to come again. */
  readonly returns: number;
  stop(): Promise<void>;
}

const AGAIN_AFTER_MS = 100;
const DOCUMENT = 'subscription ($after: String) { myEvents(after: $after) { id position jobId type } }';

export function subscribe(urls: readonly string[], person: Person, first: number, after: string): Subscriber {
  const seen: Seen[] = [];
  let isOver = false;
  let returns = -1;
  let client: Client | undefined;

  async function listenOnce(url: string): Promise<void> {
    client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      lazy: true,
      retryAttempts: 0,
      connectionParams: { authorization: `Bearer ${person.token}` },
    });
    const variables = { after: seen.at(-1)?.position ?? after };
    for await (const { data, errors } of client.iterate<{ myEvents: Seen }>({ query: DOCUMENT, variables })) {
      if (errors) throw new Error(JSON.stringify(errors));
      if (data) seen.push(data.myEvents);
    }
  }

  const listening = (async () => {
    for (let at = first; !isOver; at += 1) {
      returns += 1;
      // Whatever ended it, the next one begins where this one ended.
      await listenOnce(urls[at % urls.length] ?? '').catch(() => undefined);
      if (!isOver) await pause(AGAIN_AFTER_MS);
    }
  })();
  return {
    person,
    seen,
    get returns() {
      return returns;
    },
    stop: async () => {
      isOver = true;
      await client?.dispose();
      await listening;
    },
  };
}
