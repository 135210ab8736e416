/**
 * What an operation costs: an object 1, a text 1 for each 1,000 characters that it may have, a list its length times
 * what each of its nodes costs, and short values nothing. Fractions add up, and the sum is rounded up. It is computed
 * once for a document, as a number or, where it depends on variables, as a function of them.
 *
 * A connection's page is read whatever is selected of it, so it costs its length even where its nodes are not selected;
 * `edges` and `pageInfo` cost nothing. Selections that GraphQL merges under one name cost once.
 */
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isUnionType,
  Kind,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { PAGE, TEXT_CHARACTERS_PER_COST_POINT, UNPAGED_LIST_ENTRIES } from '../../rules/limits.js';
import { TEXT_CHARACTERS } from './texts.js';

type Variables = Readonly<Record<string, unknown>>;

type Plain = number | boolean;

/** Conditions that depend on no variable are evaluated at once. */
type Expression<Value extends Plain> = Value | ((variables: Variables) => Value);

export type Cost = Expression<number>;

/** Costs are added up in characters, since sums of fractions are not exact. */
const OBJECT = TEXT_CHARACTERS_PER_COST_POINT;

/** A selection set, of which type, and under which conditions. */
interface Part {
  readonly set: SelectionSetNode;
  readonly parent: GraphQLCompositeType;
  readonly condition: Expression<boolean>;
}

interface Occurrence {
  readonly field: FieldNode;
  readonly parent: GraphQLCompositeType;
  readonly condition: Expression<boolean>;
}

/** The document has been validated against the schema. */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Cost {
  const root = schema.getRootType(operation.operation);
  if (!root) return 0;
  const definitions = document.definitions.filter(
    (one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION,
  );
  const fragments = new Map(definitions.map((one) => [one.name.value, one]));
  const presets = presetsOf(operation);
  return inPoints(ofSets([{ set: operation.selectionSet, parent: root, condition: true }]));

  /** The cost of these selection sets for one object. */
  function ofSets(sets: readonly Part[]): Cost {
    return sum([...mergeFields(sets).values()].map(ofField));
  }

  /** The fields of these sets and their fragments by their names in the answer, merged as GraphQL merges them. */
  function mergeFields(sets: readonly Part[]): Map<string, Occurrence[]> {
    const fields = new Map<string, Occurrence[]>();
    const gather = ({ set, parent, condition }: Part): void => {
      for (const selection of set.selections) {
        const innerCondition = both(condition, conditionOf(selection));
        if (innerCondition === false) continue;
        if (selection.kind === Kind.FIELD) {
          const key = `${parent.name} ${(selection.alias ?? selection.name).value}`;
          const before = fields.get(key);
          if (before) before.push({ field: selection, parent, condition: innerCondition });
          else fields.set(key, [{ field: selection, parent, condition: innerCondition }]);
        } else {
          const inner = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
          const type = compositeType(inner?.typeCondition?.name.value) ?? parent;
          if (inner) gather({ set: inner.selectionSet, parent: type, condition: innerCondition });
        }
      }
    };
    for (const part of sets) gather(part);
    return fields;
  }

  function ofField(occurrences: readonly Occurrence[]): Cost {
    const [{ field, parent }] = occurrences as [Occurrence];
    // Introspection is not among the fields of its parent type: it has limits of its own.
    const definition = isUnionType(parent) ? undefined : parent.getFields()[field.name.value];
    if (!definition) return 0;
    const condition = occurrences.map((one) => one.condition).reduce(either, false);
    const type = getNamedType(definition.type);
    if (!isCompositeType(type)) return costIf(condition, TEXT_CHARACTERS[parent.name]?.[definition.name] ?? 0);
    const inner = ofSets(occurrences.flatMap((one) => partOf(one, type)));
    const isList = isListType(getNullableType(definition.type));
    if (type.name.endsWith('Connection')) return costIf(condition, product(lengthOf(field), atLeast(OBJECT, inner)));
    if (isPartOfPage(type) || type.name === 'PageInfo') return costIf(condition, inner);
    const one = sum([OBJECT, inner]);
    // The connection has counted the length of its list of nodes already.
    return costIf(condition, isList && !isPartOfPage(parent) ? product(UNPAGED_LIST_ENTRIES, one) : one);
  }

  function partOf({ field, condition }: Occurrence, parent: GraphQLCompositeType): Part[] {
    return field.selectionSet ? [{ set: field.selectionSet, parent, condition }] : [];
  }

  function compositeType(name: string | undefined): GraphQLCompositeType | undefined {
    const type = name === undefined ? undefined : schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  function lengthOf({ arguments: args = [] }: FieldNode): Cost {
    return read(args.find(({ name }) => name.value === 'first')?.value, pageLength);
  }

  function conditionOf({ directives = [] }: SelectionNode): Expression<boolean> {
    const conditions = directives.flatMap(({ name: { value: name }, arguments: [condition] = [] }) =>
      name === 'skip' || name === 'include' ? [read(condition?.value, (value) => value !== (name === 'skip'))] : [],
    );
    return conditions.reduce(both, true);
  }

  function read<Value extends Plain>(
    node: ValueNode | undefined,
    meaning: (value: unknown) => Value,
  ): Expression<Value> {
    if (node?.kind !== Kind.VARIABLE) return meaning(node && valueFromASTUntyped(node));
    const name = node.name.value;
    return (variables) => meaning(Object.hasOwn(variables, name) ? variables[name] : presets.get(name));
  }
}

function presetsOf({ variableDefinitions = [] }: OperationDefinitionNode): ReadonlyMap<string, unknown> {
  return new Map(
    variableDefinitions.map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue && valueFromASTUntyped(defaultValue),
    ]),
  );
}

/** A length out of range costs as much as the nearest allowed one; the operation itself will refuse it. */
function pageLength(first: unknown): number {
  if (first == null) return PAGE.perPageDefault;
  return typeof first === 'number' ? Math.min(Math.max(first, 1), PAGE.perPageMax) : PAGE.perPageMax;
}

function isPartOfPage({ name }: GraphQLCompositeType): boolean {
  return name.endsWith('Connection') || name.endsWith('Edge');
}

function evaluate<Value extends Plain>(expression: Expression<Value>, variables: Variables): Value {
  return typeof expression === 'function' ? expression(variables) : expression;
}

function sum(costs: readonly Cost[]): Cost {
  const constant = costs.filter((cost) => typeof cost === 'number').reduce((total, cost) => total + cost, 0);
  const functions = costs.filter((cost) => typeof cost === 'function');
  return functions.length === 0
    ? constant
    : (variables) => functions.reduce((total, cost) => total + cost(variables), constant);
}

function inPoints(characters: Cost): Cost {
  const points = (cost: number) => Math.ceil(cost / TEXT_CHARACTERS_PER_COST_POINT);
  return typeof characters === 'number' ? points(characters) : (variables) => points(characters(variables));
}

function atLeast(least: number, cost: Cost): Cost {
  return typeof cost === 'number' ? Math.max(least, cost) : (variables) => Math.max(least, cost(variables));
}

function product(one: Cost, other: Cost): Cost {
  return typeof one === 'number' && typeof other === 'number'
    ? one * other
    : (variables) => evaluate(one, variables) * evaluate(other, variables);
}

function both(one: Expression<boolean>, other: Expression<boolean>): Expression<boolean> {
  if (typeof one === 'boolean') return one && other;
  if (typeof other === 'boolean') return other && one;
  return (variables) => one(variables) && other(variables);
}

function either(one: Expression<boolean>, other: Expression<boolean>): Expression<boolean> {
  if (typeof one === 'boolean') return one || other;
  if (typeof other === 'boolean') return other || one;
  return (variables) => one(variables) || other(variables);
}

function costIf(condition: Expression<boolean>, cost: Cost): Cost {
  if (typeof condition === 'boolean') return condition ? cost : 0;
  return (variables) => (condition(variables) ? evaluate(cost, variables) : 0);
}
