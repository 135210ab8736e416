/**
 * Measures a valid document in one walk. Selections that a directive may skip count for every limit except the cost. An
 * operation is measured once for all variables.
 */
import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isUnionType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { COST_BYTES } from '../../caller-limits.js';
import { conditionsIn, costOf, pageLengthOf, type Condition, type FieldCost, type TextCharacters } from './cost.js';
import { limitErrorsIn, refusalError } from './refusals.js';

export interface Measure {
  readonly refusals: readonly GraphQLError[];
  /** The mutations that the operation calls, once per response name. */
  readonly mutations: readonly string[];
  cost(variables: Readonly<Record<string, unknown>>): number;
}

interface Part {
  readonly selectionSet: SelectionSetNode;
  readonly parent: GraphQLCompositeType;
  readonly conditions: readonly Condition[];
}

interface Selection {
  readonly field: FieldNode;
  readonly parent: GraphQLCompositeType;
  readonly conditions: readonly Condition[];
}

interface Level {
  /** The limit for this level. Introspection has its own. */
  readonly limit: 'depth' | 'introspectionDepth';
  readonly number: number;
}

const INTROSPECTION = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]));

export interface Measured {
  readonly schema: GraphQLSchema;
  readonly texts: TextCharacters;
  /** The assumed length of a list without `first`: the length of the longest one. */
  readonly unpagedListEntries: number;
  readonly entries: ReadonlySet<string>;
}

interface DocumentCounts {
  readonly directives: Set<DirectiveNode>;
  nameCharacters: number;
}

/**
 * Measures the requested operation, and checks every operation's limits. This walk is short: a valid document has no
 * cycles and few selections, even if each use of a fragment counts.
 */
export function measureOperation(
  measured: Measured,
  document: DocumentNode,
  requested: OperationDefinitionNode,
): Measure {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const others: OperationDefinitionNode[] = [];
  for (const one of document.definitions)
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
    else if (one.kind === Kind.OPERATION_DEFINITION && one !== requested) others.push(one);
  const names = namesIn(document).map(({ value }) => value.length);
  const counts = { directives: new Set<DirectiveNode>(), nameCharacters: Math.max(0, ...names) };
  const measure = walk(requested, measured, fragments, counts);
  const errors = [measure, ...others.map((one) => walk(one, measured, fragments, counts))].flatMap(
    (one) => one.refusals,
  );
  const { nameCharacters, directives } = counts;
  const ofDocument = limitErrorsIn({ nameCharacters, directives: directives.size }, document);
  return { ...measure, refusals: ofDocument.length > 0 ? ofDocument : errors };
}

function walk(
  operation: OperationDefinitionNode,
  { schema, texts, unpagedListEntries, entries: allEntries }: Measured,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ofDocument: DocumentCounts,
): Measure {
  const counts = { aliases: 0, depth: 0, introspectionDepth: 0, introspectionAliases: 0, repeats: 0 };
  const root: Level = { limit: 'depth', number: 1 };
  const parent = schema.getRootType(operation.operation) as GraphQLObjectType;
  const fields = mergeFields([{ selectionSet: operation.selectionSet, parent, conditions: [] }], root);
  const costs = fields.flatMap((selections) => measureField(selections, root));
  const mutations = operation.operation === 'mutation' ? fields.flatMap(callIn) : [];
  const entries = mutations.filter((name) => allEntries.has(name)).length;
  const refusals = [
    ...limitErrorsIn({ ...counts, rootMutations: mutations.length, entries }, operation),
    ...(operation.operation === 'subscription' ? conditionErrorsIn(fields) : []),
  ];
  return { refusals, mutations, cost: costOf(costs, operation) };

  /** Merges the fields of these sets and their fragments by response name, like GraphQL. */
  function mergeFields(parts: readonly Part[], level: Level): Selection[][] {
    counts[level.limit] = Math.max(counts[level.limit], level.number);
    const selections = new Map<string, Selection[]>();
    for (const part of parts) gather(part, level, selections);
    const merged = [...selections.values()];
    for (const same of merged) counts.repeats += repeatsIn(same);
    return merged;
  }

  function gather({ selectionSet, parent, conditions: outer }: Part, level: Level, into: Map<string, Selection[]>) {
    for (const selection of selectionSet.selections) {
      const { directives = [] } = selection;
      for (const directive of directives) ofDocument.directives.add(directive);
      const conditions = directives.length > 0 ? [...outer, ...conditionsIn(directives)] : outer;
      if (selection.kind === Kind.FIELD) {
        countAlias(selection, level);
        const key = `${parent.name} ${(selection.alias ?? selection.name).value}`;
        const before = into.get(key);
        if (before) before.push({ field: selection, parent, conditions });
        else into.set(key, [{ field: selection, parent, conditions }]);
      } else {
        const inner = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
        const type = schema.getType(inner?.typeCondition?.name.value ?? parent.name);
        if (inner && isCompositeType(type)) gather({ ...inner, parent: type, conditions }, level, into);
      }
    }
  }

  function countAlias({ alias, name }: FieldNode, { limit }: Level): void {
    if (!alias) return;
    ofDocument.nameCharacters = Math.max(ofDocument.nameCharacters, alias.value.length);
    counts.aliases += 1;
    if (limit === 'introspectionDepth' || INTROSPECTION.has(name.value)) counts.introspectionAliases += 1;
  }

  /** Measures a merged field and everything below it. Returns its cost, if any. */
  function measureField(merged: readonly Selection[], level: Level): FieldCost[] {
    const [{ field, parent }] = merged as [Selection];
    const introspection = INTROSPECTION.get(field.name.value);
    const definition = introspection ?? (isUnionType(parent) ? undefined : parent.getFields()[field.name.value]);
    const selections = merged.map(({ conditions }) => conditions);
    const renamed = field.alias ? COST_BYTES.renamedField : 0;
    // Only `__typename` isn't among its type's fields.
    if (!definition) return costOfValue(renamed, selections);
    const type = getNamedType(definition.type);
    if (!isCompositeType(type)) {
      const characters = texts[parent.name]?.[definition.name] ?? 0;
      return costOfValue(characters * COST_BYTES.textCharacter + renamed, selections);
    }
    const parts = merged.flatMap(({ field: { selectionSet }, conditions }) =>
      selectionSet ? [{ selectionSet, parent: type, conditions }] : [],
    );
    const below: Level = introspection
      ? { limit: 'introspectionDepth', number: 2 }
      : { ...level, number: level.number + 1 };
    const fields = mergeFields(parts, below).flatMap((inner) => measureField(inner, below));
    // Introspection has its own limits.
    if (below.limit === 'introspectionDepth') return [];
    if (type.name.endsWith('Connection'))
      return [{ times: pageLengthOf(field), own: 0, least: COST_BYTES.point, fields, selections }];
    if (isPartOfPage(type) || type.name === 'PageInfo')
      return [{ times: 1, own: renamed, least: 0, fields, selections }];
    // The connection has already counted its nodes.
    const isList = isListType(getNullableType(definition.type)) && !isPartOfPage(parent);
    return [{ times: isList ? unpagedListEntries : 1, own: COST_BYTES.point, least: 0, fields, selections }];
  }
}

function costOfValue(own: number, selections: FieldCost['selections']): FieldCost[] {
  return own === 0 ? [] : [{ times: 1, own, least: 0, fields: [], selections }];
}

/** All names that a client chooses, except aliases. */
function namesIn({ definitions }: DocumentNode): NameNode[] {
  return definitions.flatMap((one) => {
    if (one.kind !== Kind.OPERATION_DEFINITION && one.kind !== Kind.FRAGMENT_DEFINITION) return [];
    return [one.name ?? [], (one.variableDefinitions ?? []).map(({ variable }) => variable.name)].flat();
  });
}

/** Selections with the same response name are one call. `__typename` isn't a call. */
function callIn([selection]: readonly Selection[]): string[] {
  const name = selection?.field.name.value;
  return name === undefined || name === '__typename' ? [] : [name];
}

function isPartOfPage({ name }: GraphQLCompositeType): boolean {
  return name.endsWith('Connection') || name.endsWith('Edge');
}

/** Printing this many characters of arguments takes as long as comparing two fields without arguments (measured). */
const ARGUMENT_CHARACTERS_LIKE_A_FIELD = 5;

/** GraphQL compares all selections with the same name, and prints both sides' arguments. */
function repeatsIn(selections: readonly Selection[]): number {
  if (selections.length === 1) return 0;
  const characters = selections
    .flatMap(({ field }) => field.arguments ?? [])
    .reduce((total, { loc }) => total + (loc ? loc.end - loc.start : 0), 0);
  const weight = selections.length + characters / ARGUMENT_CHARACTERS_LIKE_A_FIELD;
  return Math.ceil(((selections.length - 1) / 2) * weight);
}

/** A directive could omit all of a subscription's fields. graphql-js fails on an empty subscription. */
function conditionErrorsIn(fields: readonly (readonly Selection[])[]): GraphQLError[] {
  const [condition] = fields.flat().flatMap(({ conditions }) => conditions);
  return condition ? [refusalError(UNCONDITIONAL, condition.directive)] : [];
}

export const UNCONDITIONAL =
  'A subscription’s field can’t have @skip or @include. The fields that are selected from its events can.';
