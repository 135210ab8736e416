/** The metrics for Prometheus. Labels are routes, codes, and quotas, never IDs or people. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Api, RequestRecord } from './record.js';
import { OVERLOAD_CAUSES, type OverloadCause } from '../errors.js';
import { QUOTAS } from '../caller-limits.js';
import { BOUNDS, type QuotaEvents } from '../quotas/quota.js';

export interface Metrics extends QuotaEvents {
  /** Records a batch of events that got positions. `lagSeconds` is the oldest event's wait. */
  recordNumbering(events: number, lagSeconds: number): void;
  /** Records how many events had no position at the last check. */
  recordWaiting(events: number): void;
  /** Records that the server received its own notification through the database. */
  recordHeartbeat(): void;
  /** Records a batch that was read for this server's streams. */
  recordBatch(events: number): void;
  /** Records the end of a request. On an operator's path such as /readyz, a 503 isn't an error. */
  observe(route: string, status: number, seconds: number, isForOperator?: boolean): void;
  /** Records that an operation finished, on its own or as part of a request. */
  recordOperation(operation: string, api: Api | undefined, code: string, seconds: number): void;
  /** Records a request's error codes, and its duration if it didn't reach an operation. */
  recordAnswer(record: RequestRecord, seconds: number): void;
  recordStreamStart(channel: string): void;
  recordStreamEvent(channel: string): void;
  recordStreamEnd(channel: string, end: string): void;
  statement(name: string, seconds: number): void;
  recordDatabaseFailure(overloadCause: OverloadCause, sqlstate: string | undefined): void;
  recordRetry(code: string): void;
  recordRateLimit(budget: string): void;
  /**
   * Adds a counter with one label, and starts each of its values at 0. Returns a function that increments the counter
   * by the given number, or by 1.
   */
  counter(name: string, help: string, label: string, values: readonly string[]): (value: string, by?: number) => void;
  /** Adds a histogram of seconds with one label. Returns a function that records a duration. */
  histogram(name: string, help: string, label: string): (value: string, seconds: number) => void;
  /** Adds a gauge that is read at each scrape. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** Adds a gauge with a label. `read` returns a number for each of the label's values. */
  gauges(name: string, help: string, label: string, read: () => Figures | Promise<Figures>): void;
  /** Adds a gauge that is always 1, with a fact in its labels. */
  fact(name: string, help: string, labels: Readonly<Record<string, string>>): void;
  /** Returns the milliseconds since a call was rejected for lack of capacity. */
  msSinceBusy(): number;
  print(): Promise<string>;
  readonly contentType: string;
}

interface MetricsOptions {
  readonly budgets: readonly string[];
  readonly streamEnds: readonly string[];
}

type Figures = Readonly<Record<string, number>>;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** prom-client names these gauges like counters. Each only repeats the sum of another gauge, so it's removed. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Starts these counters at 0. An alert on a rate needs an earlier value, and would miss the first failure. */
const FAILURES = [
  ['database_full', '53100'],
  ['database_full', '53200'],
  ['database_full', '53300'],
] as const;

/** The label for a request that was rejected before it reached an operation. */
const NO_OPERATION = 'none';

export function createMetrics({ budgets, streamEnds }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const registers = [registry];
  const requests = new Histogram({
    name: 'http_request_seconds',
    help: 'How long requests took, by route and status.',
    labelNames: ['route', 'status'],
    buckets: SECONDS,
    registers,
  });
  const serverErrors = new Counter({
    name: 'http_server_errors_total',
    help: 'Responses with a status of 500 or higher, except from the operator’s own paths.',
    labelNames: ['route'],
    registers,
  });
  const refusals = new Counter({
    name: 'quota_refusals_total',
    help:
      'Calls rejected and connections closed because a quota was used up, by quota and by whose quota it was: a ' +
      'user’s, an address’s, or the whole server’s.',
    labelNames: ['quota', 'bound'],
    registers,
  });
  for (const quota of Object.keys(QUOTAS)) for (const bound of BOUNDS) refusals.inc({ quota, bound }, 0);
  const waits = new Histogram({
    name: 'queue_wait_seconds',
    help: 'How long calls waited in a queue, including rejected ones. Calls that did not have to wait are not counted.',
    labelNames: ['queue'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  const operations = new Histogram({
    name: 'operation_seconds',
    help:
      'How long operations took, by name (the GraphQL name, for both APIs), API, and code: OK or an error code. ' +
      '"none" counts requests that were rejected before they reached an operation.',
    labelNames: ['operation', 'api', 'code'],
    buckets: SECONDS,
    registers,
  });
  const errors = new Counter({
    name: 'request_errors_total',
    help: 'Requests that returned an error, by API and error code. A GraphQL request counts once for each code.',
    labelNames: ['api', 'code'],
    registers,
  });
  for (const api of ['graphql', 'rest'] as const) errors.inc({ api, code: 'INTERNAL' }, 0);
  const overloads = new Counter({
    name: 'overloads_total',
    help: `Requests that failed with OVERLOADED, by cause: ${OVERLOAD_CAUSES.join(', ')}.`,
    labelNames: ['cause'],
    registers,
  });
  for (const cause of OVERLOAD_CAUSES) overloads.inc({ cause }, 0);
  const streams = new Gauge({
    name: 'streams_open',
    help: 'Open subscriptions, by channel: websocket or sse.',
    labelNames: ['channel'],
    registers,
  });
  const streamAnswers = new Counter({
    name: 'stream_events_sent_total',
    help: 'Events sent on streams, by channel.',
    labelNames: ['channel'],
    registers,
  });
  const endedStreams = new Counter({
    name: 'streams_ended_total',
    help: `Streams that ended, by channel and reason: ${streamEnds.join(', ')}.`,
    labelNames: ['channel', 'end'],
    registers,
  });
  const statements = new Histogram({
    name: 'database_statement_seconds',
    help: 'How long SQL statements took, by the name in their comment.',
    labelNames: ['statement'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 5, 10],
    registers,
  });
  const failures = new Counter({
    name: 'database_failures_total',
    help:
      'Calls that the database could not serve, by cause (database_away, database_read_only, database_slow, or ' +
      'database_full) and SQLSTATE ("none" if the connection failed).',
    labelNames: ['cause', 'sqlstate'],
    registers,
  });
  for (const [cause, sqlstate] of FAILURES) failures.inc({ cause, sqlstate }, 0);
  const retries = new Counter({
    name: 'database_retries_total',
    help: 'Transactions retried because of a deadlock (40P01) or a serialization failure (40001).',
    labelNames: ['code'],
    registers,
  });
  const rateLimited = new Counter({
    name: 'rate_limited_total',
    help: 'Calls that failed with RATE_LIMITED, by rate limit.',
    labelNames: ['limit'],
    registers,
  });
  for (const limit of budgets) rateLimited.inc({ limit }, 0);
  const numberedEvents = new Counter({
    name: 'events_numbered_total',
    help: 'Events that this instance assigned a position.',
    registers,
  });
  const numberingLag = new Histogram({
    name: 'event_position_lag_seconds',
    help: 'How long the oldest event in each batch waited for a position.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
    registers,
  });
  const waitingEvents = new Gauge({
    name: 'events_waiting',
    help: 'Events that were waiting for a position when this instance last checked. At most 10,000 are counted.',
    registers,
  });
  const lastCheck = new Gauge({
    name: 'events_last_check_timestamp_seconds',
    help: 'When this instance last checked for events successfully.',
    registers,
  });
  const lastHeartbeat = new Gauge({
    name: 'notifications_last_heard_timestamp_seconds',
    help: 'When this instance last received the notification that it sends itself through the database every second.',
    registers,
  });
  const batches = new Histogram({
    name: 'event_batch_events',
    help: 'How many events were in each batch that this instance read for its streams.',
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
    registers,
  });
  let busyAtMs = -Infinity;

  return {
    observe(route, status, seconds, isForOperator = false) {
      requests.observe({ route, status: String(status) }, seconds);
      if (status >= 500 && !isForOperator) serverErrors.inc({ route });
    },
    refused(quota, bound) {
      refusals.inc({ quota, bound });
      if (bound === 'server') busyAtMs = performance.now();
    },
    waited: (queue, seconds) => waits.observe({ queue }, seconds),
    recordOperation: (operation, api, code, seconds) =>
      operations.observe({ operation, api: api ?? NO_OPERATION, code }, seconds),
    recordAnswer({ api, operations: operationNames, codes, overload }, seconds) {
      // An overloaded server also rejects requests for pages.
      if (codes.has('OVERLOADED')) overloads.inc({ cause: overload ?? 'beyond_capacity' });
      if (!api) return;
      const [code = 'OK'] = codes;
      if (operationNames.size === 0) operations.observe({ operation: NO_OPERATION, api, code }, seconds);
      for (const errorCode of codes) errors.inc({ api, code: errorCode });
    },
    recordStreamStart: (channel) => streams.inc({ channel }),
    recordStreamEvent: (channel) => streamAnswers.inc({ channel }),
    recordStreamEnd: (channel, end) => {
      streams.dec({ channel });
      endedStreams.inc({ channel, end });
    },
    statement: (name, seconds) => statements.observe({ statement: name }, seconds),
    recordDatabaseFailure: (cause, sqlstate = 'none') => failures.inc({ cause, sqlstate }),
    recordRetry: (code) => retries.inc({ code }),
    recordRateLimit: (limit) => rateLimited.inc({ limit }),
    recordNumbering: (events, lagSeconds) => {
      numberedEvents.inc(events);
      numberingLag.observe(lagSeconds);
    },
    recordWaiting(events) {
      waitingEvents.set(events);
      lastCheck.setToCurrentTime();
    },
    recordHeartbeat: () => lastHeartbeat.setToCurrentTime(),
    recordBatch: (events) => batches.observe(events),
    counter(name, help, label, values) {
      const newCounter = new Counter({ name, help, labelNames: [label], registers });
      for (const value of values) newCounter.inc({ [label]: value }, 0);
      return (value, by = 1) => newCounter.inc({ [label]: value }, by);
    },
    histogram(name, help, label) {
      const newHistogram = new Histogram({ name, help, labelNames: [label], buckets: SECONDS, registers });
      return (value, seconds) => newHistogram.observe({ [label]: value }, seconds);
    },
    gauge(name, help, read) {
      const collect = async (): Promise<void> => newGauge.set(await read());
      const newGauge: Gauge = new Gauge({ name, help, registers, collect });
    },
    fact(name, help, labels) {
      new Gauge({ name, help, labelNames: Object.keys(labels), registers }).set(labels, 1);
    },
    gauges(name, help, label, read) {
      const collect = async (): Promise<void> => {
        for (const [value, number] of Object.entries(await read())) newGauge.set({ [label]: value }, number);
      };
      const newGauge: Gauge = new Gauge({ name, help, labelNames: [label], registers, collect });
    },
    msSinceBusy: () => performance.now() - busyAtMs,
    print: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
