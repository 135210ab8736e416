/**
 * The one HTTP server: both doors, health, metrics. It closes by draining: what was begun is finished, nothing new is
 * begun, and after ten seconds whoever is left is cut.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as SocketServer, type AddressInfo } from 'node:net';
import type { Config } from './config.js';
import { openGraphqlDoor, sendRefusal } from './graphql/door.js';
import { openPlayground } from './graphql/playground.js';
import { createSchema } from './graphql/schema.js';
import { bearerOf, Exchange } from './http/exchange.js';
import { answerCors, setSecurityHeaders } from './http/policy.js';
import { createMetrics } from './metrics.js';
import { Caller } from './operations/caller.js';
import type { House } from './operations/house.js';
import { refuse, Refusal } from './rules/errors.js';
import { openRestDoor, sendFailure } from './rest/adapter.js';
import { openReference } from './rest/reference.js';
import { believedAddress } from './security/address.js';
import { isReady } from './store/readiness.js';

const DRAIN_MS = 10_000;

/** A connection that looks idle may have a request on its way to us. */
const LINGER_MS = 250;

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Finishes what was begun and stops. */
  close(): Promise<void>;
}

export async function startServer(house: House, config: Config): Promise<RunningServer> {
  const playground = config.playground ? openPlayground() : undefined;
  const reference = openReference();
  const graphql = await openGraphqlDoor(createSchema(), house, {
    introspection: config.introspection,
    sendPlayground: playground?.send,
  });
  const rest = openRestDoor();
  const metrics = createMetrics(house);
  const unanswered = new Set<ServerResponse>();
  let draining = false;

  async function dispatch(exchange: Exchange): Promise<void> {
    setSecurityHeaders(exchange);
    if (answerCors(exchange, config.CORS_ORIGINS)) return;
    const caller = new Caller(house, { requestId: exchange.requestId, address: exchange.address, bearer: bearerOf(exchange.header('authorization')) });
    switch (exchange.path) {
      case '/graphql':
        exchange.route = `${exchange.method} /graphql`;
        return graphql.handle(exchange, caller);
      case '/healthz':
        exchange.route = 'GET /healthz';
        return exchange.sendJson(200, { status: 'ok' });
      case '/readyz':
        exchange.route = 'GET /readyz';
        return answerReadiness(exchange);
      case '/metrics':
        exchange.route = 'GET /metrics';
        return answerMetrics(exchange);
      case '/':
        exchange.route = 'GET /';
        return exchange.sendJson(200, { playground: '/graphql', rest_reference: '/v1/docs', openapi: '/v1/openapi.json', health: '/healthz' });
      default: {
        const pages = [playground, reference].find((one) => one?.handles(exchange.path));
        return pages ? pages.send(exchange) : rest.handle(exchange, caller);
      }
    }
  }

  async function answerReadiness(exchange: Exchange): Promise<void> {
    const ready = !draining && (await isReady(house.db));
    exchange.sendJson(ready ? 200 : 503, { status: ready ? 'ready' : draining ? 'draining' : 'the database is not reachable or not migrated' });
  }

  async function answerMetrics(exchange: Exchange): Promise<void> {
    const bearer = bearerOf(exchange.header('authorization'));
    const local = /^(127\.|::1$|::ffff:127\.)/.test(exchange.request.socket.remoteAddress ?? '') && exchange.header('x-forwarded-for') === undefined;
    const known = config.METRICS_TOKEN !== undefined && bearer === config.METRICS_TOKEN;
    if (!local && !known) return sendFailure(exchange, refuse('FORBIDDEN', { message: 'Metrics are for this machine and for bearers of METRICS_TOKEN.' }), { house });
    exchange.send(200, metrics.contentType, await metrics.print());
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const began = performance.now();
    const address = believedAddress(request.socket.remoteAddress ?? '', forwardedFor(request), config.TRUST_PROXY_HOPS);
    const exchange = new Exchange(request, response, address);
    if (draining) lastOnItsConnection(response);
    unanswered.add(response);
    response.on('close', () => {
      unanswered.delete(response);
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

  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    answer,
  );
  server.maxRequestsPerSocket = 0;
  await listen(server, config.PORT, config.HOST);
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST === '0.0.0.0' ? 'localhost' : config.HOST}:${port}`,
    close: async () => {
      draining = true;
      for (const response of unanswered) lastOnItsConnection(response);
      await drain(server);
      await graphql.stop();
    },
  };
}

function forwardedFor(request: IncomingMessage): string | undefined {
  const header = request.headers['x-forwarded-for'];
  return Array.isArray(header) ? header.join(',') : header;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function lastOnItsConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/**
 * Nobody new is let in at once, busy connections are closed after their answer, idle ones when they have stayed so for a moment, and whatever is
 * left when the time is up.
 */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    let sweep: NodeJS.Timeout | undefined;
    const linger = setTimeout(() => {
      sweep = setInterval(() => server.closeIdleConnections(), 50);
    }, LINGER_MS);
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    // The close() of an HTTP server itself would cut the idle connections there and then.
    SocketServer.prototype.close.call(server, () => {
      for (const timer of [linger, sweep, cut]) clearTimeout(timer);
      resolve();
    });
  });
}
