/** Reads contractors as other users see them. Admins can also verify them. */
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
  description: 'Returns a contractor’s profile with their completed jobs and ratings.',
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
  description: 'Removes a contractor’s verification. The reason is stored.',
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
    if (!contractor) throw refuse('NOT_FOUND', { message: 'Contractor not found.' });
    if (contractor.verified === verified) return readableContractor(viewer, contractor);
    const action = verified ? verifyContractor.name : unverifyContractor.name;
    const [[changed = contractor]] = await tx.commitWith(
      setVerified(tx, { id, verified }),
      recordAdminAction(tx, viewer, { action, subjectId: id, reason }),
    );
    return readableContractor(viewer, changed);
  });
}

const { place: nearPlace, fields: nearFields } = nearInputs('contractors', NEAR_MILES_MAX.contractors);

const FOUND_BY_DISTANCE =
  'Only service areas written as a ZIP code (`78704`) or as a city and state (`Austin, TX`) can match. The distance ' +
  'is measured to the center of the area.';

export const contractorFilter = z.strictObject({
  search: optionalText(TEXT.title).describe(
    'Only contractors whose name, company name, or bio contains this text, ignoring case.',
  ),
  specialty: optionalText(TEXT.listItem).describe('Only contractors with this specialty, ignoring case.'),
  serviceArea: optionalText(TEXT.listItem).describe(
    'Only contractors with exactly this service area, ignoring case. `Austin` doesn’t match `Austin, TX`.',
  ),
  verified: z.boolean().nullish().describe('If true, only verified contractors. If false, only the others.'),
  near: nearPlace.nullish().describe(`Only contractors with a service area near a place. ${FOUND_BY_DISTANCE}`),
});

/** The cursors of each order have a different length, so a cursor is invalid in any other order. */
const POSITIONS: Readonly<Record<ContractorOrder, PositionShape>> = {
  newest: ['time', 'text'],
  best_rated: ['number', 'number', 'text'],
  most_completed: ['number', 'number', 'number', 'text'],
  nearest: ['number', 'number', 'number', 'time', 'text'],
};

export type ContractorListItem = ReadableContractor & { readonly distance: number | null };

export const listContractors = operation({
  name: 'contractors',
  description: 'Lists contractors, newest first by default. Any logged-in user can search them.',
  allows: 'signed in',
  budget: 'read',
  input: withRule(
    z.strictObject({
      ...contractorFilter.shape,
      ...nearFields,
      orderBy: enumOf(CONTRACTOR_ORDERS, 'ContractorOrder')
        .nullish()
        .describe('The order of the list. The default is newest first. `nearest` requires a place.'),
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
