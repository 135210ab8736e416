/**
 * What a selection will want of the jobs that a field reads, so that it is read in the same statement. It may be wrong in
 * one direction only: whatever is not foreseen here is read by its own resolver when it is asked for.
 */
import { Kind, type FieldNode, type GraphQLResolveInfo, type SelectionNode, type SelectionSetNode, type ValueNode } from 'graphql';
import { PAGE } from '../rules/limits.js';
import type { PersonFields } from '../store/accounts.js';
import type { Beside } from '../store/beside.js';

/** For a field that answers one job. */
export function besideJob(info: GraphQLResolveInfo): Beside {
  return besideIn(inside(info.fieldNodes, info), info);
}

/** For a field that answers a connection of jobs. */
export function besideJobs(info: GraphQLResolveInfo): Beside {
  const connection = inside(info.fieldNodes, info);
  const edges = inside(named(connection, 'edges'), info);
  return besideIn(inside([...named(connection, 'nodes'), ...named(edges, 'node')], info), info);
}

type Wanted = { -readonly [Part in keyof Beside]: Beside[Part] };

function besideIn(fields: readonly FieldNode[], info: GraphQLResolveInfo): Beside {
  const wanted: Wanted = {};
  for (const field of fields) FORESEEN[field.name.value]?.(wanted, field, info);
  const names = namesOf(fields);
  // What may be done depends on the whole job.
  if (!names.includes('availableActions')) wanted.job = names;
  return wanted;
}

/** In one order, whatever the document's: the same fields are the same statement. */
function namesOf(fields: readonly FieldNode[], besides: readonly string[] = []): readonly string[] {
  return [...new Set([...besides, ...fields.map(({ name }) => name.value)])].toSorted();
}

/** A profile's own fields, and those of the account behind it. */
function personIn(fields: readonly FieldNode[], info: GraphQLResolveInfo, besides: PersonFields = { user: [], profile: [] }): PersonFields {
  return { user: namesOf(inside(named(fields, 'user'), info), besides.user), profile: namesOf(fields, besides.profile) };
}

/** Of each field of a job that needs more than the job, what that is. */
const FORESEEN: Readonly<Record<string, (wanted: Wanted, field: FieldNode, info: GraphQLResolveInfo) => void>> = {
  homeowner: (wanted, field, info) => void (wanted.homeowner = personIn(inside([field], info), info, wanted.homeowner)),
  myBid: (wanted, field, info) => {
    wanted.ownBids = true;
    foreseeBidders(wanted, inside([field], info), info);
  },
  availableActions: (wanted) => void (wanted.ownBids = true),
  awardedBid: (wanted, field, info) => {
    wanted.awardedBid = true;
    foreseeBidders(wanted, inside([field], info), info);
  },
  bids: (wanted, field, info) => {
    const size = firstPage(field, info);
    if (size === undefined) return;
    wanted.bids ??= size;
    const connection = inside([field], info);
    if (named(connection, 'totalCount').length > 0) wanted.bidsTotal = true;
    foreseeBidders(wanted, inside([...named(connection, 'nodes'), ...named(inside(named(connection, 'edges'), info), 'node')], info), info);
  },
  timeline: (wanted, field, info) => {
    const size = firstPage(field, info);
    if (size === undefined) return;
    wanted.events ??= size;
    if (named(inside([field], info), 'totalCount').length > 0) wanted.eventsTotal = true;
  },
  dispute: (wanted) => void (wanted.disputeEvents = true),
};

function foreseeBidders(wanted: Wanted, bidFields: readonly FieldNode[], info: GraphQLResolveInfo): void {
  const contractors = named(bidFields, 'contractor');
  if (contractors.length > 0) wanted.bidders = personIn(inside(contractors, info), info, wanted.bidders);
}

/** How long the first page is; undefined for any other page, for a filtered list, and for what will be refused. */
function firstPage({ arguments: given = [] }: FieldNode, info: GraphQLResolveInfo): number | undefined {
  const values = new Map(given.map(({ name, value }) => [name.value, valueOf(value, info)]));
  if (values.get('after') != null || values.get('status') != null) return undefined;
  const first = values.get('first') ?? PAGE.perPageDefault;
  return typeof first === 'number' && Number.isInteger(first) && first >= 1 && first <= PAGE.perPageMax ? first : undefined;
}

function valueOf(node: ValueNode, { variableValues }: GraphQLResolveInfo): unknown {
  if (node.kind === Kind.VARIABLE) return variableValues[node.name.value];
  if (node.kind === Kind.NULL) return null;
  return node.kind === Kind.INT ? Number(node.value) : node;
}

function named(fields: readonly FieldNode[], name: string): FieldNode[] {
  return fields.filter((field) => field.name.value === name);
}

/** The fields that these select, out of every fragment. */
function inside(fields: readonly FieldNode[], info: GraphQLResolveInfo): FieldNode[] {
  const found: FieldNode[] = [];
  for (const { selectionSet } of fields) if (selectionSet) gather(selectionSet, info, found);
  return found;
}

function gather({ selections }: SelectionSetNode, info: GraphQLResolveInfo, found: FieldNode[]): void {
  for (const selection of selections) {
    if (!isWanted(selection, info)) continue;
    if (selection.kind === Kind.FIELD) found.push(selection);
    else {
      const set = selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : info.fragments[selection.name.value]?.selectionSet;
      if (set) gather(set, info, found);
    }
  }
}

function isWanted({ directives = [] }: SelectionNode, info: GraphQLResolveInfo): boolean {
  return directives.every(({ name: { value: name }, arguments: [condition] = [] }) => {
    if (!condition || (name !== 'skip' && name !== 'include')) return true;
    const value = condition.value.kind === Kind.BOOLEAN ? condition.value.value : valueOf(condition.value, info);
    return value !== (name === 'skip');
  });
}
