/**
 * People as other users see them: found by account or by profile, with only the fields that the viewer may read of
 * each.
 */
import { redact } from '../../rules/audiences.js';
import { refuse } from '../../rules/errors.js';
import type { Viewer } from '../../rules/viewer.js';
import { selectPeople, type PersonRow } from '../../store/people.js';
import type { Db } from '../../store/database.js';
import { READ_WITH } from '../../store/rows.js';
import { asArray } from '../../store/statement.js';
import { idsOf } from '../../store/visibility.js';
import type { Call } from '../operation.js';
import { relationsTo, type ReadableContractor, type ReadableHomeowner, type ReadableUser } from './people.js';

export interface Person {
  user: ReadableUser;
  homeowner: ReadableHomeowner | null;
  contractor: ReadableContractor | null;
}

/** Keyed by each of a person's identifiers, so that the requested one finds them. */
export async function readPeople(db: Db, viewer: Viewer, ids: readonly string[]): Promise<Map<string, Person>> {
  const found = await selectPeople[viewer.role](db, { ids: asArray([...new Set(ids)]), ...idsOf(viewer) });
  const people = new Map<string, Person>();
  for (const row of found) {
    const person = readablePerson(viewer, row);
    for (const id of [row.user.id, row.homeowner?.id, row.contractor?.id]) if (id !== undefined) people.set(id, person);
  }
  return people;
}

/** One part of a person, by the part's own identifier. */
export async function readPart<Part extends keyof Person>(
  { db, viewer }: Pick<Call<Viewer>, 'db' | 'viewer'>,
  id: string,
  part: Part,
): Promise<{ part: NonNullable<Person[Part]>; person: Person }> {
  const person = (await readPeople(db, viewer, [id])).get(id);
  const found = person?.[part];
  if (!person || !found) throw refuse('NOT_FOUND', { message: `There is no such ${part}.` });
  return { part: found, person };
}

export function readablePerson(
  viewer: Viewer,
  { user: row, homeowner, contractor, counterpart, client }: PersonRow,
): Person {
  const relations = () => relationsTo(viewer, row.id, { counterpart, client });
  const user = redact('user', row, relations);
  const person: Person = {
    user,
    homeowner: homeowner && redact('homeowner', homeowner, relations),
    contractor: contractor && redact('contractor', contractor, relations),
  };
  if (person.homeowner) (person.homeowner as Behind)[READ_WITH] = user;
  if (person.contractor) (person.contractor as Behind)[READ_WITH] = user;
  return person;
}

type Behind = { [READ_WITH]?: ReadableUser };

/** The account of a profile, if both were read together. */
export function userBehind(profile: ReadableHomeowner | ReadableContractor): ReadableUser | undefined {
  return (profile as Behind)[READ_WITH];
}
