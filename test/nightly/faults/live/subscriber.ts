/**
 * A client that keeps `myEvents` open over graphql-ws. Whatever ends the stream, it reconnects to the other server and
 * asks for events after the last one that it received.
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
  /** How often it reconnected. */
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
      // Whatever ended the stream, the next one starts where it stopped.
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
      // The servers may have ended first. A client that is connecting then rejects.
      await Promise.resolve(client?.dispose()).catch(() => undefined);
      await listening;
    },
  };
}
