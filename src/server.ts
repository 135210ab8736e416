/**
 * The one HTTP server: it makes out who calls, sees to their shares, and hands the request to the API that they call.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import type { Config } from './config.js';
import { checkDoors } from './doors-check.js';
import { openGraphqlDoor, sendRefusal } from './graphql/door.js';
import { openPlayground } from './graphql/playground.js';
import { createSchema } from './graphql/schema.js';
import { shareConnections } from './http/connections.js';
import { createDraining } from './http/draining.js';
import { bearerOf, Exchange } from './http/exchange.js';
import { HEADERS_MAX, problemWithHead } from './http/head.js';
import { answerCors, setSecurityHeaders } from './http/policy.js';
import { proxyNotice } from './http/proxy-notice.js';
import { serverOptions, TIMEOUTS, type Timeouts } from './http/timeouts.js';
import { answerUnreadable } from './http/unreadable.js';
import { boundUnreadAnswers } from './http/unread.js';
import { Caller } from './operations/caller.js';
import type { House } from './operations/house.js';
import { openOperatorAddresses } from './operator.js';
import { Refusal } from './rules/errors.js';
import { openRestDoor } from './rest/adapter.js';
import { errorBody, sendFailure } from './rest/answer.js';
import { openDescription } from './rest/openapi.js';
import { openReference } from './rest/reference.js';
import { ROUTES } from './rest/routes.js';
import { addressIdentity, believedAddress } from './security/address.js';
import { RequestUnderWay } from './shares/shares.js';

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Finishes what was begun and stops. */
  close(): Promise<void>;
}

const HEAD_BYTES_MAX = 16 * 1024;

const UNTRUSTED_PROXY =
  'a request came through a proxy while TRUST_PROXY_HOPS is 0: all callers behind it share the limits of one ' +
  'network address; set TRUST_PROXY_HOPS to the number of proxies';

export async function startServer(house: House, config: Config, timeouts: Timeouts = TIMEOUTS): Promise<RunningServer> {
  const { shares, metrics } = house;
  // A missing Host is ours to refuse, in the documented form.
  const server = createServer({ ...serverOptions(timeouts), maxHeaderSize: HEAD_BYTES_MAX, requireHostHeader: false });
  const connections = shareConnections(server, shares, addressOfSocket, (closed) =>
    house.log.warn({ closed }, 'all connections are taken: some were closed'),
  );
  const unreadAnswers = boundUnreadAnswers(shares, timeouts);
  const playground = config.playground ? openPlayground() : undefined;
  const reference = openReference();
  const description = openDescription();
  const schema = createSchema();
  checkDoors(
    new Set(Object.keys(schema.getMutationType()?.getFields() ?? {})),
    new Set(ROUTES.map(({ operation }) => operation.name)),
  );
  const graphql = await openGraphqlDoor(schema, house, {
    introspection: config.introspection,
    suggestions: config.introspection && config.NODE_ENV !== 'production',
    persistedDocumentsFile: config.PERSISTED_DOCUMENTS === 'only' ? config.PERSISTED_DOCUMENTS_FILE : undefined,
    redisUrl: config.REDIS_URL,
    sendPlayground: playground?.send,
  });
  const rest = openRestDoor();
  const cors = { origins: config.CORS_ORIGINS, headers: config.CORS_HEADERS };
  const noticeProxy = proxyNotice(config.TRUST_PROXY_HOPS, (header) => house.log.warn({ header }, UNTRUSTED_PROXY));
  const draining = createDraining();
  const operator = openOperatorAddresses(house, config, () => draining.begun);

  async function dispatch(exchange: Exchange): Promise<void> {
    setSecurityHeaders(exchange);
    const isForOperator = operator.handles(exchange.path);
    const caller = isForOperator ? undefined : callerOf(exchange);
    await (isForOperator ? exchange.operatorTurn() : exchange.turn());
    const problem = problemWithHead(exchange.request);
    if (problem) {
      exchange.response.setHeader('Connection', 'close');
      throw problem;
    }
    if (answerCors(exchange, cors)) return;
    if (!caller) return operator.send(exchange);
    if (exchange.path === '/graphql') {
      exchange.route = `${exchange.method} /graphql`;
      return graphql.handle(exchange, caller);
    }
    const others = [playground, reference, description].find((one) => one?.handles(exchange.path));
    return others ? others.send(exchange) : rest.handle(exchange, caller);
  }

  /** Throws the refusal if this caller has as many requests under way as they may. */
  function callerOf(exchange: Exchange): Caller {
    const caller = new Caller(house, {
      requestId: exchange.requestId,
      address: exchange.address,
      holder: exchange.holder,
      bearer: bearerOf(exchange.header('authorization')),
      idempotencyKey: exchange.header('idempotency-key'),
    });
    const underWay = new RequestUnderWay(shares.requests, caller.holder);
    caller.underWay = underWay;
    exchange.response.once('close', () => underWay.end());
    return caller;
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const began = performance.now();
    noticeProxy(request);
    const address = believedAddress(request.socket.remoteAddress ?? '', forwardedFor(request), config.TRUST_PROXY_HOPS);
    const exchange = new Exchange(request, response, address, draining, shares);
    const logged = () => ({ requestId: exchange.requestId, route: exchange.route });
    unreadAnswers.follow(response, exchange.holder, () =>
      house.log.warn(logged(), 'the answer was not taken: its connection was cut'),
    );
    response.on('close', () => {
      const ms = performance.now() - began;
      metrics.observe(exchange.route, response.statusCode, ms / 1000);
      const line = {
        requestId: exchange.requestId,
        method: exchange.method,
        route: exchange.route,
        status: response.statusCode,
        ms: Math.round(ms * 10) / 10,
      };
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
  // One more than are taken says that there are too many; the others need not be read.
  server.maxHeadersCount = HEADERS_MAX + 1;
  server.on('request', connections.inOrder(answer));
  server.on('checkExpectation', connections.inOrder(answer));
  answerUnreadable(server, HEAD_BYTES_MAX, errorBody);
  await listen(server, { port: config.PORT, host: config.HOST, backlog: config.shares.connections.total });
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST === '0.0.0.0' ? 'localhost' : config.HOST}:${port}`,
    close: async () => {
      await draining.drain(server);
      await graphql.stop();
    },
  };
}

function addressOfSocket({ remoteAddress = '' }: Socket): string {
  return addressIdentity(remoteAddress);
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
