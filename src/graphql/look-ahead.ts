/**
 * Finds the parts of jobs that a selection needs, to read them in the jobs' own statement. A resolver reads any part
 * that isn't found here.
 */
import {
  Kind,
  type FieldNode,
  type GraphQLResolveInfo,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { WARNED_FIELDS } from '../market/operations/jobs/read.js';
import { PAGE } from '../platform/caller-limits.js';
import type { JobInclude } from '../market/store/jobs/job-parts.js';
import type { PersonFields } from '../market/store/people/people.js';

export function includeOfJob(info: GraphQLResolveInfo): JobInclude {
  return memoize(info, (reading) => includeIn(inside(info.fieldNodes, reading), reading));
}

export function includeOfJobs(info: GraphQLResolveInfo): JobInclude {
  return memoize(info, (reading) => {
    const connection = inside(info.fieldNodes, reading);
    const include = includeIn(entriesOf(connection, reading), reading);
    return selectsTotal(connection) ? { ...include, total: true } : include;
  });
}

/** True if the selection includes the connection's total. */
export function needsTotal(info: GraphQLResolveInfo): boolean {
  return selectsTotal(inside(info.fieldNodes, new Reading(info)));
}

/** True if the field selects the time until which each action is possible. */
export function selectsUntil(info: GraphQLResolveInfo): boolean {
  return withName(inside(info.fieldNodes, new Reading(info)), 'until').length > 0;
}

/** Entries live as long as their documents. A selection that depends on variables isn't cached. */
const includes = new WeakMap<readonly FieldNode[], JobInclude>();

function memoize(info: GraphQLResolveInfo, read: (reading: Reading) => JobInclude): JobInclude {
  const cachedInclude = includes.get(info.fieldNodes);
  if (cachedInclude) return cachedInclude;
  const reading = new Reading(info);
  const include = read(reading);
  if (!reading.usesVariables) includes.set(info.fieldNodes, include);
  return include;
}

/** Reads one document, and records whether it used a variable. */
class Reading {
  usesVariables = false;
  readonly fragments: GraphQLResolveInfo['fragments'];

  constructor(private readonly info: GraphQLResolveInfo) {
    this.fragments = info.fragments;
  }

  variable(name: string): unknown {
    this.usesVariables = true;
    return this.info.variableValues[name];
  }
}

function includeIn(fields: readonly FieldNode[], reading: Reading): JobInclude {
  const names = namesOf(fields);
  const has = (name: string) => names.includes(name);
  const insideOf = (name: string) => inside(withName(fields, name), reading);
  const bids = firstPageOf(withName(fields, 'bids'), reading);
  const timeline = firstPageOf(withName(fields, 'timeline'), reading);
  return {
    // The available actions depend on all of a job's fields.
    ...(!has('availableActions') && { job: has('warnings') ? [...names, ...WARNED_FIELDS] : names }),
    ...(has('homeowner') && { homeowner: personIn(insideOf('homeowner'), reading) }),
    ...(has('myBid') && { ownBid: bidIn(insideOf('myBid'), reading) }),
    ...(has('awardedBid') && { awardedBid: bidIn(insideOf('awardedBid'), reading) }),
    ...(bids && { bids: { ...bids, ...bidIn(entriesOf(insideOf('bids'), reading), reading) } }),
    ...(timeline && { timeline }),
    ...(has('dispute') && { dispute: true }),
    ...(has('availableActions') && { facts: true }),
    ...((has('upcoming') || namesOf(insideOf('availableActions')).includes('until')) && { timers: true }),
  };
}

/** Sorted, so the same fields make the same statement in any order. */
function namesOf(fields: readonly FieldNode[]): readonly string[] {
  return [...new Set(fields.map(({ name }) => name.value))].toSorted();
}

function personIn(fields: readonly FieldNode[], reading: Reading): PersonFields {
  return { user: namesOf(inside(withName(fields, 'user'), reading)), profile: namesOf(fields) };
}

function bidIn(fields: readonly FieldNode[], reading: Reading): NonNullable<JobInclude['ownBid']> {
  const contractors = withName(fields, 'contractor');
  return {
    fields: namesOf(fields),
    ...(contractors.length > 0 && { bidder: personIn(inside(contractors, reading), reading) }),
  };
}

function firstPageOf(lists: readonly FieldNode[], reading: Reading): JobInclude['timeline'] {
  const size = lists.map((list) => firstPageSize(list, reading)).find((first) => first !== undefined);
  return size === undefined ? undefined : { size, total: selectsTotal(inside(lists, reading)) };
}

const TOTALS = ['totalCount', 'totalCountCapped'];

function selectsTotal(connection: readonly FieldNode[]): boolean {
  return TOTALS.some((name) => withName(connection, name).length > 0);
}

function entriesOf(connection: readonly FieldNode[], reading: Reading): FieldNode[] {
  const edges = inside(withName(connection, 'edges'), reading);
  return inside([...withName(connection, 'nodes'), ...withName(edges, 'node')], reading);
}

/** Undefined for another page, a filtered list, or invalid arguments. */
function firstPageSize({ arguments: args = [] }: FieldNode, reading: Reading): number | undefined {
  const values = new Map(args.map(({ name, value }) => [name.value, valueOf(value, reading)]));
  if (['after', 'last', 'before', 'status'].some((name) => values.get(name) != null)) return undefined;
  const first = values.get('first') ?? PAGE.perPageDefault;
  return typeof first === 'number' && Number.isInteger(first) && first >= 1 && first <= PAGE.perPageMax
    ? first
    : undefined;
}

function valueOf(node: ValueNode, reading: Reading): unknown {
  if (node.kind === Kind.VARIABLE) return reading.variable(node.name.value);
  if (node.kind === Kind.NULL) return null;
  return node.kind === Kind.INT ? Number(node.value) : node;
}

function withName(fields: readonly FieldNode[], name: string): FieldNode[] {
  return fields.filter((field) => field.name.value === name);
}

/** The fields selected in these fields, directly or through fragments. */
function inside(fields: readonly FieldNode[], reading: Reading): FieldNode[] {
  const innerFields: FieldNode[] = [];
  for (const { selectionSet } of fields) if (selectionSet) gather(selectionSet, reading, innerFields);
  return innerFields;
}

function gather({ selections }: SelectionSetNode, reading: Reading, innerFields: FieldNode[]): void {
  for (const selection of selections) {
    if (!isIncluded(selection, reading)) continue;
    if (selection.kind === Kind.FIELD) innerFields.push(selection);
    else {
      const set =
        selection.kind === Kind.INLINE_FRAGMENT
          ? selection.selectionSet
          : reading.fragments[selection.name.value]?.selectionSet;
      if (set) gather(set, reading, innerFields);
    }
  }
}

function isIncluded({ directives = [] }: SelectionNode, reading: Reading): boolean {
  return directives.every(({ name: { value: name }, arguments: [condition] = [] }) => {
    if (!condition || (name !== 'skip' && name !== 'include')) return true;
    const value = condition.value.kind === Kind.BOOLEAN ? condition.value.value : valueOf(condition.value, reading);
    return value !== (name === 'skip');
  });
}
