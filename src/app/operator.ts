/** The paths for operators: liveness, readiness, and metrics. */
import type { Config } from './config.js';
import { bearerOf, type Exchange } from '../platform/http/exchange.js';
import { isLocal } from '../platform/http/local.js';
import type { Services } from '../market/operations/services.js';
import { refuse } from '../market/rules/errors.js';
import { isSecret } from '../platform/security/secrets.js';
import { FULL, UNREACHABLE, unreadinessOf } from '../platform/db/readiness.js';
import { BUSY_AFTER_REFUSAL_MS } from '../platform/service-limits.js';
import { VERSION } from '../platform/version.js';

export interface OperatorAddresses {
  handles(path: string): boolean;
  send(exchange: Exchange): Promise<void>;
  /** True for a successful probe. Probes would fill the log. */
  isRoutine(path: string, status: number): boolean;
}

const PROBED = new Set(['/healthz', '/readyz', '/metrics']);

/** The index of the server's paths. Leaves out the playground if it's off. */
function guide({ playground }: Config) {
  return {
    graphql: '/graphql',
    ...(playground && { playground: '/graphql' }),
    rest: '/v1',
    rest_reference: '/v1/docs',
    openapi: '/v1/openapi.json',
    lifecycle: '/lifecycle',
    health: '/healthz',
    readiness: '/readyz',
  };
}

const UNREADY = { database_away: UNREACHABLE, database_read_only: 'the database is read-only' } as const;

export function openOperatorAddresses(
  { probe, databaseWatch, metrics, log }: Services,
  config: Config,
  isDraining: () => boolean,
): OperatorAddresses {
  let last = 'ready';
  let checking: Promise<string> | undefined;

  async function readiness(): Promise<string> {
    await databaseWatch.poll();
    if (databaseWatch.problem) return UNREADY[databaseWatch.problem.overloadCause];
    const reason = await unreadinessOf(probe);
    return reason === undefined || reason === FULL ? 'ready' : reason;
  }

  function note(status: string): string {
    if (status !== last && status === 'ready') log.info('this server is ready again');
    else if (status !== last) log.warn({ reason: status }, 'this server is not ready');
    last = status;
    return status;
  }

  /** Concurrent requests share one check, because anyone can send them. */
  function checkReadiness(): Promise<string> {
    return (checking ??= readiness()
      .then(note)
      .finally(() => (checking = undefined)));
  }

  const addresses: Readonly<Record<string, (exchange: Exchange) => void | Promise<void>>> = {
    '/': (exchange) => exchange.sendJson(200, guide(config)),
    '/healthz': (exchange) => exchange.sendJson(200, { status: 'ok', version: VERSION }),
    '/readyz': async (exchange) => {
      const status = isDraining() ? 'draining' : await checkReadiness();
      exchange.sendJson(status === 'ready' ? 200 : 503, {
        status,
        busy: metrics.msSinceBusy() < BUSY_AFTER_REFUSAL_MS,
      });
    },
    '/metrics': async (exchange) => {
      assertMayReadMetrics(exchange, config);
      exchange.send(200, metrics.contentType, await metrics.print());
    },
  };
  return {
    isRoutine: (path, status) => PROBED.has(path) && status < 400,
    handles: (path) => Object.hasOwn(addresses, path),
    send: async (exchange) => {
      exchange.route = `GET ${exchange.path}`;
      if (exchange.method !== 'GET' && exchange.method !== 'HEAD')
        throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: ['GET', 'HEAD'] } });
      await addresses[exchange.path]?.(exchange);
    },
  };
}

/**
 * In production, or if METRICS_TOKEN is set, even local requests need the token. A local proxy may forward anyone's
 * requests without saying so.
 */
function assertMayReadMetrics(exchange: Exchange, { METRICS_TOKEN: token, NODE_ENV }: Config): void {
  if (token !== undefined) {
    if (isSecret(bearerOf(exchange.header('authorization')), token)) return;
    throw refuse('FORBIDDEN', { message: 'Send METRICS_TOKEN as a bearer token to read the metrics.' });
  }
  if (NODE_ENV === 'production')
    throw refuse('FORBIDDEN', { message: 'This server doesn’t serve metrics because METRICS_TOKEN isn’t set.' });
  if (!isLocal(exchange))
    throw refuse('FORBIDDEN', { message: 'Only this machine can read the metrics because METRICS_TOKEN isn’t set.' });
}
