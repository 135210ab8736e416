/**
 * What an operation costs: an object 1, a list its length times what each of its nodes costs, and plain values nothing. It is
 * worked out once for a document, as a number or, where variables have a say, as a function of them.
 *
 * A connection's page is read whatever is selected of it, so it costs its length even where its nodes are not asked for;
 * `edges` and `pageInfo` are only its form. What is selected twice costs twice, even where GraphQL would merge the two.
 */
import {
  getNamedType, getNullableType, isCompositeType, isListType, isUnionType, Kind, valueFromASTUntyped,
  type DocumentNode, type FieldNode, type FragmentDefinitionNode, type GraphQLCompositeType, type GraphQLSchema, type OperationDefinitionNode,
  type SelectionNode, type SelectionSetNode, type ValueNode,
} from 'graphql';
import { PAGE, UNPAGED_LIST_ENTRIES } from '../../rules/limits.js';

type Variables = Readonly<Record<string, unknown>>;

type Plain = number | boolean;

/** What the document settles by itself is settled at once. */
type Settled<Value extends Plain> = Value | ((variables: Variables) => Value);

export type Cost = Settled<number>;

/** The document has been validated against the schema. */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Cost {
  const root = schema.getRootType(operation.operation);
  if (!root) return 0;
  const fragments = new Map(document.definitions.filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one]));
  const presets = presetsOf(operation);
  const costsOfFragments = new Map<string, Cost>();
  return ofSet(operation.selectionSet, root);

  function ofSet(set: SelectionSetNode | undefined, parent: GraphQLCompositeType): Cost {
    return sum((set?.selections ?? []).map((selection) => where(isWanted(selection), ofSelection(selection, parent))));
  }

  function ofSelection(selection: SelectionNode, parent: GraphQLCompositeType): Cost {
    if (selection.kind === Kind.FIELD) return ofField(selection, parent);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value);
    return ofSet(selection.selectionSet, typeNamed(selection.typeCondition?.name.value) ?? parent);
  }

  function ofFragment(name: string): Cost {
    const fragment = fragments.get(name);
    const type = typeNamed(fragment?.typeCondition.name.value);
    const cost = costsOfFragments.get(name) ?? (type ? ofSet(fragment?.selectionSet, type) : 0);
    costsOfFragments.set(name, cost);
    return cost;
  }

  function ofField(field: FieldNode, parent: GraphQLCompositeType): Cost {
    // Introspection is not in the fields of its parent: it has bounds of its own.
    const definition = isUnionType(parent) ? undefined : parent.getFields()[field.name.value];
    const type = definition && getNamedType(definition.type);
    if (!isCompositeType(type)) return 0;
    const inner = ofSet(field.selectionSet, type);
    if (isPartOfPage(parent)) return inner;
    const one = sum([1, inner]);
    if (type.name.endsWith('Connection')) return product(lengthOf(field), one);
    return isListType(getNullableType(definition?.type)) ? product(UNPAGED_LIST_ENTRIES, one) : one;
  }

  function typeNamed(name: string | undefined): GraphQLCompositeType | undefined {
    const type = name === undefined ? undefined : schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }

  function lengthOf({ arguments: given = [] }: FieldNode): Cost {
    return read(given.find(({ name }) => name.value === 'first')?.value, pageLength);
  }

  function isWanted({ directives = [] }: SelectionNode): Settled<boolean> {
    const conditions = directives.flatMap(({ name: { value: name }, arguments: [condition] = [] }) =>
      name === 'skip' || name === 'include' ? [read(condition?.value, (value) => value !== (name === 'skip'))] : [],
    );
    return conditions.reduce(both, true);
  }

  function read<Value extends Plain>(node: ValueNode | undefined, meaning: (value: unknown) => Value): Settled<Value> {
    if (node?.kind !== Kind.VARIABLE) return meaning(node && valueFromASTUntyped(node));
    const name = node.name.value;
    return (variables) => meaning(Object.hasOwn(variables, name) ? variables[name] : presets.get(name));
  }
}

function presetsOf({ variableDefinitions = [] }: OperationDefinitionNode): ReadonlyMap<string, unknown> {
  return new Map(variableDefinitions.map(({ variable, defaultValue }) => [variable.name.value, defaultValue && valueFromASTUntyped(defaultValue)]));
}

/** A length out of bounds costs what the nearest allowed one does; the operation itself will refuse it. */
function pageLength(first: unknown): number {
  if (first == null) return PAGE.perPageDefault;
  return typeof first === 'number' ? Math.min(Math.max(first, 1), PAGE.perPageMax) : PAGE.perPageMax;
}

function isPartOfPage({ name }: GraphQLCompositeType): boolean {
  return name.endsWith('Connection') || name.endsWith('Edge');
}

function at<Value extends Plain>(settled: Settled<Value>, variables: Variables): Value {
  return typeof settled === 'function' ? settled(variables) : settled;
}

function sum(costs: readonly Cost[]): Cost {
  const settled = costs.filter((cost) => typeof cost === 'number').reduce((total, cost) => total + cost, 0);
  const open = costs.filter((cost) => typeof cost === 'function');
  return open.length === 0 ? settled : (variables) => open.reduce((total, cost) => total + cost(variables), settled);
}

function product(one: Cost, other: Cost): Cost {
  return typeof one === 'number' && typeof other === 'number' ? one * other : (variables) => at(one, variables) * at(other, variables);
}

function both(one: Settled<boolean>, other: Settled<boolean>): Settled<boolean> {
  return typeof one === 'boolean' && typeof other === 'boolean' ? one && other : (variables) => at(one, variables) && at(other, variables);
}

function where(wanted: Settled<boolean>, cost: Cost): Cost {
  if (typeof wanted === 'boolean') return wanted ? cost : 0;
  return (variables) => (wanted(variables) ? at(cost, variables) : 0);
}
