/** A root field is described by its operation and, where that is one on a job, by its effects. */
import type { Operation } from '../../operations/operation.js';
import { sentenceOf } from '../../rules/effects.js';
import { JOB_ACTION_LIST } from '../../rules/lifecycle.js';

export function of({ name, description }: Pick<Operation<unknown, unknown>, 'name' | 'description'>) {
  const row = JOB_ACTION_LIST.find(({ operation }) => operation === name);
  return { name, description: description + sentenceOf(row?.effects ?? []) };
}

/**
 * Null where the mutation is refused: were it required, its refusal would take the answers of the others with it, which
 * were done before.
 */
export function ofMutation(operation: Pick<Operation<unknown, unknown>, 'name' | 'description'>) {
  return { ...of(operation), nullable: true };
}
