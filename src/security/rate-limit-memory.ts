/**
 * Counts calls in the memory of this process. The count is exact, since no other code runs between looking and
 * counting, and its memory has a bound.
 *
 * A budget keeps at most so many identities, and drops the stalest first. An attacker with enough fresh identities
 * within one window (addresses, or invented emails) could push out their own count. They would gain a new budget for
 * one identity at the price of tens of thousands of others, each of which had a budget already; and a flood in one
 * budget drops nothing of another. Memory is bounded by the traffic too: one number for each counted call.
 */
import { createHash } from 'node:crypto';
import type { Mark, RateBudget, RateStore, BudgetState } from './rate-limit-store.js';
import { RATE_COUNTS } from '../rules/limits.js';

export interface MemorySettings {
  readonly identitiesMax?: number | undefined;
  /** Milliseconds on a clock that never steps back. */
  readonly now?: (() => number) | undefined;
}

export interface MemoryStore extends RateStore {
  count(budget: RateBudget, key: string): BudgetState;
  look(budget: RateBudget, key: string): BudgetState;
  uncount(budget: RateBudget, key: string, mark: Mark | undefined): void;
  /** Frees what has left its window; runs every second by itself. */
  sweep(): void;
  identities(): number;
  close(): void;
}

/** The counted calls of each identity, oldest first; the identities are in the order of their latest counted call. */
type CallsByIdentity = Map<string, number[]>;

export function createMemoryStore({
  identitiesMax = RATE_COUNTS.identitiesMax,
  now = () => performance.now(),
}: MemorySettings = {}): MemoryStore {
  // Budgets are the program's own, so there are few of them. Each has a map, since two may count the same key.
  const budgets = new Map<string, { readonly windowMs: number; readonly calls: CallsByIdentity }>();
  const sweeping = setInterval(sweep, RATE_COUNTS.sweepEveryMs).unref();

  function callsOf({ name, windowSeconds }: RateBudget): CallsByIdentity {
    const label = `${windowSeconds} ${name}`;
    let budget = budgets.get(label);
    if (!budget) budgets.set(label, (budget = { windowMs: windowSeconds * 1000, calls: new Map() }));
    return budget.calls;
  }

  function count(budget: RateBudget, key: string): BudgetState {
    const calls = callsOf(budget);
    const nowMs = now();
    const windowMs = budget.windowSeconds * 1000;
    // Removes two identities for each new one, so that idle ones go faster than new ones come.
    forgetIdle(calls, nowMs - windowMs, 2);
    const identity = shortKey(key);
    const times = calls.get(identity) ?? [];
    dropUntil(times, nowMs - windowMs);
    const earlier = times.length;
    if (earlier >= budget.max) return { earlier, freesInMs: freesIn(times, budget, nowMs), mark: undefined };
    times.push(nowMs);
    calls.delete(identity);
    if (calls.size >= identitiesMax) forgetStalest(calls);
    calls.set(identity, times);
    return { earlier, freesInMs: freesIn(times, budget, nowMs), mark: nowMs };
  }

  function look(budget: RateBudget, key: string): BudgetState {
    const nowMs = now();
    const times = (callsOf(budget).get(shortKey(key)) ?? []).filter(
      (time) => time > nowMs - budget.windowSeconds * 1000,
    );
    return { earlier: times.length, freesInMs: freesIn(times, budget, nowMs), mark: undefined };
  }

  function uncount(budget: RateBudget, key: string, mark: Mark | undefined): void {
    const calls = callsOf(budget);
    const identity = shortKey(key);
    const times = calls.get(identity) ?? [];
    const at = typeof mark === 'number' ? times.lastIndexOf(mark) : times.length - 1;
    if (at >= 0) times.splice(at, 1);
    if (times.length === 0) calls.delete(identity);
  }

  function sweep(): void {
    const nowMs = now();
    for (const { windowMs, calls } of budgets.values()) forgetIdle(calls, nowMs - windowMs, RATE_COUNTS.sweepMax);
  }

  return {
    count,
    look,
    uncount,
    sweep,
    identities: () => [...budgets.values()].reduce((sum, { calls }) => sum + calls.size, 0),
    close: () => clearInterval(sweeping),
  };
}

/**
 * Keys may contain a caller's text. A long key is kept as its hash, which is longer than any key that is kept unhashed.
 */
function shortKey(key: string): string {
  return key.length <= RATE_COUNTS.keyCharactersMax ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

function dropUntil(times: number[], horizonMs: number): void {
  const firstInWindow = times.findIndex((time) => time > horizonMs);
  if (firstInWindow !== 0) times.splice(0, firstInWindow === -1 ? times.length : firstInWindow);
}

/** If the limit was lowered since, several calls must leave the window before there is room again. */
function freesIn(times: readonly number[], budget: RateBudget, nowMs: number): number {
  const time = times[Math.max(0, times.length - budget.max)];
  return time === undefined ? 0 : time + budget.windowSeconds * 1000 - nowMs;
}

function forgetIdle(calls: CallsByIdentity, horizonMs: number, max: number): void {
  let removedCount = 0;
  for (const [identity, times] of calls) {
    if (removedCount === max || (times.at(-1) ?? 0) > horizonMs) return;
    calls.delete(identity);
    removedCount += 1;
  }
}

function forgetStalest(calls: CallsByIdentity): void {
  for (const identity of calls.keys()) {
    calls.delete(identity);
    return;
  }
}
