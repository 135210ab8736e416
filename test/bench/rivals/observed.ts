/**
 * The work that every server here does besides responding, like the product: a request ID, a log line, and a latency
 * histogram.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { createLog } from '../../../src/platform/telemetry/log.js';

const log = createLog('info');
const registry = new Registry();
collectDefaultMetrics({ register: registry });
const seconds = new Histogram({
  name: 'http_request_seconds',
  help: 'How long requests took, by route and status.',
  labelNames: ['route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [registry],
});

/** Call this as soon as a request arrives. `route` is called when the response is complete. */
export function observe(request: IncomingMessage, response: ServerResponse, route: () => string): void {
  const began = performance.now();
  const requestId = randomUUID();
  response.setHeader('X-Request-Id', requestId);
  response.on('close', () => {
    const ms = performance.now() - began;
    seconds.observe({ route: route(), status: String(response.statusCode) }, ms / 1000);
    log.info(
      { requestId, method: request.method, route: route(), status: response.statusCode, ms: Math.round(ms * 10) / 10 },
      'answered',
    );
  });
}

export const metrics = () => registry.metrics();

/** Tells the waiting bench that the server is up. SIGTERM ends the process normally, so Node can write its profile. */
export function listening(name: string, port: number): void {
  process.once('SIGTERM', () => process.exit());
  log.info({ name, port }, 'open');
}
