/** What an operator sees at a glance, for Prometheus. Labels are routes and codes, never ids or people. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { House } from './operations/house.js';

export interface Metrics {
  observe(route: string, status: number, seconds: number): void;
  print(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(house: Pick<House, 'db' | 'rateLimits'>, doorWaitMs: () => number): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_seconds',
    help: 'How long requests took, by route and status.',
    labelNames: ['route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const refused = new Counter({ name: 'http_server_errors_total', help: 'Answers of 500 and above.', labelNames: ['route'], registers: [registry] });
  gauge(registry, 'database_connections_busy', 'Connections at work.', () => house.db.gate.active);
  gauge(registry, 'database_queue_length', 'Calls that wait for a connection.', () => house.db.gate.queued);
  gauge(registry, 'door_wait_seconds', 'How long newcomers have to wait at the door; beyond two seconds everybody is turned away with 503.', () => doorWaitMs() / 1000);
  gauge(registry, 'rate_limits_in_redis', '1 while rates are counted in Redis, 0 while in memory.', () => (house.rateLimits.storeInUse() === 'redis' ? 1 : 0));

  return {
    observe(route, status, seconds) {
      requests.observe({ route, status: String(status) }, seconds);
      if (status >= 500) refused.inc({ route });
    },
    print: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  const made: Gauge = new Gauge({ name, help, registers: [registry], collect: (): void => made.set(read()) });
}
