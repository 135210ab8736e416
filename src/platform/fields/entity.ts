/**
 * How an entity describes its fields: once, for everybody. GraphQL and REST show them, the documents of both explain
 * them, `redact` hides what is not for a reader, inputs check what people write, and the table is compared by type.
 */
import { z } from 'zod';

/** Who reads a field that isn't for everyone who sees the row. */
export interface Readers {
  /** A viewer with one of these relations to the row reads the field; others read null. */
  readonly relations: readonly string[];
  /** The same for people, after "null for all but". */
  readonly words: string;
}

export interface Field {
  /** The value as it is stored, which is also how an input checks it where people write it. */
  readonly type: z.ZodType;
  /** A sentence; who reads the field is added to it. */
  readonly description: string;
  /** For the documentation of REST, as the wire shows it. Identifiers, moments and parts have one of their own. */
  readonly example?: unknown;
  /** Who reads it; everyone who sees the row where this is left out. */
  readonly readBy?: Readers;
  /** People write it, and may edit it unless it is settled at sign-up. Every other field is set by the service. */
  readonly written?: true | 'at sign-up';
  /** The description in inputs, where it differs. */
  readonly inputDescription?: string;
}

export type Fields = Readonly<Record<string, Field>>;

/** As somebody reads it: what is not for them is null. */
type ReadShape<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends { readonly readBy: Readers } ? z.ZodNullable<F[K]['type']> : F[K]['type'];
};

export interface Entity<F extends Fields = Fields> {
  /** The type in GraphQL, and the schema in OpenAPI. */
  readonly name: string;
  readonly description: string;
  readonly fields: F;
  /** What a reader gets. As the type of another entity's field it makes this entity a part of that one. */
  readonly schema: z.ZodObject<ReadShape<F>, z.core.$strict>;
}

const entities = new WeakMap<z.core.$ZodType, Entity>();

export function entity<const F extends Fields>(name: string, description: string, fields: F): Entity<F> {
  const shape = Object.fromEntries(
    Object.entries<Field>(fields).map(([field, { type, readBy }]) => [field, readBy ? type.nullable() : type]),
  );
  const newEntity = { name, description, fields, schema: z.strictObject(shape as ReadShape<F>) };
  entities.set(newEntity.schema, newEntity);
  return newEntity;
}

/** The entity that an object's schema was made by. */
export function entityOf(schema: z.core.$ZodType): Entity {
  const match = entities.get(schema);
  if (!match) throw new Error('An object in a described field is no entity.');
  return match;
}

/** A row as it is stored. */
export type StoredRow<E extends Entity> = { -readonly [K in keyof E['fields']]: z.output<E['fields'][K]['type']> };

/** A row as somebody reads it. */
export type ShownRow<E extends Entity> = {
  -readonly [K in keyof E['fields']]:
    z.output<E['fields'][K]['type']> | (E['fields'][K] extends { readonly readBy: Readers } ? null : never);
};

/** The row of a table. It does not compile where a column is missing, or is not of the type that the entity says. */
export type RowOf<E extends Entity, Row extends StoredRow<E>> =
  StoredRow<E> extends Pick<Row, keyof StoredRow<E> & keyof Row> ? Row : never;

export type PrivateField<E extends Entity> = {
  [K in keyof E['fields']]: E['fields'][K] extends { readonly readBy: Readers } ? K : never;
}[keyof E['fields']];

export type WrittenField<E extends Entity> = {
  [K in keyof E['fields']]: E['fields'][K] extends { readonly written: true } ? K : never;
}[keyof E['fields']] &
  string;

/** The fields that people write and edit, in the entity's order. */
export function writtenFields<E extends Entity>({ fields }: E): readonly WrittenField<E>[] {
  return Object.keys(fields).filter((name) => fields[name]?.written === true) as WrittenField<E>[];
}

/** Those of them that are never null. */
export type RequiredField<E extends Entity> = {
  [K in WrittenField<E>]: null extends z.output<E['fields'][K]['type']> ? never : K;
}[WrittenField<E>];

export function requiredFields<E extends Entity>(entity: E): readonly RequiredField<E>[] {
  const isRequired = (name: WrittenField<E>): name is RequiredField<E> =>
    entity.fields[name]?.type.safeParse(null).success === false;
  return writtenFields(entity).filter(isRequired);
}

/** The fields that no edit changes. */
export function settledFields<E extends Entity>({
  fields,
}: E): readonly Exclude<keyof E['fields'] & string, WrittenField<E>>[] {
  return Object.keys(fields).filter((name) => fields[name]?.written !== true) as Exclude<
    keyof E['fields'] & string,
    WrittenField<E>
  >[];
}

/** What the field is for, and who else reads null there. */
export function descriptionOf({ description, readBy }: Field): string {
  return readBy ? `${description.replace(/\.$/, '')}; null for all but ${readBy.words}.` : description;
}

/** The same for those who write the field. */
export function inputDescriptionOf({ description, inputDescription, readBy }: Field): string {
  return inputDescription ?? (readBy ? `${description.replace(/\.$/, '')}; private.` : description);
}

type UnredactedFields<F extends Fields> = {
  readonly [K in keyof F]: Omit<F[K], 'readBy'> & Pick<F[K], 'type' | 'description'>;
};

/** The entity as it is shown where nothing of it is hidden from anybody. */
export function unredactedEntity<F extends Fields>({
  name,
  description,
  fields,
}: Entity<F>): Entity<UnredactedFields<F>> {
  const open = Object.fromEntries(
    Object.entries<Field>(fields).map(([field, { readBy: _, ...rest }]) => [field, rest]),
  );
  return entity(name, `${description.replace(/\.$/, '')}, as they read it themselves.`, open as UnredactedFields<F>);
}
