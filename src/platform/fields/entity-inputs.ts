/** The fields of an entity that users write, as inputs of operations. */
import { z } from 'zod';
import { inputDescriptionOf, writtenFields, type Entity, type Fields, type WrittenField } from './entity.js';

export type WrittenInputs<E extends Entity> = {
  -readonly [K in WrittenField<E>]: z.ZodOptional<E['fields'][K]['type']>;
};

/** All of them with their descriptions. None is required. */
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

/** An input that writes an entity. When it refuses fields that only the service sets, it names them. */
export function entityInput<Shape extends z.ZodRawShape>({ fields }: Entity, shape: Shape) {
  const setByService = Object.keys(fields).filter((name) => !fields[name]?.written);
  return z.strictObject(shape).meta({ setByService });
}
