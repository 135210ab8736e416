/** What operators see of the event log. */
export interface LiveMetrics {
  /** A batch got its positions; the oldest event in it had waited so long. */
  numbered(events: number, lagSeconds: number): void;
  /** So many events waited for a position when somebody looked. */
  waiting(events: number): void;
  /** A batch was read for the streams of this instance. */
  batchRead(events: number): void;
}
