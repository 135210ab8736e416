/**
 * Selects everything in a type, down to a number of levels. It's generated from the schema, so it includes new fields.
 */
import { getNamedType, isAbstractType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import type { GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql';

/** Pages and edges don't count as levels. Only the objects on the path do. */
const WRAPPER = /(Connection|Edge|PageInfo)$/;

export interface Selections {
  /** The selection between a field's braces. */
  of(type: GraphQLNamedType, levels: number): string;
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
   * Each alias includes the type's name, because fields with one name but different types can't be selected together.
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

/** A connection has the same objects in `nodes` and `edges`, so only `nodes` goes deeper. */
function levelsWithin(outer: GraphQLNamedType, inner: GraphQLNamedType, levels: number): number {
  if (WRAPPER.test(inner.name)) return levels;
  return outer.name.endsWith('Edge') ? Math.min(1, levels - 1) : levels - 1;
}
