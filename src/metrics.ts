/** What an operator sees at a glance, for Prometheus. Labels are routes, codes and shares, never ids or people. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ShareEvents } from './shares/share.js';

export interface Metrics extends ShareEvents {
  observe(route: string, status: number, seconds: number): void;
  /** A value that is read whenever somebody asks for it; with a label, one for each of its values. */
  gauge(name: string, help: string, read: () => number): void;
  gauges(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void;
  /** How many milliseconds ago a call was last refused because the whole server was beyond capacity. */
  msSinceBusy(): number;
  print(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Histogram({
    name: 'http_request_seconds',
    help: 'How long requests took, by route and status.',
    labelNames: ['route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const serverErrors = new Counter({
    name: 'http_server_errors_total',
    help: 'Answers of 500 and above.',
    labelNames: ['route'],
    registers,
  });
  const refusals = new Counter({
    name: 'share_refusals_total',
    help: 'Calls refused and connections closed because a share was used up, by share and by whose it was: of a user, an address or the whole server.',
    labelNames: ['share', 'bound'],
    registers,
  });
  const waits = new Histogram({
    name: 'queue_wait_seconds',
    help: 'How long calls waited in a queue, those refused included; calls that did not have to wait are left out.',
    labelNames: ['queue'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  let busyAtMs = -Infinity;

  return {
    observe(route, status, seconds) {
      requests.observe({ route, status: String(status) }, seconds);
      if (status >= 500) serverErrors.inc({ route });
    },
    refused(share, bound) {
      refusals.inc({ share, bound });
      if (bound === 'server') busyAtMs = performance.now();
    },
    waited: (queue, seconds) => waits.observe({ queue }, seconds),
    gauge(name, help, read) {
      const made: Gauge = new Gauge({ name, help, registers, collect: (): void => made.set(read()) });
    },
    gauges(name, help, label, read) {
      const collect = (): void => {
        for (const [value, number] of Object.entries(read())) made.set({ [label]: value }, number);
      };
      const made: Gauge = new Gauge({ name, help, labelNames: [label], registers, collect });
    },
    msSinceBusy: () => performance.now() - busyAtMs,
    print: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
