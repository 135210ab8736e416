/** Contractors as other users see them, and their verification by admins. */
import { z } from 'zod';
import { CONTRACTOR_ORDERS, type ContractorOrder } from '../../rules/entities/people.js';
import { refuse } from '../../rules/errors.js';
import type { ContractorId } from '../../rules/ids.js';
import { NEAR_MILES_MAX, TEXT } from '../../rules/market-limits.js';
import { enumOf } from '../../../platform/fields/values.js';
import type { Viewer } from '../../rules/viewer.js';
import { lockContractor, setVerified } from '../../store/accounts/accounts.js';
import { recordAdminAction } from '../../store/accounts/admin-actions.js';
import { listContractors as contractorsInOrder } from '../../store/people/contractor-lists.js';
import { mapPage, type Page } from '../../../platform/db/pages/page.js';
import { areasAround, assertCanBeNearest, contradictionsInPlace, nearInputs, placeAround } from '../places/near.js';
import { optionalReason, requiredReason } from '../admins/admin-actions.js';
import { operation, type Call } from '../operation.js';
import { pageRequest, pageShape, type PositionShape } from '../../../platform/call/paging.js';
import { optionalText, withRule } from '../../../platform/fields/shapes.js';
import { idInPath } from '../../rules/id-fields.js';
import { findPerson } from './directory.js';
import type { ReadableContractor } from '../../store/people/people.js';
import { readableContractor } from './people.js';

const input = z.strictObject({ id: idInPath('contractor').describe('The contractor.') });

export const readContractor = operation({
  name: 'contractor',
  description: 'Reads a contractor’s profile with the record of completed jobs and ratings.',
  allows: 'signed in',
  budget: 'read',
  input,
  run: async (call, { id }): Promise<ReadableContractor> => (await findPerson(call, id, 'contractor')).part,
});

export const verifyContractor = operation({
  name: 'verifyContractor',
  description: 'Marks a contractor as verified.',
  allows: ['admin'],
  budget: 'write',
  input: z.strictObject({ ...input.shape, reason: optionalReason }),
  run: (call, input): Promise<ReadableContractor> => changeVerification(call, input, true),
});

export const unverifyContractor = operation({
  name: 'unverifyContractor',
  description: 'Takes a contractor’s verification back, with the reason kept.',
  allows: ['admin'],
  budget: 'write',
  input: z.strictObject({ ...input.shape, reason: requiredReason }),
  run: (call, input): Promise<ReadableContractor> => changeVerification(call, input, false),
});

function changeVerification(
  { db, viewer }: Call<Viewer>,
  { id, reason }: { readonly id: ContractorId; readonly reason?: string | null | undefined },
  verified: boolean,
): Promise<ReadableContractor> {
  return db.inTransaction(async (tx) => {
    const [contractor] = await lockContractor(tx, { id });
    if (!contractor) throw refuse('NOT_FOUND', { message: 'There is no such contractor.' });
    if (contractor.verified === verified) return readableContractor(viewer, contractor);
    const action = verified ? verifyContractor.name : unverifyContractor.name;
    const [[changed = contractor]] = await tx.commitWith(
      setVerified(tx, { id, verified }),
      recordAdminAction(tx, viewer, { action, subjectId: id, reason }),
    );
    return readableContractor(viewer, changed);
  });
}

const { place: nearPlace, fields: nearFields } = nearInputs('Contractors', NEAR_MILES_MAX.contractors);

const FOUND_BY_DISTANCE =
  'Service areas that are a postal code (`78704`) or a town with its state (`Austin, TX`) have a place, that of ' +
  'their centre; others are not found by distance.';

export const contractorFilter = z.strictObject({
  search: optionalText(TEXT.title).describe(
    'Text that the person’s name, the company’s name or its presentation of itself contains, whatever the case.',
  ),
  specialty: optionalText(TEXT.listItem).describe('Contractors who name this kind of work, whatever the case.'),
  serviceArea: optionalText(TEXT.listItem).describe(
    'Contractors of whose service areas this is one, as they wrote it, whatever the case: `Austin` is not ' +
      '`Austin, TX`.',
  ),
  verified: z.boolean().nullish().describe('Only those whom an admin has verified, or only the others.'),
  near: nearPlace.nullish().describe(`Contractors of whom a service area lies near a place. ${FOUND_BY_DISTANCE}`),
});

/**
 * The contents of a cursor for each order. Each has a different length, so one order's cursor is invalid for another.
 */
const POSITIONS: Readonly<Record<ContractorOrder, PositionShape>> = {
  newest: ['time', 'text'],
  best_rated: ['number', 'number', 'text'],
  most_completed: ['number', 'number', 'number', 'text'],
  nearest: ['number', 'number', 'number', 'time', 'text'],
};

/** A contractor in a list. */
export type ContractorListItem = ReadableContractor & { readonly distance: number | null };

export const listContractors = operation({
  name: 'contractors',
  description: 'Lists contractors, whom anyone signed in may look up. The newest come first by default.',
  allows: 'signed in',
  budget: 'read',
  input: withRule(
    z.strictObject({
      ...contractorFilter.shape,
      ...nearFields,
      orderBy: enumOf(CONTRACTOR_ORDERS, 'ContractorOrder')
        .nullish()
        .describe('Who comes first; the newest by default. By distance only with a place.'),
      ...pageShape,
    }),
    ['near', 'nearZip', 'nearCity', 'nearState', 'withinMiles'],
    ({ near, ...rest }) => contradictionsInPlace(near, rest),
  ),
  async run({ db, viewer, include }, { orderBy, ...input }): Promise<Page<ContractorListItem>> {
    const order = orderBy ?? 'newest';
    const around = await placeAround(input);
    if (order === 'nearest') assertCanBeNearest(input, around);
    const request = pageRequest(input, POSITIONS[order], include);
    const near = around && (await areasAround(around));
    const page = await contractorsInOrder(db, viewer, Object.assign({}, input, { near }), order, request);
    return mapPage(page, ({ contractor, client, tenths }) =>
      Object.assign(readableContractor(viewer, contractor, client), { distance: tenths === null ? null : tenths / 10 }),
    );
  },
});
