/** Objects that clients can read by ID. */
import { ID, InterfaceType, Field } from 'type-graphql';
import { kindOfId, type IdKind } from '../../market/rules/ids.js';
import type { Entity } from '../../platform/fields/entity.js';
import { metaOf } from '../../platform/fields/shapes.js';
import { fieldOptions, objectType } from './field.js';

/** Maps the type in an ID to its GraphQL type. */
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
  /** The type in the ID. By default, the entity's `id` field states it. */
  readonly kind?: IdKind;
  readonly except?: readonly string[];
}

export function nodeType(entity: Entity, { kind, except = [] }: NodeOptions = {}) {
  const { id } = entity.fields;
  typeNames.set(kind ?? (id && metaOf(id.type).kind) ?? '', entity.name);
  return objectType(entity, { except, implements: Node });
}
