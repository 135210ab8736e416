/** A root field's description: the operation's own and, for operations on jobs, their effects. */
import type { Operation } from '../../platform/call/operation.js';
import { audienceOf, refusalCodesOf } from '../../market/operations/documented-refusals.js';
import { sentenceOf } from '../../market/rules/jobs/effects.js';
import { JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';

export function queryOptions({ name, description }: Pick<Operation<unknown, unknown>, 'name' | 'description'>) {
  const row = JOB_ACTION_LIST.find(({ operation }) => operation === name);
  return { name, description: description + sentenceOf(row?.effects ?? []) };
}

/** If this field were non-null, a refused mutation would also lose the results of earlier ones. */
export function mutationOptions(operation: Operation<unknown, unknown>) {
  const { name, description } = queryOptions(operation);
  const codes = refusalCodesOf(operation).map((code) => `\`${code}\``);
  return {
    name,
    nullable: true,
    description: `${description}\n\nAvailable to ${audienceOf(operation)}. Error codes: ${codes.join(', ')}.`,
  };
}
