/** Makes the fields of a GraphQL type from the fields of an entity. */
import { Field, Float, ID, Int } from 'type-graphql';
import { isNullable, kindOf, type ShapeKind } from '../../operations/shape-kinds.js';
import { descriptionOf, entityOf, type Entity } from '../../rules/entity.js';
import { ENUMS } from '../enums.js';
import { DateScalar, DateTimeScalar, JsonScalar } from '../scalars.js';

/** The options of a plain field. Its value is that of the row, which has null where the viewer may not read it. */
export function described(description: string, nullable?: 'nullable') {
  return { description, simple: true, nullable: nullable === 'nullable' };
}

type ObjectClass = abstract new () => object;

/** The class of each entity, for fields of other entities that contain it. */
const classes = new Map<unknown, ObjectClass>();

/** Gives a class every field of an entity; fields that only GraphQL has are written in the class itself. */
export function FieldsOf({ fields, schema }: Entity): (type: ObjectClass) => void {
  return (type) => {
    classes.set(schema, type);
    for (const [name, field] of Object.entries(fields)) {
      const kind = kindOf(field.type);
      const nullable = field.readBy !== undefined || isNullable(field.type);
      Field(() => (kind.is === 'list' ? [typeOf(kind.of)] : typeOf(kind)), {
        description: descriptionOf(field),
        simple: true,
        nullable,
      })(type.prototype as object, name);
    }
  };
}

function typeOf(kind: ShapeKind): object {
  switch (kind.is) {
    case 'identifier':
      return ID;
    case 'whole number':
      return Int;
    case 'number':
      return Float;
    case 'flag':
      return Boolean;
    case 'date':
      return DateScalar;
    case 'moment':
      return DateTimeScalar;
    case 'anything':
      return JsonScalar;
    case 'choice':
      return kind.name === undefined ? String : known(ENUMS[kind.name], kind.name);
    case 'object':
      return known(classes.get(kind.schema), entityOf(kind.schema).name);
    default:
      return String;
  }
}

function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`GraphQL has no type ${name}.`);
  return found;
}
