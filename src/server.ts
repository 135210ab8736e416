/** The one HTTP server: it makes out who calls, and shows them to the door that they came to. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import type { Config } from './config.js';
import { checkDoors } from './doors-check.js';
import { openGraphqlDoor, sendRefusal } from './graphql/door.js';
import { openPlayground } from './graphql/playground.js';
import { createSchema } from './graphql/schema.js';
import { watchDoor } from './http/door.js';
import { createDraining } from './http/draining.js';
import { bearerOf, Exchange } from './http/exchange.js';
import { problemWithHead } from './http/head.js';
import { boundLines, boundTaking, inTurn, optionsOf, PATIENCE, type Patience } from './http/lines.js';
import { answerCors, setSecurityHeaders } from './http/policy.js';
import { answerUnreadable } from './http/unreadable.js';
import { createMetrics } from './metrics.js';
import { Caller } from './operations/caller.js';
import type { House } from './operations/house.js';
import { openOperatorAddresses } from './operator.js';
import { refuse, Refusal } from './rules/errors.js';
import { openRestDoor } from './rest/adapter.js';
import { errorBody, sendFailure } from './rest/answer.js';
import { openDescription } from './rest/openapi.js';
import { openReference } from './rest/reference.js';
import { ROUTES } from './rest/routes.js';
import { believedAddress } from './security/address.js';

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Finishes what was begun and stops. */
  close(): Promise<void>;
}

const HEAD_BYTES_MAX = 16 * 1024;

export async function startServer(house: House, config: Config, patience: Patience = PATIENCE): Promise<RunningServer> {
  // A missing Host is ours to refuse, in the documented form.
  const server = createServer({ ...optionsOf(patience), maxHeaderSize: HEAD_BYTES_MAX, requireHostHeader: false }, inTurn(answer));
  const door = watchDoor(server);
  const playground = config.playground ? openPlayground() : undefined;
  const reference = openReference();
  const description = openDescription();
  const schema = createSchema();
  checkDoors(new Set(Object.keys(schema.getMutationType()?.getFields() ?? {})), new Set(ROUTES.map(({ operation }) => operation.name)));
  const graphql = await openGraphqlDoor(schema, house, {
    introspection: config.introspection,
    suggestions: config.introspection && config.NODE_ENV !== 'production',
    persistedDocumentsFile: config.PERSISTED_DOCUMENTS === 'only' ? config.PERSISTED_DOCUMENTS_FILE : undefined,
    sendPlayground: playground?.send,
  });
  const rest = openRestDoor();
  const metrics = createMetrics(house, () => door.waitMs);
  const draining = createDraining();
  const operator = openOperatorAddresses(house, config, metrics, () => draining.begun);

  async function dispatch(exchange: Exchange): Promise<void> {
    setSecurityHeaders(exchange);
    const problem = problemWithHead(exchange.request);
    if (problem) {
      exchange.response.setHeader('Connection', 'close');
      throw problem;
    }
    if (answerCors(exchange, config.CORS_ORIGINS)) return;
    if (operator.handles(exchange.path)) return operator.send(exchange);
    if (door.waitMs > patience.doorMs) throw refuse('OVERLOADED', { details: { retryAfter: 1 } });
    const caller = new Caller(house, {
      requestId: exchange.requestId,
      address: exchange.address,
      bearer: bearerOf(exchange.header('authorization')),
      idempotencyKey: exchange.header('idempotency-key'),
    });
    if (exchange.path === '/graphql') {
      exchange.route = `${exchange.method} /graphql`;
      return graphql.handle(exchange, caller);
    }
    const others = [playground, reference, description].find((one) => one?.handles(exchange.path));
    return others ? others.send(exchange) : rest.handle(exchange, caller);
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const began = performance.now();
    const address = believedAddress(request.socket.remoteAddress ?? '', forwardedFor(request), config.TRUST_PROXY_HOPS);
    const exchange = new Exchange(request, response, address, draining);
    boundTaking(response, patience, () => house.log.warn({ requestId: exchange.requestId, route: exchange.route }, 'the caller did not take the answer'));
    response.on('close', () => {
      const ms = performance.now() - began;
      metrics.observe(exchange.route, response.statusCode, ms / 1000);
      const line = { requestId: exchange.requestId, method: exchange.method, route: exchange.route, status: response.statusCode, ms: Math.round(ms * 10) / 10 };
      if (response.writableFinished) house.log.info(line, 'answered');
      else house.log.warn(line, 'the caller left before the answer');
    });
    dispatch(exchange).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      if (error instanceof Refusal && exchange.path === '/graphql') return sendRefusal(exchange, error);
      sendFailure(exchange, error, { house });
    });
  }

  server.maxRequestsPerSocket = 0;
  server.on('checkExpectation', inTurn(answer));
  answerUnreadable(server, HEAD_BYTES_MAX, errorBody);
  boundLines(server, patience, () => house.log.warn({ lines: patience.linesMax }, 'every line is taken: a newcomer was turned away'));
  await listen(server, { port: config.PORT, host: config.HOST, backlog: patience.linesMax });
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST === '0.0.0.0' ? 'localhost' : config.HOST}:${port}`,
    close: async () => {
      await draining.drain(server, door);
      await graphql.stop();
    },
  };
}

function forwardedFor(request: IncomingMessage): string | undefined {
  const header = request.headers['x-forwarded-for'];
  return Array.isArray(header) ? header.join(',') : header;
}

function listen(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
