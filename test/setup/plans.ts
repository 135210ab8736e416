/**
 * Sees what our executor runs by a plan, and keeps from it what is marked for graphql-js, so that the answers of the
 * two can be compared on one server. To be put in place of src/platform/graphql/executor/plan.ts by `vi.mock`.
 */
import type { planOf } from '../../src/platform/graphql/executor/plan.js';

/** As comments at the end of a document. As long as each other: where a document ends is told by its errors. */
export const BY_GRAPHQL_JS = '# by graphql-js';
export const BY_A_PLAN = '# by a plan    ';

/** By the document: how often a plan of it ran, and how many plans were made of it. */
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
