/** Contractors save searches. When a matching job is published, they get the event. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalidField } from '../../../platform/call/validation.js';
import { pageRequest, pageShape } from '../../../platform/call/paging.js';
import { mapPage, type Page } from '../../../platform/db/pages/page.js';
import { pipelined, type Db } from '../../../platform/db/database.js';
import { settledFields, type ShownRow } from '../../../platform/fields/entity.js';
import { changedReadOnly, readOnly } from '../../../platform/fields/read-only.js';
import { withRule } from '../../../platform/fields/shapes.js';
import { requiredText } from '../../../platform/fields/values.js';
import { SAVED_SEARCH } from '../../rules/entities/saved-search.js';
import { refuse } from '../../rules/errors.js';
import { idInPath } from '../../rules/id-fields.js';
import type { ContractorId, SavedSearchId } from '../../rules/ids.js';
import { NEAR_MILES_MAX, SAVED_SEARCHES, SEARCHED_CATEGORIES_MAX, TEXT } from '../../rules/market-limits.js';
import type { Viewer } from '../../rules/viewer.js';
import { newId } from '../../store/new-id.js';
import {
  allowMatchEmails,
  countSavedSearches,
  deleteSavedSearch as deleteRow,
  FILTER_COLUMNS,
  insertSavedSearch,
  listSavedSearches as searchesNewestFirst,
  lockSavedSearch,
  selectSavedSearch,
  updateSavedSearch as updateRow,
  type SavedSearchRow,
  type WrittenSearch,
} from '../../store/searches/saved-searches.js';
import { holdPositions } from '../../store/events/positions.js';
import { waitForMatches } from '../../store/searches/matches.js';
import { waitForMatching } from '../../store/webhooks/webhooks.js';
import { lockOwnAccount } from '../accounts/own-account.js';
import { operation } from '../operation.js';
import { COMPARED, contradictionsInSearch, searchFields } from '../jobs/search-fields.js';
import { nearInputs, placeAround } from '../places/near.js';

const NEWEST_FIRST = ['time', 'text'] as const;

export type SavedSearch = ShownRow<typeof SAVED_SEARCH>;

const { name, alert } = SAVED_SEARCH.schema.shape;

const filter = withRule(
  z.strictObject({
    ...searchFields,
    // An empty list restricts nothing, as in the search that a client has read.
    categories: z
      .array(requiredText(TEXT.kind))
      .max(SEARCHED_CATEGORIES_MAX)
      .nullish()
      .describe('Only jobs in one of these trades.'),
    // A search has no order, so no order limits the distance.
    near: nearInputs('jobs', NEAR_MILES_MAX.jobs).place.nullish().describe('Only jobs near a place.'),
  }),
  COMPARED,
  contradictionsInSearch,
);
type Filter = z.output<typeof filter>;

const FIELDS = {
  name: name.describe('A name for the search, such as `Plumbing in Austin`.'),
  filter: filter.describe('The jobs to find. Requires a category, a place, or a `search` of at least 3 characters.'),
  alert: alert.describe('When to email you about a match: `now`, `daily` (in the digest), or `off`.'),
};

function problemsIn({ filter: wanted }: { filter?: Filter | null | undefined }): Record<string, string> {
  if (!wanted) return {};
  const { categories, near, search } = wanted;
  const isNarrow =
    (categories?.length ?? 0) > 0 || near != null || [...(search ?? '')].length >= SAVED_SEARCHES.textMin;
  return isNarrow
    ? {}
    : { filter: `must have a category, a place, or search text of at least ${SAVED_SEARCHES.textMin} characters` };
}

export const createSavedSearch = operation({
  name: 'createSavedSearch',
  description:
    'Saves a search. When a matching job is published, you get the event `job.published` in `myEvents`, in your ' +
    'notifications, from your webhooks, and by email if `alert` says so.',
  allows: ['contractor'],
  budget: 'write',
  input: withRule(z.strictObject(FIELDS), ['filter'], problemsIn),
  async run({ db, viewer, caller }, input): Promise<SavedSearch> {
    const { userId, contractorId } = viewer;
    const written = { name: input.name, alert: input.alert, ...(await columnsOf(input.filter)) };
    return db.inTransaction(async (tx) => {
      await lockOwnAccount(tx, viewer);
      const [total] = await countSavedSearches(tx, { contractorId });
      if ((total?.count ?? 0) >= SAVED_SEARCHES.perPerson) throw tooMany();
      // The caller's other calls may hold these rows. While this call holds the positions, it must not wait for them.
      await pipelined(
        waitForMatching(tx, { userId }),
        ...(input.alert === 'off' ? [] : [allowMatchEmails(tx, { userId })]),
      );
      const [, [row]] = await tx.commitWith(
        unlessDryRun(caller, () => holdPositions(tx, {})),
        insertSavedSearch(tx, { id: newId('savedSearch'), contractorId, ...written }),
      );
      if (!row) throw new Error('A new saved search could not be read back.');
      return shown(row);
    });
  },
});

/** A dry run lasts as long as its response takes, and is rolled back. Everybody else would have to wait for it. */
function unlessDryRun({ dryRun }: { readonly dryRun: unknown }, hold: () => Promise<unknown>): Promise<unknown> {
  return dryRun ? Promise.resolve() : hold();
}

async function columnsOf(wanted: Filter): Promise<Omit<WrittenSearch, 'name' | 'alert'>> {
  const { search = null, categories, urgency = null, budgetMin = null, budgetMax = null, near } = wanted;
  const around = await placeAround({ near }, 'filter.');
  return {
    search,
    categories: [...new Set(categories)],
    urgency,
    budgetMin,
    budgetMax,
    nearZip: near?.zipCode ?? null,
    nearCity: near?.city ?? null,
    nearState: near?.state ?? null,
    withinMiles: around?.miles ?? null,
    latitude: around?.latitude ?? null,
    longitude: around?.longitude ?? null,
  };
}

function shown(row: SavedSearchRow): SavedSearch {
  const { id, name, alert, createdAt, updatedAt, search, categories, urgency, budgetMin, budgetMax } = row;
  const { nearZip: zipCode, nearCity: city, nearState: state, withinMiles } = row;
  const near = withinMiles === null ? null : { zipCode, city, state, withinMiles };
  return { id, name, filter: { search, categories, urgency, budgetMin, budgetMax, near }, alert, createdAt, updatedAt };
}

function tooMany() {
  return refuse('VALIDATION_FAILED', {
    message: `You have ${SAVED_SEARCHES.perPerson} saved searches, which is the maximum. Delete one first.`,
  });
}

export const listSavedSearches = operation({
  name: 'savedSearches',
  description: 'Lists your saved searches, newest first.',
  allows: ['contractor'],
  budget: 'read',
  input: z.strictObject(pageShape),
  async run({ db, viewer: { contractorId }, include }, input): Promise<Page<SavedSearch>> {
    return mapPage(await searchesNewestFirst(db, { contractorId }, pageRequest(input, NEWEST_FIRST, include)), shown);
  },
});

const id = idInPath('savedSearch').describe('The saved search.');

export const readSavedSearch = operation({
  name: 'savedSearch',
  description: 'Returns one of your saved searches.',
  allows: ['contractor'],
  budget: 'read',
  input: z.strictObject({ id }),
  run: ({ db, viewer }, input): Promise<SavedSearch> => findSavedSearch(db, viewer, input.id),
});

/** Refuses everyone but the owner. */
export async function findSavedSearch(db: Db, viewer: Viewer, search: SavedSearchId): Promise<SavedSearch> {
  const [row] = await selectSavedSearch(db, { id: search });
  return shown(ownRow(viewer.contractorId, row));
}

function ownRow<Row extends SavedSearchRow>(contractorId: ContractorId | null, row: Row | undefined): Row {
  if (!row) throw noSuchSearch();
  if (row.contractorId !== contractorId)
    throw refuse('FORBIDDEN', { message: 'This saved search belongs to another user.' });
  return row;
}

function noSuchSearch() {
  return refuse('NOT_FOUND', { message: 'Saved search not found.' });
}

const SETTLED_FIELDS = settledFields(SAVED_SEARCH).filter((field) => field !== 'id' && field !== 'filter');

export const updateSavedSearch = operation({
  name: 'updateSavedSearch',
  description:
    'Changes a saved search. Omitted fields are unchanged. A new filter replaces the entire old filter, and matches ' +
    'only jobs that are published after the change. Earlier matches stay.',
  allows: ['contractor'],
  budget: 'write',
  input: withRule(
    z.strictObject({
      id,
      name: FIELDS.name.nullish(),
      filter: FIELDS.filter.nullish(),
      alert: FIELDS.alert.nullish(),
      ...readOnly(SETTLED_FIELDS),
    }),
    ['filter'],
    problemsIn,
  ),
  async run({ db, viewer: { userId, contractorId }, caller }, { id: search, ...input }): Promise<SavedSearch> {
    const newFilter = input.filter && (await columnsOf(input.filter));
    return db.inTransaction(async (tx) => {
      const [locked] = await lockSavedSearch(tx, { id: search });
      const row = ownRow(contractorId, locked);
      for (const field of changedReadOnly(SETTLED_FIELDS, input, shown(row)))
        throw invalidField(field, 'is set by the service and can’t be changed');
      const newAlert = input.alert ?? row.alert;
      const written = { ...row, ...newFilter, name: input.name ?? row.name, alert: newAlert };
      const isFilterChanged = FILTER_COLUMNS.some((column) => !isDeepStrictEqual(written[column], row[column]));
      if (input.alert != null && newAlert !== 'off') await allowMatchEmails(tx, { userId });
      const [, [updated]] = await tx.commitWith(
        isFilterChanged ? unlessDryRun(caller, () => holdPositions(tx, {})) : Promise.resolve(),
        updateRow(tx, { ...written, isFilterChanged }),
      );
      if (!updated) throw noSuchSearch();
      return shown(updated);
    });
  },
});

export const deleteSavedSearch = operation({
  name: 'deleteSavedSearch',
  description: 'Deletes a saved search. Earlier matches stay.',
  allows: ['contractor'],
  budget: 'write',
  input: z.strictObject({ id }),
  async run({ db, viewer, caller }, { id: search }): Promise<SavedSearch> {
    const row = await findSavedSearch(db, viewer, search);
    return db.inTransaction(async (tx) => {
      // While another of the caller's calls holds the row, this call must not keep the matching waiting.
      if ((await lockSavedSearch(tx, { id: search })).length === 0) throw noSuchSearch();
      await tx.commitWith(
        unlessDryRun(caller, () => waitForMatches(tx, {})),
        deleteRow(tx, { id: search }),
      );
      return row;
    });
  },
});
