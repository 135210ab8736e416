/** All WebSockets of this server. Opens each WebSocket and passes the results of its subscriptions to graphql-ws. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { parse, type ExecutionResult, type FormattedExecutionResult, type GraphQLSchema } from 'graphql';
import { handleProtocols, makeServer } from 'graphql-ws';
import { WebSocketServer, type ServerOptions } from 'ws';
import type { Timeouts } from '../../service-limits.js';
import type { UnreadAnswers } from '../../http/unread.js';
import type { FrameServices } from '../../call/services.js';
import { type Refusal, refuse } from '../../errors.js';
import { STREAM, WEB_SOCKET } from '../../caller-limits.js';
import type { Release, Client } from '../../quotas/quota.js';
import { AnswerStream } from './answers.js';
import { formattedErrorOf, type OpenSubscription } from './subscriptions.js';
import { OpenSocket } from './open-socket.js';

/** An upgrade request that may become a WebSocket. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** The bytes that were read after the request's head. */
  readonly head: Buffer;
  readonly address: string;
  readonly client: Client;
  /** Releases the WebSocket's place in the quota. */
  readonly release: Release;
  refuse(refusal: Refusal): void;
}

export interface WebSockets {
  open(upgrade: Upgrade): void;
  /** Ends all WebSockets, so their clients reconnect to another server. */
  drain(): void;
  close(): void;
}

export interface WebSocketOptions {
  readonly schema: GraphQLSchema;
  readonly services: FrameServices;
  readonly timeouts: Timeouts;
  readonly unread: Pick<UnreadAnswers, 'hold'>;
  readonly openSubscription: OpenSubscription;
}

/** The types of `ws` lack its close timeout. */
const OPTIONS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: WEB_SOCKET.messageBytesMax,
  maxFragments: WEB_SOCKET.fragmentsMax,
  closeTimeout: STREAM.closeTimeoutMs,
  autoPong: false,
  // If this is false, `ws` 8.23.0 parses the data after a frame that it has rejected, and throws outside of any call.
  allowSynchronousEvents: true,
  handleProtocols,
};

/**
 * A placeholder document for graphql-ws. When graphql-ws gets it, Apollo has already executed the client's document.
 */
const PLACEHOLDER_DOCUMENT = parse('subscription { opened }');

export function openWebSockets(parts: WebSocketOptions): WebSockets {
  const { schema, timeouts } = parts;
  const open = new Map<Socket, OpenSocket>();
  const protocol = makeServer<Record<string, unknown>, OpenSocket>({
    connectionInitWaitTimeout: timeouts.webSocketInitMs,
    onConnect: (context) => context.extra.identify(context),
    onSubscribe: async ({ extra }, id, payload) => {
      const result = await extra.subscribe(id, payload);
      return result instanceof AnswerStream ? { schema, document: PLACEHOLDER_DOCUMENT, contextValue: result } : result;
    },
    // The types of graphql-ws expect errors that it formats. The errors here are already formatted.
    subscribe: ({ contextValue }) => contextValue as AsyncIterable<ExecutionResult>,
    onNext: (_context, _id, _payload, _args, result) => result as FormattedExecutionResult,
    onError: (_context, _id, _payload, errors) => errors.map(formattedErrorOf),
  });
  const handshakes = new WebSocketServer(OPTIONS);
  let underWay: Upgrade | undefined;
  handshakes.on('wsClientError', ({ message }) =>
    underWay?.refuse(refuse('MALFORMED_REQUEST', { message: `The WebSocket couldn’t be opened: ${message}.` })),
  );
  const pinging = setInterval(() => {
    for (const one of open.values()) one.ping();
  }, timeouts.webSocketPingMs);

  return {
    open(upgrade) {
      const { request, socket, head } = upgrade;
      socket.once('close', () => {
        open.delete(socket);
        upgrade.release();
      });
      underWay = upgrade;
      handshakes.handleUpgrade(request, socket, head, (webSocket) => {
        open.set(socket, new OpenSocket(webSocket, upgrade, protocol, parts));
      });
      underWay = undefined;
    },
    drain: () => {
      for (const one of open.values()) one.close('draining');
    },
    close: () => clearInterval(pinging),
  };
}
