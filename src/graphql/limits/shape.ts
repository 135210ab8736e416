/**
 * The shape of a document: how deep, how wide and how often repeated its operations are, as they are written. What a
 * directive may skip counts all the same, since the document is judged once for all variables to come.
 */
import { Kind, visit, type DocumentNode, type FieldNode, type OperationDefinitionNode, type SelectionNode, type SelectionSetNode, type ValidationRule } from 'graphql';
import { OPERATIONS } from '../../operations/index.js';
import { GRAPHQL_LIMITS } from '../../rules/limits.js';
import { exceeded, type Limit } from './refusals.js';

type GetFragment = (name: string) => { readonly selectionSet: SelectionSetNode } | null | undefined;

export const shapeRule: ValidationRule = (context) => {
  const fragment: GetFragment = (name) => context.getFragment(name);
  const shapeOf = measurer(fragment);
  return {
    Document(document) {
      check({ directives: directivesIn(document) }, document);
      for (const definition of document.definitions) {
        if (definition.kind === Kind.OPERATION_DEFINITION) check({ ...shapeOf(definition.selectionSet), ...callsOf(definition, fragment) }, definition);
      }
    },
  };

  function check(found: Partial<Record<Limit, number>>, node: DocumentNode | OperationDefinitionNode): void {
    for (const [limit, number] of Object.entries(found) as [Limit, number][]) {
      if (number > GRAPHQL_LIMITS[limit]) context.reportError(exceeded(limit, number, node));
    }
  }
};

function directivesIn(document: DocumentNode): number {
  let found = 0;
  visit(document, { Directive: () => void (found += 1) });
  return found;
}

interface Shape {
  readonly selections: number;
  readonly aliases: number;
  readonly depth: number;
  readonly introspectionDepth: number;
}

const NOTHING: Shape = { selections: 0, aliases: 0, depth: 0, introspectionDepth: 0 };

/** A fragment is measured once and counted at each use: sixteen that double each other take sixteen steps, not 65,536. */
function measurer(fragment: GetFragment): (set: SelectionSetNode | undefined) => Shape {
  const measured = new Map<string, Shape>();

  const ofSet = (set: SelectionSetNode | undefined): Shape => (set?.selections ?? []).map(ofSelection).reduce(beside, NOTHING);

  function ofSelection(selection: SelectionNode): Shape {
    if (selection.kind === Kind.FIELD) return ofField(selection);
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? ofSet(selection.selectionSet) : ofFragment(selection.name.value);
    return { ...inner, selections: inner.selections + 1 };
  }

  function ofField({ name, alias, selectionSet }: FieldNode): Shape {
    const inner = ofSet(selectionSet);
    const counted = { selections: inner.selections + 1, aliases: inner.aliases + (alias ? 1 : 0) };
    if (name.value === '__schema' || name.value === '__type') return { ...counted, depth: 1, introspectionDepth: inner.depth + 1 };
    return { ...counted, depth: inner.depth + 1, introspectionDepth: inner.introspectionDepth };
  }

  function ofFragment(name: string): Shape {
    const known = measured.get(name);
    if (known) return known;
    // GraphQL itself refuses a fragment that leads back to itself; here it must only come to an end.
    measured.set(name, NOTHING);
    const shape = ofSet(fragment(name)?.selectionSet);
    measured.set(name, shape);
    return shape;
  }

  return ofSet;
}

function beside(one: Shape, other: Shape): Shape {
  return {
    selections: one.selections + other.selections,
    aliases: one.aliases + other.aliases,
    depth: Math.max(one.depth, other.depth),
    introspectionDepth: Math.max(one.introspectionDepth, other.introspectionDepth),
  };
}

const ENTRIES = new Set(
  Object.values(OPERATIONS)
    .filter(({ budget }) => budget === 'logInPerAddress' || budget === 'signUp')
    .map(({ name }) => name),
);

/** What a mutation calls, by the names it is answered under: two selections of one name are one call. */
function callsOf({ operation, selectionSet }: OperationDefinitionNode, fragment: GetFragment): Partial<Record<Limit, number>> {
  if (operation !== 'mutation') return {};
  const fields = rootFields(selectionSet, fragment, new Set());
  const calls = (some: readonly FieldNode[]) => new Set(some.map(({ alias, name }) => (alias ?? name).value)).size;
  return { rootMutations: calls(fields), entries: calls(fields.filter(({ name }) => ENTRIES.has(name.value))) };
}

/** The mutations that an operation calls, each once for every name that it is answered under. */
export function mutationsIn(document: DocumentNode, operation: OperationDefinitionNode): readonly string[] {
  if (operation.operation !== 'mutation') return [];
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const fragmentNamed: GetFragment = (name) => fragments.find((fragment) => fragment.name.value === name);
  const fields = rootFields(operation.selectionSet, fragmentNamed, new Set());
  const calls = new Map(fields.map(({ alias, name }) => [(alias ?? name).value, name.value]));
  return [...calls.values()].filter((name) => name !== '__typename');
}

function rootFields({ selections }: SelectionSetNode, fragment: GetFragment, seen: Set<string>): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(selection.selectionSet, fragment, seen);
    const { value: name } = selection.name;
    const spread = seen.has(name) ? undefined : fragment(name);
    seen.add(name);
    return spread ? rootFields(spread.selectionSet, fragment, seen) : [];
  });
}
