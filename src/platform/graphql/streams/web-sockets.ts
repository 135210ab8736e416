/** All of the server's WebSockets. Opens each one, and passes its subscriptions' results to graphql-ws. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { parse, type ExecutionResult, type FormattedExecutionResult, type GraphQLSchema } from 'graphql';
import { handleProtocols, makeServer } from 'graphql-ws';
import { WebSocketServer, type ServerOptions } from 'ws';
import type { Timeouts } from '../../service-limits.js';
import type { UnreadAnswers } from '../../http/unread.js';
import type { PlatformServices } from '../../call/services.js';
import { type Refusal, refuse } from '../../errors.js';
import { STREAM, WEB_SOCKET } from '../../caller-limits.js';
import type { Release, Client } from '../../quotas/quota.js';
import { AnswerStream } from './answers.js';
import { formattedErrorOf, type OpenSubscription } from './subscriptions.js';
import { OpenSocket } from './open-socket.js';

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** The bytes that arrived after the request's head. */
  readonly head: Buffer;
  readonly client: Client;
  readonly release: Release;
  refuse(refusal: Refusal): void;
}

export interface WebSockets {
  open(upgrade: Upgrade): void;
  /** Ends all WebSockets. Clients then reconnect to another server. */
  drain(): void;
  close(): void;
}

export interface WebSocketOptions {
  readonly schema: GraphQLSchema;
  readonly services: PlatformServices;
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
  // Without this, `ws` 8.23.0 parses the data after a rejected frame, and throws outside of any call.
  allowSynchronousEvents: true,
  handleProtocols,
};

/** graphql-ws gets this placeholder after Apollo has executed the client's document. */
const PLACEHOLDER_DOCUMENT = parse('subscription { opened }');

export function openWebSockets(options: WebSocketOptions): WebSockets {
  const { schema, timeouts } = options;
  const open = new Map<Socket, OpenSocket>();
  const protocol = makeServer<Record<string, unknown>, OpenSocket>({
    connectionInitWaitTimeout: timeouts.webSocketInitMs,
    onConnect: (context) => context.extra.identify(context),
    onSubscribe: async ({ extra }, id, payload) => {
      const result = await extra.subscribe(id, payload);
      return result instanceof AnswerStream ? { schema, document: PLACEHOLDER_DOCUMENT, contextValue: result } : result;
    },
    // graphql-ws's types expect errors that it formats, but these are already formatted.
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
        open.set(socket, new OpenSocket(webSocket, upgrade, protocol, options));
      });
      underWay = undefined;
    },
    drain: () => {
      for (const one of open.values()) one.close('draining');
    },
    close: () => clearInterval(pinging),
  };
}
