/** A root field is described by its operation. */
import type { Operation } from '../../operations/operation.js';

export function of({ name, says }: Pick<Operation<never, unknown>, 'name' | 'says'>) {
  return { name, description: says };
}
