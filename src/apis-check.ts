/**
 * Before the server accepts connections: the lifecycle is consistent, and each of its operations can be called through
 * both APIs.
 */
import { checkLifecycle } from './rules/lifecycle-check.js';
import { BID_TRANSITION_LIST } from './rules/bids.js';
import { JOB_ACTION_LIST, JOB_CREATION } from './rules/lifecycle.js';

export function checkApis(mutations: ReadonlySet<string>, routed: ReadonlySet<string>): void {
  checkLifecycle();
  const operations = [JOB_CREATION, ...JOB_ACTION_LIST, ...BID_TRANSITION_LIST].map(({ operation }) => operation);
  const missing = [
    ...operations.filter((name) => !mutations.has(name)).map((name) => `${name} has no mutation`),
    ...operations.filter((name) => !routed.has(name)).map((name) => `${name} has no route`),
  ];
  if (missing.length > 0)
    throw new Error(`These operations cannot be called through both APIs: ${missing.join('; ')}.`);
}
