/**
 * Makes other documents from one. Selections are moved into fragments, repeated, renamed, and made conditional. Values
 * become variables, or are left out or broken. Nearly all of these documents are still valid.
 */
import {
  FieldsOnCorrectTypeRule,
  getNamedType,
  GraphQLString,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  Kind,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedVariablesRule,
  OperationTypeNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  parseType,
  parseValue,
  PossibleFragmentSpreadsRule,
  print,
  UniqueDirectivesPerLocationRule,
  UniqueOperationNamesRule,
  validate,
  ValuesOfCorrectTypeRule,
  valueFromASTUntyped,
  VariablesInAllowedPositionRule,
  visit,
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';
import type { Dice } from '../../../setup/random/dice.js';
import { furtherSelection, schema } from './documents.js';
import { inline, named, operationsIn, replaced, setOf, sitesIn, spreadOf, type Sites } from './sites.js';
import type { Stock } from '../requests/stock.js';

export interface Varied {
  readonly document: DocumentNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

interface Place extends Varied, Sites {
  readonly dice: Dice;
  readonly stock: Stock;
  /** A name that the document doesn't use yet. */
  fresh(prefix: string): string;
}

/** Undefined if the document has no place for it. */
type Variation = (place: Place) => Varied | undefined;

const VARIATIONS: readonly (readonly [weight: number, variation: Variation])[] = [
  [8, wrapped],
  [8, extracted],
  [4, spreadAgain],
  [8, repeated],
  [8, aliased],
  [5, withTypename],
  [10, conditional],
  [14, hoisted],
  [6, furthered],
  [8, withRefusedList],
  [6, branched],
  [10, withArgument],
  [5, withoutArgument],
  [8, withOtherValue],
  [3, shuffled],
];

/** The stock's name for all lists' cursors. */
export const ANY_LIST = 'any list';

const INVALID_SHARE = 4;

/** The rules that a variation may break. Checking all of GraphQL's rules would take twice as long. */
const BREAKABLE_RULES = [
  FieldsOnCorrectTypeRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  PossibleFragmentSpreadsRule,
  UniqueDirectivesPerLocationRule,
  UniqueOperationNamesRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
];

export function varied(text: string, variables: Varied['variables'], stock: Stock, dice: Dice): Varied {
  let names = 0;
  let made: Varied = { document: parse(text, { noLocation: true }), variables };
  const fresh = (prefix: string) => `${prefix}${(names += 1)}`;
  const vary = (variation: Variation) => {
    const candidate = variation({ ...made, ...sitesIn(made.document), dice, stock, fresh });
    if (!candidate) return;
    if (
      dice.percent(INVALID_SHARE / 10) ||
      validate(schema, candidate.document, BREAKABLE_RULES, { maxErrors: 1 }).length === 0
    )
      made = candidate;
  };
  const count = dice.weighted([
    [10, 0],
    [30, 3],
    [40, 6],
    [20, 12],
  ]);
  for (let time = 0; time < count; time += 1) vary(dice.weighted(VARIATIONS));
  if (dice.percent(12)) {
    vary(withAnotherOperation);
    for (let time = 0; time < 2; time += 1) vary(dice.weighted(VARIATIONS));
  }
  return dice.percent(INVALID_SHARE) ? misspelt(made, dice) : made;
}

function withSelections(place: Place, set: SelectionSetNode, selections: readonly SelectionNode[]): Varied {
  return { ...place, document: replaced(place.document, set, setOf(selections)) };
}

function withDefinitions(
  { document, variables }: Varied,
  added: readonly DocumentNode['definitions'][number][],
): Varied {
  return { variables, document: { ...document, definitions: [...document.definitions, ...added] } };
}

/** Adjacent selections from a set, and the selections before and after them. */
function neighbours({ selections }: SelectionSetNode, dice: Dice) {
  const from = dice.int(0, selections.length - 1);
  const to = dice.int(from, selections.length - 1) + 1;
  return { before: selections.slice(0, from), chosen: selections.slice(from, to), after: selections.slice(to) };
}

function wrapped(place: Place): Varied {
  const { dice, sets } = place;
  const { node, type } = dice.pick(sets);
  const { before, chosen, after } = neighbours(node, dice);
  const typeName = dice.pick([undefined, type.name, ...typesAround(type)]);
  return withSelections(place, node, [...before, inline(typeName, chosen), ...after]);
}

function typesAround(type: GraphQLCompositeType): string[] {
  const above = isObjectType(type) || isInterfaceType(type) ? type.getInterfaces() : [];
  const below = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  return [...above, ...below].map(({ name }) => name);
}

function extracted(place: Place): Varied {
  const { dice, sets } = place;
  const { node, type } = dice.pick(sets);
  const { before, chosen, after } = neighbours(node, dice);
  const name = place.fresh('V');
  const fragment: FragmentDefinitionNode = {
    kind: Kind.FRAGMENT_DEFINITION,
    name: named(name),
    typeCondition: { kind: Kind.NAMED_TYPE, name: named(type.name) },
    selectionSet: setOf(chosen),
  };
  return withDefinitions(withSelections(place, node, [...before, spreadOf(name), ...after]), [fragment]);
}

function spreadAgain(place: Place): Varied | undefined {
  const fragments = place.document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  if (fragments.length === 0) return undefined;
  const { name, typeCondition } = place.dice.pick(fragments);
  const fitting = place.sets.filter(({ type }) => type.name === typeCondition.name.value || isAbstractType(type));
  if (fitting.length === 0) return undefined;
  const { node } = place.dice.pick(fitting);
  return withSelections(place, node, inserted(node.selections, spreadOf(name.value), place.dice));
}

function inserted(selections: readonly SelectionNode[], one: SelectionNode, dice: Dice): SelectionNode[] {
  return selections.toSpliced(dice.int(0, selections.length), 0, one);
}

/** The same field twice, each time with all or part of its selection. */
function repeated(place: Place): Varied {
  const { dice, fields } = place;
  const { node, set } = dice.pick(fields);
  const copy = structuredClone(node);
  const { selectionSet } = copy;
  const partial =
    selectionSet && dice.percent(60) ? { ...copy, selectionSet: setOf(neighbours(selectionSet, dice).chosen) } : copy;
  const again = dice.percent(30) ? inline(undefined, [partial]) : partial;
  return withSelections(place, set, inserted(set.selections, again, dice));
}

/** Some are special to JavaScript's objects, promises, or JSON, or are another field's name. */
const ALIASES = [
  'a',
  'b',
  'id',
  'title',
  'then',
  'toJSON',
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__proto__',
  '_',
  'nodes',
  'errors',
  'data',
];

function aliased(place: Place): Varied {
  const { node } = place.dice.pick(place.fields);
  return { ...place, document: replaced(place.document, node, { ...node, alias: named(place.dice.pick(ALIASES)) }) };
}

function withTypename(place: Place): Varied {
  const { dice, sets } = place;
  const { node } = dice.pick(sets);
  const field: FieldNode = {
    kind: Kind.FIELD,
    name: named('__typename'),
    ...(dice.percent(30) && { alias: named(place.fresh('type')) }),
  };
  return withSelections(place, node, inserted(node.selections, field, dice));
}

const BOOLEANS = [
  ...Array.from({ length: 8 }, () => 'Boolean!'),
  'Boolean! = true',
  'Boolean! = false',
  'Boolean = true',
];

function conditional(place: Place): Varied {
  const { dice, selections } = place;
  const { node } = dice.pick(selections);
  const isLiteral = dice.percent(40);
  const name = place.fresh('c');
  const value: ValueNode = isLiteral
    ? { kind: Kind.BOOLEAN, value: dice.percent(50) }
    : { kind: Kind.VARIABLE, name: named(name) };
  const argument: ArgumentNode = { kind: Kind.ARGUMENT, name: named('if'), value };
  const directive: DirectiveNode = {
    kind: Kind.DIRECTIVE,
    name: named(dice.pick(['skip', 'include'])),
    arguments: [argument],
  };
  const document = replaced(place.document, node, { ...node, directives: [...(node.directives ?? []), directive] });
  if (isLiteral) return { ...place, document };
  return declared({ ...place, document }, name, dice.pick(BOOLEANS), dice.percent(60));
}

/** Declared in every operation, because any of them may spread a fragment. */
function declared({ document, variables }: Varied, name: string, typed: string, value: unknown): Varied {
  const [type = '', preset] = typed.split(' = ');
  const definition: VariableDefinitionNode = {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: named(name) },
    type: parseType(type, { noLocation: true }),
    ...(preset !== undefined && {
      defaultValue: parseValue(preset, { noLocation: true }) as VariableDefinitionNode['defaultValue'],
    }),
  };
  const definitions = document.definitions.map((one) =>
    one.kind === Kind.OPERATION_DEFINITION
      ? { ...one, variableDefinitions: [...(one.variableDefinitions ?? []), definition] }
      : one,
  );
  return {
    document: { ...document, definitions },
    variables: value === undefined ? variables : { ...variables, [name]: value },
  };
}

/** Turns a value in the document into a variable, possibly with a default. */
function hoisted(place: Place): Varied | undefined {
  const { dice, values } = place;
  if (values.length === 0) return undefined;
  const { node, type } = dice.pick(values);
  const name = place.fresh('w');
  const written = print(node);
  const document = replaced(place.document, node, { kind: Kind.VARIABLE, name: named(name) });
  const typed = dice.weighted([
    [50, `${type}`],
    [25, `${type} = ${written}`],
    [25, `${String(type).replace(/!$/, '')} = ${written}`],
  ]);
  return declared(
    { ...place, document },
    name,
    typed,
    dice.percent(85) || !typed.includes(' = ') ? valueFromASTUntyped(node) : undefined,
  );
}

function furthered(place: Place): Varied | undefined {
  const { dice, stock, sets } = place;
  const { node, type } = dice.pick(sets.filter(({ type: { name } }) => name !== 'Mutation' && name !== 'Query'));
  const { text, declared: added, variables, fragments } = furtherSelection(type, stock, dice, place.fresh('m'));
  const [written, ...spread] = parse(`{ ${text} } ${fragments.join(' ')}`, { noLocation: true }).definitions;
  if (written?.kind !== Kind.OPERATION_DEFINITION) return undefined;
  const larger = withDefinitions(
    withSelections(place, node, [...node.selections, ...written.selectionSet.selections]),
    spread,
  );
  return added.reduce((made, definition) => {
    const [name = '', typed = ''] = definition.slice(1).split(': ');
    return declared(made, name, typed, variables[name]);
  }, larger);
}

/** Adds a selection on one of several possible types. */
function branched(place: Place): Varied | undefined {
  const { dice, stock } = place;
  const sets = place.sets.filter(
    ({ type }) => isAbstractType(type) || (isObjectType(type) && type.getInterfaces().length > 0),
  );
  if (sets.length === 0) return undefined;
  const { node, type } = dice.pick(sets);
  const branch = schema.getType(dice.pick([...typesAround(type), type.name]));
  if (!isCompositeType(branch)) return undefined;
  if (isAbstractType(branch))
    return withSelections(place, node, inserted(node.selections, inline(branch.name, ID_OF_NODE), dice));
  const { text, declared: added, fragments } = furtherSelection(branch, stock, dice, place.fresh('m'));
  if (added.length > 0 || fragments.length > 0) return undefined;
  const [written] = parse(`{ ... on ${branch.name} { ${text} } }`, { noLocation: true }).definitions;
  const [selection] = written?.kind === Kind.OPERATION_DEFINITION ? written.selectionSet.selections : [];
  return selection && withSelections(place, node, inserted(node.selections, selection, dice));
}

const ID_OF_NODE: readonly SelectionNode[] = [
  { kind: Kind.FIELD, name: named('id') },
  { kind: Kind.FIELD, name: named('__typename') },
];

function withArgument(place: Place): Varied | undefined {
  const { dice } = place;
  const open = place.fields.flatMap(({ node, definition }) =>
    (definition?.args ?? []).filter((arg) => !isGiven(node, arg)).map((arg) => ({ node, arg })),
  );
  if (open.length === 0) return undefined;
  const { node, arg } = dice.pick(open);
  const added: ArgumentNode = {
    kind: Kind.ARGUMENT,
    name: named(arg.name),
    value: parseValue(valueText(arg.name, arg.type, place), { noLocation: true }),
  };
  return {
    ...place,
    document: replaced(place.document, node, { ...node, arguments: [...(node.arguments ?? []), added] }),
  };
}

function isGiven({ arguments: given = [] }: FieldNode, { name }: GraphQLArgument): boolean {
  return given.some((one) => one.name.value === name);
}

function withoutArgument(place: Place): Varied | undefined {
  const given = place.fields.flatMap(({ node, definition }) =>
    (node.arguments ?? []).filter(
      ({ name }) => !definition?.args.some((arg) => arg.name === name.value && isRequiredArgument(arg)),
    ),
  );
  return given.length === 0
    ? undefined
    : { ...place, document: replaced(place.document, place.dice.pick(given), null) };
}

function withOtherValue(place: Place): Varied | undefined {
  const { dice, values } = place;
  if (values.length === 0) return undefined;
  const { node, type, name } = dice.pick(values);
  return {
    ...place,
    document: replaced(place.document, node, parseValue(valueText(name, type, place), { noLocation: true })),
  };
}

/** Adds a list to an object's selection, mostly with a page size that is rejected. */
function withRefusedList(place: Place): Varied | undefined {
  const { dice } = place;
  const open = place.sets.flatMap(({ node, type, isInList }) =>
    listsOf(type).map((list) => ({ node, list, isInList })),
  );
  const nested = open.filter(({ isInList }) => isInList);
  if (open.length === 0) return undefined;
  const { node, list } = dice.pick(nested.length > 0 && dice.percent(70) ? nested : open);
  const name = dice.pick(['first', 'after']);
  const field: FieldNode = {
    kind: Kind.FIELD,
    name: named(list.name),
    ...(dice.percent(70) && { alias: named(place.fresh('list')) }),
    arguments: [
      {
        kind: Kind.ARGUMENT,
        name: named(name),
        value: parseValue(valueText(name, GraphQLString, place), { noLocation: true }),
      },
    ],
    selectionSet: setOf([{ kind: Kind.FIELD, name: named(dice.pick(['totalCount', '__typename'])) }]),
  };
  return withSelections(place, node, inserted(node.selections, field, dice));
}

function listsOf(type: GraphQLCompositeType): GraphQLField<unknown, unknown>[] {
  if (!isObjectType(type) || type === schema.getQueryType()) return [];
  return Object.values(type.getFields()).filter(({ args }) => args.some(({ name }) => name === 'first'));
}

const FILTERS = [
  '{}',
  'null',
  '{ search: "" }',
  '{ search: "roof", status: OPEN }',
  '{ near: { zipCode: "78701", withinMiles: -1 } }',
  '{ status: DRAFT, urgency: URGENT }',
  '{ near: { zipCode: "x", withinMiles: 5 } }',
  '{ homeownerId: "hmw_nobody" }',
  '{ category: null }',
  '{ categories: ["roofing", "plumbing"], budgetMin: 0 }',
  '{ categories: [], budgetMin: 2, budgetMax: 1e999 }',
  '{ near: { zipCode: "78701", withinMiles: 1e999 } }',
];

/** Mostly of the right type, but often a value that the operation rejects. */
function valueText(name: string, type: GraphQLInputType, { dice, stock }: Pick<Place, 'dice' | 'stock'>): string {
  const inner = getNamedType(type);
  if (name === 'first') return dice.pick(['0', '0', '-1', '101', '1', '2', '3', '100', 'null', '2147483648']);
  if (name === 'after')
    return dice.pick(['"nonsense"', '""', '"W10"', 'null', JSON.stringify(stock.cursor(ANY_LIST, dice) ?? '')]);
  if (name === 'filter') return dice.pick(FILTERS);
  if (isEnumType(inner)) return dice.pick([...inner.getValues().map((value) => value.name), 'null']);
  return dice
    .pick(VALUES_BY_TYPE[inner.name] ?? ['null', '{}'])
    .replace('$JOB', stock.any(dice).id)
    .replace('$USER', stock.people.owner.userId);
}

const VALUES_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  ID: ['"$JOB"', '"$USER"', '"job_000000000000000000000000000"', '"nonsense"', '""', '5', 'null', '"tim_0"'],
  String: ['""', '"x"', '"$JOB"', 'null', `"${'x'.repeat(201)}"`, '"""\n  two\n    lines\n"""', '"\\u0000"'],
  Int: ['0', '-1', '1', '7', '2147483647', '2147483648', 'null'],
  Float: ['0', '-0.01', '1.5', '1e999', '3', 'null', '0.001'],
  Boolean: ['true', 'false', 'null'],
  Date: ['"2030-01-01"', '"2030-02-30"', '5', 'null', '{ a: [1, null, X] }'],
};

function shuffled(place: Place): Varied {
  const { dice, sets } = place;
  const { node } = dice.pick(sets);
  const { before, chosen, after } = neighbours(node, dice);
  return withSelections(place, node, [...after, ...chosen.toReversed(), ...before]);
}

/** Adds a second operation, either a copy of the first or a different one. To run either, the caller must name it. */
function withAnotherOperation(place: Place): Varied | undefined {
  const { dice, document } = place;
  const [first] = operationsIn(document);
  if (!first) return undefined;
  const original: OperationDefinitionNode = { ...first, name: first.name ?? named('First') };
  const like: OperationDefinitionNode = { ...structuredClone(first), name: named('Second') };
  const own: OperationDefinitionNode = {
    kind: Kind.OPERATION_DEFINITION,
    operation: OperationTypeNode.QUERY,
    name: named('Second'),
    selectionSet: setOf([{ kind: Kind.FIELD, name: named('__typename') }]),
  };
  return withDefinitions({ ...place, document: replaced(document, first, original) }, [dice.percent(60) ? like : own]);
}

/** Replaces one of its names with another, which may not exist. */
function misspelt({ document, variables }: Varied, dice: Dice): Varied {
  const names: NameNode[] = [];
  visit(document, { Name: (node) => void names.push(node) });
  return {
    variables,
    document: replaced(
      document,
      dice.pick(names),
      named(dice.pick(['id', 'jobz', 'Job', 'first', '__schema', '__type', 'constructor', 'v0'])),
    ),
  };
}
