/** Finds a person by the identifier of their account or of one of their profiles. */
import { refuse } from '../../rules/errors.js';
import type { Viewer } from '../../rules/viewer.js';
import { readPeople, type Person } from '../../store/people/people.js';
import type { Call } from '../operation.js';

export async function findPerson<Part extends keyof Person>(
  { db, viewer }: Pick<Call<Viewer>, 'db' | 'viewer'>,
  id: string,
  part: Part,
): Promise<{ part: NonNullable<Person[Part]>; person: Person }> {
  const person = (await readPeople(db, viewer, [id])).get(id);
  const own = person?.[part];
  if (!person || !own) throw refuse('NOT_FOUND', { message: `${part[0]?.toUpperCase()}${part.slice(1)} not found.` });
  return { part: own, person };
}
