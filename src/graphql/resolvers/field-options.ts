/** The description of a root field: that of its operation and, for an operation on a job, its effects. */
import type { Operation } from '../../platform/call/operation.js';
import { audienceOf, refusalCodesOf } from '../../market/operations/refusals.js';
import { sentenceOf } from '../../market/rules/jobs/effects.js';
import { JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';

export function queryOptions({ name, description }: Pick<Operation<unknown, unknown>, 'name' | 'description'>) {
  const row = JOB_ACTION_LIST.find(({ operation }) => operation === name);
  return { name, description: description + sentenceOf(row?.effects ?? []) };
}

/**
 * Null where the mutation is refused: if it were non-null, a refusal would remove the answers of mutations that were
 * done before it.
 */
export function mutationOptions(operation: Operation<unknown, unknown>) {
  const { name, description } = queryOptions(operation);
  const codes = refusalCodesOf(operation).map((code) => `\`${code}\``);
  return {
    name,
    nullable: true,
    description: `${description}\n\nFor ${audienceOf(operation)}. Codes: ${codes.join(', ')}.`,
  };
}
