/** Redaction: a row's reader gets null for each field that they can't see. See `readBy` in `entities/`. */
import { CONTRACTOR, HOMEOWNER, USER } from '../entities/people.js';
import { JOB } from '../entities/job.js';
import type { Fields, PrivateField } from '../../../platform/fields/entity.js';
import type { Relation } from './readers.js';

export const REDACTED_ENTITIES = { user: USER, homeowner: HOMEOWNER, contractor: CONTRACTOR, job: JOB } as const;

export type RedactedEntity = keyof typeof REDACTED_ENTITIES;

/** True if everyone can read this field, in each entity that has a field with this name. */
export function isForEveryone(field: string): boolean {
  return Object.values<{ fields: Fields }>(REDACTED_ENTITIES).every(({ fields }) => !fields[field]?.readBy);
}

export type RedactedRow<E extends RedactedEntity, Row> = {
  [K in keyof Row]: K extends PrivateField<(typeof REDACTED_ENTITIES)[E]> ? Row[K] | null : Row[K];
};

/**
 * Returns a row unchanged if there is nothing to hide. Relations are computed only for rows with private fields.
 * Most rows in a list don't have any.
 */
export function redact<
  E extends RedactedEntity,
  Row extends Record<keyof (typeof REDACTED_ENTITIES)[E]['fields'], unknown>,
>(entity: E, row: Row, relations: () => readonly Relation[]): RedactedRow<E, Row> {
  const isPrivate = PRIVATE_FIELDS[entity].some((field) => field in row);
  const hiddenFields = isPrivate ? hiddenFieldsFor(entity, relations()) : [];
  return (hiddenFields.length > 0 ? withNulls(row, hiddenFields) : row) as RedactedRow<E, Row>;
}

/** Copies the row first and then sets nulls, so the copy keeps the row's hidden class and is faster to read. */
function withNulls(row: Readonly<Record<string, unknown>>, fields: readonly string[]): object {
  const copy = { ...row };
  for (const field of fields) if (field in copy) copy[field] = null;
  return copy;
}

const RELATION_BITS: Readonly<Record<Relation, number>> = {
  self: 1,
  counterpart: 2,
  client: 4,
  owner: 8,
  awardee: 16,
  admin: 32,
};

/**
 * Each entity's hidden fields, by the bits of the reader's relations. They're cached, because there are few
 * combinations of relations and many rows.
 */
const HIDDEN_FIELDS: Record<RedactedEntity, (readonly string[] | undefined)[]> = {
  user: [],
  homeowner: [],
  contractor: [],
  job: [],
};

function hiddenFieldsFor(entity: RedactedEntity, relations: readonly Relation[]): readonly string[] {
  let bits = 0;
  for (const relation of relations) bits |= RELATION_BITS[relation];
  return (HIDDEN_FIELDS[entity][bits] ??= privateFields(REDACTED_ENTITIES[entity], relations));
}

const PRIVATE_FIELDS: Readonly<Record<RedactedEntity, readonly string[]>> = {
  user: privateFields(USER, []),
  homeowner: privateFields(HOMEOWNER, []),
  contractor: privateFields(CONTRACTOR, []),
  job: privateFields(JOB, []),
};

function privateFields({ fields }: { fields: Fields }, relations: readonly string[]): string[] {
  return Object.entries(fields)
    .filter(([, { readBy }]) => readBy && !readBy.relations.some((relation) => relations.includes(relation)))
    .map(([name]) => name);
}
