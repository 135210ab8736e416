/** A root field is described by its operation. */
import type { Operation } from '../../operations/operation.js';

export function of({ name, description }: Pick<Operation<never, unknown>, 'name' | 'description'>) {
  return { name, description };
}
