/**
 * The one HTTP server: both doors, health, metrics. It closes by draining: what was begun is finished, nothing new is
 * begun, and after ten seconds whoever is left is cut.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from './config.js';
import { openGraphqlDoor, sendRefusal } from './graphql/door.js';
import { createSchema } from './graphql/schema.js';
import { bearerOf, Exchange } from './http/exchange.js';
import { answerCors, setSecurityHeaders } from './http/policy.js';
import { createMetrics } from './metrics.js';
import { Caller } from './operations/caller.js';
import type { House } from './operations/house.js';
import { refuse, Refusal } from './rules/errors.js';
import { openRestDoor, sendFailure } from './rest/adapter.js';
import { believedAddress } from './security/address.js';
import { isReady } from './store/readiness.js';

const DRAIN_MS = 10_000;

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  /** Finishes what was begun and stops. */
  close(): Promise<void>;
}

export async function startServer(house: House, config: Config): Promise<RunningServer> {
  const graphql = await openGraphqlDoor(createSchema(), house, {
    introspection: config.introspection,
    sendPlayground: undefined,
  });
  const rest = openRestDoor();
  const metrics = createMetrics(house);
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
      default:
        return rest.handle(exchange, caller);
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
    if (draining) response.setHeader('Connection', 'close');
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

/** Idle connections are closed at once, busy ones after their answer, and what is left after the time is up. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
    // A connection whose last answer began before the drain turns idle without saying so.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
  });
}
