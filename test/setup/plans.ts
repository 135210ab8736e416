/**
 * Counts the plans that our executor creates and runs, and passes marked documents to graphql-js. A test can then
 * compare the two on one server. Use it with `vi.mock` to replace src/platform/graphql/executor/plan.ts.
 */
import type { planOf } from '../../src/platform/graphql/executor/plan.js';

/** Comments at the end of a document. They have equal lengths, because errors report where a document ends. */
export const BY_GRAPHQL_JS = '# by graphql-js';
export const BY_A_PLAN = '# by a plan    ';

/** How often each document's plan was run, and how often one was created. */
export const planned = { runs: new Map<string, number>(), made: new Map<string, number>() };

export function observed(original: { planOf: typeof planOf }): { planOf: typeof planOf } {
  return {
    ...original,
    planOf: (schema, document, operation) => {
      const text = document.loc?.source.body ?? '';
      if (text.endsWith(BY_GRAPHQL_JS)) return undefined;
      count(planned.made, text);
      const plan = original.planOf(schema, document, operation);
      return (
        plan &&
        ((...call) => {
          const result = plan(...call);
          if (result) count(planned.runs, text);
          return result;
        })
      );
    },
  };
}

function count(counts: Map<string, number>, text: string): void {
  counts.set(text, (counts.get(text) ?? 0) + 1);
}
