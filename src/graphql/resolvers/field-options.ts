/** The description of a root field: the operation's description and, for an operation on a job, its effects. */
import type { Operation } from '../../platform/call/operation.js';
import { audienceOf, refusalCodesOf } from '../../market/operations/documented-refusals.js';
import { sentenceOf } from '../../market/rules/jobs/effects.js';
import { JOB_ACTION_LIST } from '../../market/rules/lifecycle.js';

export function queryOptions({ name, description }: Pick<Operation<unknown, unknown>, 'name' | 'description'>) {
  const row = JOB_ACTION_LIST.find(({ operation }) => operation === name);
  return { name, description: description + sentenceOf(row?.effects ?? []) };
}

/** If a refused mutation's field were non-null, the results of the mutations before it would be lost too. */
export function mutationOptions(operation: Operation<unknown, unknown>) {
  const { name, description } = queryOptions(operation);
  const codes = refusalCodesOf(operation).map((code) => `\`${code}\``);
  return {
    name,
    nullable: true,
    description: `${description}\n\nAvailable to ${audienceOf(operation)}. Error codes: ${codes.join(', ')}.`,
  };
}
