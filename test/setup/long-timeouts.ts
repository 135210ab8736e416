/**
 * On a busy machine, statements may wait long for a lock that the test holds, or for each other, and the event loop may
 * stall for seconds. They must not give up meanwhile.
 */
export const LONG_TIMEOUTS = {
  queueTimeoutMs: 250_000,
  statementTimeoutMs: 250_000,
  lockTimeoutMs: 250_000,
  idleInTransactionTimeoutMs: 250_000,
} as const;
