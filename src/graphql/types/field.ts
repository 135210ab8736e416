/** Creates a GraphQL type's fields from an entity's fields. */
import { Field, Float, ID, Int } from 'type-graphql';
import type { ZodObject } from 'zod';
import { isNullable, kindOf, type ShapeKind } from '../../platform/fields/shapes.js';
import { descriptionOf, entityOf, type Entity } from '../../platform/fields/entity.js';
import { ENUMS } from '../enums.js';
import { DateScalar, DateTimeScalar, JsonScalar } from '../scalars.js';

/** The options of a plain field. Its value comes from the row, which has null if the viewer may not read it. */
export function fieldOptions(description: string, nullable?: 'nullable') {
  return { description, simple: true, nullable: nullable === 'nullable' };
}

type ObjectClass = abstract new () => object;

/** Each entity's class, for fields of other entities that contain it. */
const classes = new Map<unknown, ObjectClass>();

/**
 * Gives a class every field of an entity, except those that a resolver gives a different type. Fields that only GraphQL
 * has are written in the class itself.
 */
export function FieldsOf({ fields, schema }: Entity, except: readonly string[] = []): (type: ObjectClass) => void {
  return (type) => {
    classes.set(schema, type);
    for (const [name, field] of Object.entries(fields)) {
      if (except.includes(name)) continue;
      const nullable = field.readBy !== undefined || isNullable(field.type);
      Field(() => typeOf(kindOf(field.type), classOf), { description: descriptionOf(field), simple: true, nullable })(
        type.prototype as object,
        name,
      );
    }
  };
}

function classOf(schema: ZodObject): ObjectClass {
  return assertExists(classes.get(schema), entityOf(schema).name);
}

/** The GraphQL type of a value, an entity, or an input. */
export function typeOf(kind: ShapeKind, classOfObject: (schema: ZodObject) => ObjectClass): object {
  switch (kind.is) {
    case 'identifier':
      return ID;
    case 'integer':
      return Int;
    case 'number':
      return Float;
    case 'boolean':
      return Boolean;
    case 'date':
      return DateScalar;
    case 'timestamp':
      return DateTimeScalar;
    case 'json':
      return JsonScalar;
    case 'enum':
      return kind.name === undefined ? String : assertExists(ENUMS[kind.name], kind.name);
    case 'list':
      return [typeOf(kind.of, classOfObject)];
    case 'object':
      return classOfObject(kind.schema);
    case 'text':
      return String;
  }
}

function assertExists<T>(type: T | undefined, name: string): T {
  if (type === undefined) throw new Error(`GraphQL has no type ${name}.`);
  return type;
}
