/** The description of a root field: the operation's description and, for an operation on a job, its effects. */
import type { Operation } from '../../platform/call/operation.js';
import { audienceOf, refusalCodesOf } from '../../market/operations/refusals.js';
import { sentenceOf } from '../../market/rules/jobs/effects.js';
import { JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';

export function queryOptions({ name, description }: Pick<Operation<unknown, unknown>, 'name' | 'description'>) {
  const row = JOB_ACTION_LIST.find(({ operation }) => operation === name);
  return { name, description: description + sentenceOf(row?.effects ?? []) };
}

/**
 * The options of a mutation. A mutation's field is nullable, and a refused mutation returns null. If the field were
 * non-null, a refusal would also remove the results of the mutations before it.
 */
export function mutationOptions(operation: Operation<unknown, unknown>) {
  const { name, description } = queryOptions(operation);
  const codes = refusalCodesOf(operation).map((code) => `\`${code}\``);
  return {
    name,
    nullable: true,
    description: `${description}\n\nFor ${audienceOf(operation)}. Error codes: ${codes.join(', ')}.`,
  };
}
