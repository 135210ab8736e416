/**
 * Describes an entity's fields once for both APIs, their documentation, redaction, and inputs. The compiler checks the
 * field types against the table.
 */
import { z } from 'zod';

/** Who may read a field that isn't visible to everyone who sees the row. */
export interface Readers {
  /** Viewers with one of these relations to the row read the value. Everyone else reads null. */
  readonly relations: readonly string[];
  /** The relations in words, to complete “Null for everyone except …”. */
  readonly words: string;
}

export interface Field {
  /** The type of the stored value, and of the input if people write the field. */
  readonly type: z.ZodType;
  /** A sentence about the readers is appended. */
  readonly description: string;
  /** The example in REST's documentation. IDs, timestamps, and parts have default examples. */
  readonly example?: unknown;
  /** By default, everyone who sees the row reads the field. */
  readonly readBy?: Readers;
  /**
   * True if people write and edit the field. 'at sign-up' if they write it only at signup. The service sets all other
   * fields.
   */
  readonly written?: true | 'at sign-up';
  /** The description in inputs, if it differs. */
  readonly inputDescription?: string;
}

export type Fields = Readonly<Record<string, Field>>;

/** A row as its reader sees it. Hidden fields are null. */
type ReadShape<F extends Fields> = {
  -readonly [K in keyof F]: F[K] extends { readonly readBy: Readers } ? z.ZodNullable<F[K]['type']> : F[K]['type'];
};

export interface Entity<F extends Fields = Fields> {
  /** The type's name in GraphQL and OpenAPI. */
  readonly name: string;
  readonly description: string;
  readonly fields: F;
  /** The response object. As a field's type, it makes this entity part of another. */
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

export function entityOf(schema: z.core.$ZodType): Entity {
  const match = entities.get(schema);
  if (!match) throw new Error('An object in a described field is not an entity.');
  return match;
}

export type StoredRow<E extends Entity> = { -readonly [K in keyof E['fields']]: z.output<E['fields'][K]['type']> };

export type ShownRow<E extends Entity> = {
  -readonly [K in keyof E['fields']]:
    z.output<E['fields'][K]['type']> | (E['fields'][K] extends { readonly readBy: Readers } ? null : never);
};

/** A table row's type. Fails to compile if a column is missing or its type differs from the entity's. */
export type RowOf<E extends Entity, Row extends StoredRow<E>> =
  StoredRow<E> extends Pick<Row, keyof StoredRow<E> & keyof Row> ? Row : never;

export type PrivateField<E extends Entity> = {
  [K in keyof E['fields']]: E['fields'][K] extends { readonly readBy: Readers } ? K : never;
}[keyof E['fields']];

export type WrittenField<E extends Entity> = {
  [K in keyof E['fields']]: E['fields'][K] extends { readonly written: true } ? K : never;
}[keyof E['fields']] &
  string;

export function writtenFields<E extends Entity>({ fields }: E): readonly WrittenField<E>[] {
  return Object.keys(fields).filter((name) => fields[name]?.written === true) as WrittenField<E>[];
}

/** The written fields that are never null. */
export type RequiredField<E extends Entity> = {
  [K in WrittenField<E>]: null extends z.output<E['fields'][K]['type']> ? never : K;
}[WrittenField<E>];

export function requiredFields<E extends Entity>(entity: E): readonly RequiredField<E>[] {
  const isRequired = (name: WrittenField<E>): name is RequiredField<E> =>
    entity.fields[name]?.type.safeParse(null).success === false;
  return writtenFields(entity).filter(isRequired);
}

export function settledFields<E extends Entity>({
  fields,
}: E): readonly Exclude<keyof E['fields'] & string, WrittenField<E>>[] {
  return Object.keys(fields).filter((name) => fields[name]?.written !== true) as Exclude<
    keyof E['fields'] & string,
    WrittenField<E>
  >[];
}

/** Describes the field, and names the readers who get null instead of its value. */
export function descriptionOf({ description, readBy }: Field): string {
  const isNull = description.includes(' Null ') ? 'Also null' : 'Null';
  return readBy ? `${description} ${isNull} for everyone except ${readBy.words}.` : description;
}

export function inputDescriptionOf({ description, inputDescription, readBy }: Field): string {
  return inputDescription ?? (readBy ? `${description} Private.` : description);
}

type UnredactedFields<F extends Fields> = {
  readonly [K in keyof F]: Omit<F[K], 'readBy'> & Pick<F[K], 'type' | 'description'>;
};

export function unredactedEntity<F extends Fields>({
  name,
  description,
  fields,
}: Entity<F>): Entity<UnredactedFields<F>> {
  const open = Object.fromEntries(
    Object.entries<Field>(fields).map(([field, { readBy: _, ...rest }]) => [field, rest]),
  );
  return entity(name, `${description.replace(/\.$/, '')}, as its owner sees it.`, open as UnredactedFields<F>);
}

export type WrittenInputs<E extends Entity> = {
  -readonly [K in WrittenField<E>]: z.ZodOptional<E['fields'][K]['type']>;
};

/** All written fields with their descriptions, each optional. */
export function writtenInputs<E extends Entity>(
  entity: E,
  describe: (name: WrittenField<E>, description: string) => string = (_, description) => description,
): WrittenInputs<E> {
  const fields: Fields = entity.fields;
  const inputs = writtenFields(entity).flatMap((name) => {
    const field = fields[name];
    return field ? [[name, field.type.describe(describe(name, inputDescriptionOf(field))).optional()] as const] : [];
  });
  return Object.fromEntries(inputs) as WrittenInputs<E>;
}

/** An input for writing an entity. Refusals list the fields that only the service can set. */
export function entityInput<Shape extends z.ZodRawShape>({ fields }: Entity, shape: Shape) {
  const setByService = Object.keys(fields).filter((name) => !fields[name]?.written);
  return z.strictObject(shape).meta({ setByService });
}
