/**
 * Finds which parts of the jobs a selection needs, so that they are read in the same statement as the jobs. It may miss
 * a part: the part's own resolver then reads it. `JOB_PARTS` of `operations/jobs/include.ts` lists the parts of a job
 * and how each is included; this file only maps fields of GraphQL to parts.
 */
import {
  Kind,
  type FieldNode,
  type GraphQLResolveInfo,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { JOB_PARTS, type PartName } from '../operations/jobs/include.js';
import { PAGE } from '../rules/limits.js';
import type { JobInclude } from '../store/job-include.js';
import type { PersonFields } from '../store/people.js';

/** For a field that answers one job. */
export function includeOfJob(info: GraphQLResolveInfo): JobInclude {
  return included(info, (reading) => includeIn(inside(info.fieldNodes, reading), reading));
}

/** For a field that answers a connection of jobs. */
export function includeOfJobs(info: GraphQLResolveInfo): JobInclude {
  return included(info, (reading) => {
    const connection = inside(info.fieldNodes, reading);
    const wanted = includeIn(entriesOf(connection, reading), reading);
    return named(connection, 'totalCount').length > 0 ? Object.assign(wanted, { total: true } as const) : wanted;
  });
}

/** The result for these fields; kept as long as the document where it does not depend on variables. */
const known = new WeakMap<readonly FieldNode[], JobInclude>();

function included(info: GraphQLResolveInfo, read: (reading: Reading) => JobInclude): JobInclude {
  const before = known.get(info.fieldNodes);
  if (before) return before;
  const reading = new Reading(info);
  const include = read(reading);
  if (!reading.asked) known.set(info.fieldNodes, include);
  return include;
}

/** A document being read; it records whether a variable was used. */
class Reading {
  asked = false;
  readonly fragments: GraphQLResolveInfo['fragments'];

  constructor(private readonly info: GraphQLResolveInfo) {
    this.fragments = info.fragments;
  }

  variable(name: string): unknown {
    this.asked = true;
    return this.info.variableValues[name];
  }
}

type Wanted = { -readonly [Part in keyof JobInclude]: JobInclude[Part] };

function includeIn(fields: readonly FieldNode[], reading: Reading): JobInclude {
  const wanted: Wanted = {};
  for (const field of fields) {
    const part = PART_OF_FIELD[field.name.value];
    if (part) addPart(part, wanted, field, reading);
  }
  const homeowners = named(fields, 'homeowner');
  if (homeowners.length > 0) wanted.homeowner = personIn(inside(homeowners, reading), reading);
  const names = namesOf(fields);
  // The available actions depend on the whole job.
  if (!names.includes('availableActions')) wanted.job = names;
  return wanted;
}

/** Sorted, so that the same fields make the same statement whatever their order in the document. */
function namesOf(fields: readonly FieldNode[], also: readonly string[] = []): readonly string[] {
  return [...new Set([...also, ...fields.map(({ name }) => name.value)])].toSorted();
}

/** A profile's own fields, and those of the account behind it. */
function personIn(
  fields: readonly FieldNode[],
  reading: Reading,
  also: PersonFields = { user: [], profile: [] },
): PersonFields {
  return { user: namesOf(inside(named(fields, 'user'), reading), also.user), profile: namesOf(fields, also.profile) };
}

/** The fields of a job that a part of it answers. */
const PART_OF_FIELD: Readonly<Record<string, PartName>> = {
  myBid: 'ownBids',
  awardedBid: 'awardedBid',
  bids: 'bids',
  timeline: 'timeline',
  dispute: 'dispute',
};

function addPart(name: PartName, wanted: Wanted, field: FieldNode, reading: Reading): void {
  const { include, total, hasBids } = JOB_PARTS[name];
  const selected = inside([field], reading);
  const size = total ? firstPage(field, reading) : 0;
  if (size === undefined) return;
  Object.assign(wanted, include(size));
  if (total && named(selected, 'totalCount').length > 0) wanted[total] = true;
  if (hasBids) addBids(wanted, total ? entriesOf(selected, reading) : selected, reading);
}

function addBids(wanted: Wanted, bidFields: readonly FieldNode[], reading: Reading): void {
  wanted.bid = namesOf(bidFields, wanted.bid);
  const contractors = named(bidFields, 'contractor');
  if (contractors.length > 0) wanted.bidders = personIn(inside(contractors, reading), reading, wanted.bidders);
}

/** The fields that are selected of a connection's nodes. */
function entriesOf(connection: readonly FieldNode[], reading: Reading): FieldNode[] {
  const edges = inside(named(connection, 'edges'), reading);
  return inside([...named(connection, 'nodes'), ...named(edges, 'node')], reading);
}

/**
 * The size of the first page; undefined for any other page, for a filtered list, and for arguments that will be
 * refused.
 */
function firstPage({ arguments: given = [] }: FieldNode, reading: Reading): number | undefined {
  const values = new Map(given.map(({ name, value }) => [name.value, valueOf(value, reading)]));
  if (values.get('after') != null || values.get('status') != null) return undefined;
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

function named(fields: readonly FieldNode[], name: string): FieldNode[] {
  return fields.filter((field) => field.name.value === name);
}

/** The fields that these sets and their fragments select. */
function inside(fields: readonly FieldNode[], reading: Reading): FieldNode[] {
  const found: FieldNode[] = [];
  for (const { selectionSet } of fields) if (selectionSet) gather(selectionSet, reading, found);
  return found;
}

function gather({ selections }: SelectionSetNode, reading: Reading, found: FieldNode[]): void {
  for (const selection of selections) {
    if (!isWanted(selection, reading)) continue;
    if (selection.kind === Kind.FIELD) found.push(selection);
    else {
      const set =
        selection.kind === Kind.INLINE_FRAGMENT
          ? selection.selectionSet
          : reading.fragments[selection.name.value]?.selectionSet;
      if (set) gather(set, reading, found);
    }
  }
}

function isWanted({ directives = [] }: SelectionNode, reading: Reading): boolean {
  return directives.every(({ name: { value: name }, arguments: [condition] = [] }) => {
    if (!condition || (name !== 'skip' && name !== 'include')) return true;
    const value = condition.value.kind === Kind.BOOLEAN ? condition.value.value : valueOf(condition.value, reading);
    return value !== (name === 'skip');
  });
}
