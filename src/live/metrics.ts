/** What operators see of the event log. */
export interface LiveMetrics {
  /** A batch of events got positions; `lagSeconds` is how long the oldest of them had waited. */
  recordNumbering(events: number, lagSeconds: number): void;
  /** How many events waited for a position at the last look. */
  recordWaiting(events: number): void;
  /** A batch was read for the streams of this instance. */
  recordBatch(events: number): void;
}
