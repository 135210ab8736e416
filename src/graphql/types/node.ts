/** Objects that can be read by their identifier. */
import { ID, InterfaceType, Field } from 'type-graphql';
import { kindOfId, type IdKind } from '../../market/rules/ids.js';
import type { Entity } from '../../platform/fields/entity.js';
import { metaOf } from '../../platform/fields/shapes.js';
import { fieldOptions, objectType } from './field.js';

/** The names of the types in the schema, by the kind of their identifier. */
const typeNames = new Map<string, string>();

export function typeOfNode({ id }: { id: string }): string | undefined {
  return typeNames.get(kindOfId(id) ?? '');
}

@InterfaceType('Node', {
  description: 'An object that you can read by its ID with `node(id)`.',
  resolveType: typeOfNode,
})
export abstract class Node {
  @Field(() => ID, fieldOptions('The ID. Its prefix shows the type of object.'))
  id: string;
}

interface NodeOptions {
  /** The kind of the type's identifier. Undefined if the identifier is one of the entity's fields. */
  readonly kind?: IdKind;
  readonly except?: readonly string[];
}

/** Declares the type of an entity that has its own identifier. */
export function nodeType(entity: Entity, { kind, except = [] }: NodeOptions = {}) {
  const { id } = entity.fields;
  typeNames.set(kind ?? (id && metaOf(id.type).kind) ?? '', entity.name);
  return objectType(entity, { except, implements: Node });
}
