/**
 * All that can be selected of a type, so many levels deep: written from the schema, so that no new field is passed by.
 */
import { getNamedType, isAbstractType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import type { GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql';

/** Pages and edges are no level of their own: what counts is how many things one came through. */
const WRAPPER = /(Connection|Edge|PageInfo)$/;

export interface Selections {
  /** What stands between a field's braces. */
  of(type: GraphQLNamedType, levels: number): string;
  /** The fragments that all selections so far are made of. */
  fragments(): string;
}

export function createSelections(schema: GraphQLSchema): Selections {
  const fragments = new Map<string, string>();

  function of(type: GraphQLNamedType, levels: number): string {
    if (isAbstractType(type))
      return ['__typename', ...schema.getPossibleTypes(type).map((one) => of(one, levels))].join(' ');
    if (!isObjectType(type)) throw new Error(`${type.name} has no fields to select.`);
    const name = `${type.name}_${levels}`;
    if (!fragments.has(name)) {
      fragments.set(name, '');
      fragments.set(name, `fragment ${name} on ${type.name} { __typename ${fieldsOf(type, levels)} }`);
    }
    return `...${name}`;
  }

  /**
   * Every field bears its type's name as well: fields of one name and different kinds could not be selected with each
   * other.
   */
  function fieldsOf(type: GraphQLObjectType, levels: number): string {
    return Object.values(type.getFields())
      .map((field) => {
        const required = field.args.find(isRequiredArgument);
        if (required) throw new Error(`Nothing is known to pass as ${type.name}.${field.name}(${required.name}).`);
        const inner = getNamedType(field.type);
        const label = `${type.name}_${field.name}: ${field.name}`;
        if (isLeafType(inner)) return label;
        const left = levelsWithin(type, inner, levels);
        return left > 0 ? `${label} { ${of(inner, left)} }` : '';
      })
      .join(' ');
  }

  return { of, fragments: () => [...fragments.values()].join('\n') };
}

/** The same things stand in a connection twice: by their edges nobody goes further. */
function levelsWithin(outer: GraphQLNamedType, inner: GraphQLNamedType, levels: number): number {
  if (WRAPPER.test(inner.name)) return levels;
  return outer.name.endsWith('Edge') ? Math.min(1, levels - 1) : levels - 1;
}
