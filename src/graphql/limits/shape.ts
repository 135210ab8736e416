/**
 * The shape of a document: how deep, how wide and how often repeated its operations are, as they are written.
 * Selections that a directive may skip count too, since the document is checked once for all later variables.
 */
import {
  GraphQLError,
  Kind,
  visit,
  type ASTNode,
  type DefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { OPERATIONS } from '../../operations/index.js';
import { ERRORS, GRAPHQL_LIMITS } from '../../rules/limits.js';
import { limitError, type Limit } from './refusals.js';

type GetFragment = (name: string) => { readonly selectionSet: SelectionSetNode } | null | undefined;

export const shapeRule: ValidationRule = (context) => {
  refuseEarly(context);
  return {};
};

/**
 * All rules are created before the first of them visits the document, so that this one checks the document before
 * GraphQL's own. Those take time and stack that grow with the square of repeated selections, or without end in a cycle:
 * they get an empty document where this one refuses it.
 */
function refuseEarly(context: ValidationContext): void {
  const document = context.getDocument();
  const errors = problemsOf(document, (name) => context.getFragment(name)).slice(0, ERRORS.perAnswerMax - 1);
  for (const error of errors) context.reportError(error);
  // The document was parsed for this request alone, and is not used any more once it is refused.
  if (errors.length > 0) (document as { definitions: readonly DefinitionNode[] }).definitions = [];
}

function problemsOf(document: DocumentNode, fragment: GetFragment): GraphQLError[] {
  const { directives, nameCharacters } = wordsOf(document);
  const ofDocument = limitErrorsIn({ lines: linesOf(document), nameCharacters, directives }, document);
  if (ofDocument.length > 0) return ofDocument;
  const cycles = cyclesIn(document, fragment);
  if (cycles.length > 0) return cycles;
  const shapeOf = createShapeReader(fragment);
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const errors = operations.flatMap(ofOperation);
  if (errors.length > 0) return errors;
  const conditionErrors = operations.flatMap((one) => conditionIn(one, fragment));
  if (conditionErrors.length > 0) return conditionErrors;
  // GraphQL validates a fragment that no operation spreads, too. Of fragments that spread each other, one error is
  // enough.
  return document.definitions
    .flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? ofFragment(one) : []))
    .slice(0, 1);

  function ofOperation(operation: OperationDefinitionNode): GraphQLError[] {
    const errors = limitErrorsIn({ ...shapeOf(operation.selectionSet), ...callsOf(operation, fragment) }, operation);
    return errors.length > 0
      ? errors
      : limitErrorsIn({ repeats: repeatsIn(operation.selectionSet, fragment) }, operation);
  }

  function ofFragment(definition: FragmentDefinitionNode): GraphQLError[] {
    const errors = limitErrorsIn({ selections: shapeOf(definition.selectionSet).selections }, definition);
    return errors.length > 0
      ? errors
      : limitErrorsIn({ repeats: repeatsIn(definition.selectionSet, fragment) }, definition);
  }
}

/**
 * A directive at a subscription's root would leave out all of it, and graphql-js fails on an empty one. The rules of
 * graphql-js evaluate the condition, and throw where its variable has no value or the value is no Boolean.
 */
function conditionIn({ operation, selectionSet }: OperationDefinitionNode, fragment: GetFragment): GraphQLError[] {
  const [directive] = operation === 'subscription' ? conditionsIn(selectionSet, fragment) : [];
  return directive ? [new GraphQLError(UNCONDITIONAL, { nodes: directive })] : [];
}

/** The document has no cycles, and at most 1,000 selections. */
function conditionsIn({ selections }: SelectionSetNode, fragment: GetFragment): DirectiveNode[] {
  return selections.flatMap((one) => {
    const own = (one.directives ?? []).filter(({ name }) => name.value === 'skip' || name.value === 'include');
    if (one.kind === Kind.FIELD) return own;
    const set = one.kind === Kind.INLINE_FRAGMENT ? one.selectionSet : fragment(one.name.value)?.selectionSet;
    return set ? [...own, ...conditionsIn(set, fragment)] : own;
  });
}

const UNCONDITIONAL =
  'The one field of a subscription may bear no @skip and no @include; what is selected of its events may.';

function limitErrorsIn(counts: Partial<Record<Limit, number>>, node: DocumentNode | DefinitionNode): GraphQLError[] {
  const excesses = (Object.entries(counts) as [Limit, number][]).filter(
    ([limit, number]) => number > GRAPHQL_LIMITS[limit],
  );
  return excesses.map(([limit, number]) => limitError(limit, number, node));
}

function linesOf({ loc }: DocumentNode): number {
  return (loc?.source.body.match(/\r\n|[\n\r]/g)?.length ?? 0) + 1;
}

function wordsOf(document: DocumentNode): { directives: number; nameCharacters: number } {
  let [directives, nameCharacters] = [0, 0];
  visit(document, {
    Directive: () => void (directives += 1),
    Name: ({ value }) => void (nameCharacters = Math.max(nameCharacters, value.length)),
  });
  return { directives, nameCharacters };
}

/** The fragments that spread themselves, with the message of GraphQL's own rule. */
function cyclesIn({ definitions }: DocumentNode, fragment: GetFragment): GraphQLError[] {
  const visitedFragments = new Set<string>();
  const ancestors = new Set<string>();
  const errors: GraphQLError[] = [];
  for (const one of definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) follow(one.name.value, one);
  return errors;

  function follow(name: string, node: ASTNode): void {
    if (ancestors.has(name)) return void errors.push(cycleError(name, [...ancestors], node));
    if (visitedFragments.has(name)) return;
    ancestors.add(name);
    const set = fragment(name)?.selectionSet;
    if (set) for (const spread of spreadsIn(set)) follow(spread.name.value, spread);
    ancestors.delete(name);
    visitedFragments.add(name);
  }
}

function cycleError(name: string, ancestors: readonly string[], node: ASTNode): GraphQLError {
  const others = ancestors.slice(ancestors.indexOf(name) + 1).map((one) => `"${one}"`);
  const via = others.length > 0 ? ` via ${others.join(', ')}` : '';
  return new GraphQLError(`Cannot spread fragment "${name}" within itself${via}.`, { nodes: node });
}

function spreadsIn({ selections }: SelectionSetNode): FragmentSpreadNode[] {
  return selections.flatMap((one) => {
    if (one.kind === Kind.FRAGMENT_SPREAD) return [one];
    return one.selectionSet ? spreadsIn(one.selectionSet) : [];
  });
}

/**
 * The work of comparing selections of one name in one object: GraphQL compares each with each, and prints the arguments
 * of both each time. The document has no cycles, and at most 1,000 selections.
 */
function repeatsIn(set: SelectionSetNode, fragment: GetFragment): number {
  let repeats = 0;
  compare([set]);
  return Math.ceil(repeats);

  function compare(sets: readonly SelectionSetNode[]): void {
    const byName = new Map<string, FieldNode[]>();
    for (const field of sets.flatMap((one) => fieldsIn(one, fragment))) {
      const name = (field.alias ?? field.name).value;
      const before = byName.get(name);
      if (before) before.push(field);
      else byName.set(name, [field]);
    }
    for (const fields of byName.values()) {
      repeats += ((fields.length - 1) / 2) * fields.reduce((total, field) => total + weightOf(field), 0);
      const inner = fields.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (inner.length > 0) compare(inner);
    }
  }
}

/** Measured: printing so many characters of arguments takes as long as comparing two fields without arguments. */
const ARGUMENT_CHARACTERS_LIKE_A_FIELD = 5;

function weightOf({ arguments: args = [] }: FieldNode): number {
  const characters = args.reduce((total, { loc }) => total + (loc ? loc.end - loc.start : 0), 0);
  return 1 + characters / ARGUMENT_CHARACTERS_LIKE_A_FIELD;
}

function fieldsIn({ selections }: SelectionSetNode, fragment: GetFragment): FieldNode[] {
  return selections.flatMap((one) => {
    if (one.kind === Kind.FIELD) return [one];
    const set = one.kind === Kind.INLINE_FRAGMENT ? one.selectionSet : fragment(one.name.value)?.selectionSet;
    return set ? fieldsIn(set, fragment) : [];
  });
}

interface Shape {
  readonly selections: number;
  readonly aliases: number;
  readonly depth: number;
  readonly introspectionDepth: number;
  readonly introspectionAliases: number;
}

const EMPTY_SHAPE: Shape = { selections: 0, aliases: 0, depth: 0, introspectionDepth: 0, introspectionAliases: 0 };

/**
 * A fragment is measured once and counted at each use: sixteen that double each other take sixteen steps, not 65,536.
 */
function createShapeReader(fragment: GetFragment): (set: SelectionSetNode | undefined) => Shape {
  const shapes = new Map<string, Shape>();

  const ofSet = (set: SelectionSetNode | undefined): Shape =>
    (set?.selections ?? []).map(ofSelection).reduce(sum, EMPTY_SHAPE);

  function ofSelection(selection: SelectionNode): Shape {
    if (selection.kind === Kind.FIELD) return ofField(selection);
    const inner =
      selection.kind === Kind.INLINE_FRAGMENT ? ofSet(selection.selectionSet) : ofFragment(selection.name.value);
    return { ...inner, selections: inner.selections + 1 };
  }

  function ofField({ name, alias, selectionSet }: FieldNode): Shape {
    const inner = ofSet(selectionSet);
    const counts = { selections: inner.selections + 1, aliases: inner.aliases + (alias ? 1 : 0) };
    const { introspectionDepth, introspectionAliases } = inner;
    const isIntrospection = name.value === '__schema' || name.value === '__type';
    if (!isIntrospection) return { ...counts, depth: inner.depth + 1, introspectionDepth, introspectionAliases };
    return { ...counts, depth: 1, introspectionDepth: inner.depth + 1, introspectionAliases: counts.aliases };
  }

  function ofFragment(name: string): Shape {
    const cachedShape = shapes.get(name);
    if (cachedShape) return cachedShape;
    const shape = ofSet(fragment(name)?.selectionSet);
    shapes.set(name, shape);
    return shape;
  }

  return ofSet;
}

function sum(one: Shape, other: Shape): Shape {
  return {
    selections: one.selections + other.selections,
    aliases: one.aliases + other.aliases,
    depth: Math.max(one.depth, other.depth),
    introspectionDepth: Math.max(one.introspectionDepth, other.introspectionDepth),
    introspectionAliases: one.introspectionAliases + other.introspectionAliases,
  };
}

const ENTRIES = new Set(
  Object.values(OPERATIONS)
    .filter(({ budget }) => budget === 'logInPerAddress' || budget === 'signUp')
    .map(({ name }) => name),
);

function callsOf(operation: OperationDefinitionNode, fragment: GetFragment): Partial<Record<Limit, number>> {
  if (operation.operation !== 'mutation') return {};
  const calls = callsIn(operation, fragment);
  return { rootMutations: calls.length, entries: calls.filter((name) => ENTRIES.has(name)).length };
}

/** The mutations that an operation calls, once for every name in the answer. */
export function mutationsIn(document: DocumentNode, operation: OperationDefinitionNode): readonly string[] {
  if (operation.operation !== 'mutation') return [];
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return callsIn(operation, (name) => fragments.find((fragment) => fragment.name.value === name));
}

/** Two selections with one name are one call, and `__typename` is none. */
function callsIn({ selectionSet }: OperationDefinitionNode, fragment: GetFragment): readonly string[] {
  const fields = rootFields(selectionSet, fragment, new Set()).filter(({ name }) => name.value !== '__typename');
  return [...new Map(fields.map(({ alias, name }) => [(alias ?? name).value, name.value])).values()];
}

function rootFields(
  { selections }: SelectionSetNode,
  fragment: GetFragment,
  visitedFragments: Set<string>,
): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(selection.selectionSet, fragment, visitedFragments);
    const { value: name } = selection.name;
    const definition = visitedFragments.has(name) ? undefined : fragment(name);
    visitedFragments.add(name);
    return definition ? rootFields(definition.selectionSet, fragment, visitedFragments) : [];
  });
}
