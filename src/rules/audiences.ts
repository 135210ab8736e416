/** What a reader does not get: the fields that their entity gives to others alone read as null. */
import { CONTRACTOR, HOMEOWNER, USER } from './entities/people.js';
import { JOB } from './entities/job.js';
import type { Fields, PrivateField } from './entity.js';
import type { Relation } from './readers.js';

/** The entities that have such fields. */
export const AUDIENCED = { user: USER, homeowner: HOMEOWNER, contractor: CONTRACTOR, job: JOB } as const;

export type Audienced = keyof typeof AUDIENCED;

/** Whether a field of this name is for everyone in each entity that has one. */
export function isForEveryone(field: string): boolean {
  return Object.values<{ fields: Fields }>(AUDIENCED).every(({ fields }) => !fields[field]?.readBy);
}

export type Redacted<E extends Audienced, Row> = {
  [K in keyof Row]: K extends PrivateField<(typeof AUDIENCED)[E]> ? Row[K] | null : Row[K];
};

/**
 * The row as this reader may see it; the row itself, where it holds nothing that is not for them. What the reader is to
 * the row is asked only where it holds something that is not for everyone: most rows of a list do not.
 */
export function redact<E extends Audienced, Row extends Record<keyof (typeof AUDIENCED)[E]['fields'], unknown>>(
  entity: E,
  row: Row,
  relations: () => readonly Relation[],
): Redacted<E, Row> {
  const isPrivate = PRIVATE[entity].some((field) => field in row);
  const hidden = isPrivate ? hiddenFrom(entity, relations()) : [];
  return (hidden.length > 0 ? blanked(row, hidden) : row) as Redacted<E, Row>;
}

/** The row is copied first and changed then, so that all copies keep the row's own shape. */
function blanked(row: Readonly<Record<string, unknown>>, fields: readonly string[]): object {
  const copy = { ...row };
  for (const field of fields) if (field in copy) copy[field] = null;
  return copy;
}

const BITS: Readonly<Record<Relation, number>> = {
  self: 1,
  counterpart: 2,
  client: 4,
  owner: 8,
  awardee: 16,
  admin: 32,
};

/** By the bits of the relations: there are few ways to be related, and many rows. */
const HIDDEN: Record<Audienced, (readonly string[] | undefined)[]> = {
  user: [],
  homeowner: [],
  contractor: [],
  job: [],
};

/** The fields that are hidden from a viewer with these relations. */
function hiddenFrom(entity: Audienced, relations: readonly Relation[]): readonly string[] {
  let bits = 0;
  for (const relation of relations) bits |= BITS[relation];
  return (HIDDEN[entity][bits] ??= privateFields(AUDIENCED[entity], relations));
}

/** The fields that are not for everyone. */
const PRIVATE: Readonly<Record<Audienced, readonly string[]>> = {
  user: privateFields(USER, []),
  homeowner: privateFields(HOMEOWNER, []),
  contractor: privateFields(CONTRACTOR, []),
  job: privateFields(JOB, []),
};

function privateFields({ fields }: { fields: Fields }, relations: readonly Relation[]): string[] {
  return Object.entries(fields)
    .filter(([, { readBy }]) => readBy && !readBy.relations.some((relation) => relations.includes(relation)))
    .map(([name]) => name);
}
