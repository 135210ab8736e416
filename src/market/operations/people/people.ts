/** The inputs for a person's own fields at signup and in profile edits. */
import { redact } from '../../rules/reading/redaction.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../../rules/entities/people.js';
import { refuse } from '../../rules/errors.js';
import type { Refusal } from '../../../platform/errors.js';
import { relationsToPerson } from '../../rules/reading/readers.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Contractor, User } from '../../store/accounts/accounts.js';
import type { ReadableContractor } from '../../store/people/people.js';
import { writtenInputs } from '../../../platform/fields/entity.js';

export function emailTaken(): Refusal {
  return refuse('EMAIL_TAKEN', { fields: { email: 'already belongs to an account' } });
}

export const userInputs = writtenInputs(USER);
export const homeownerInputs = writtenInputs(HOMEOWNER);

const contractorFields = writtenInputs(CONTRACTOR);

/** Null clears a list, just as it clears any other field. */
export const contractorInputs = {
  ...contractorFields,
  serviceAreas: listOrNone(contractorFields.serviceAreas),
  specialties: listOrNone(contractorFields.specialties),
};

function listOrNone(list: typeof contractorFields.serviceAreas) {
  return list.nullable().transform((values) => (values === null ? [] : values));
}

/** `isClient` is true if the contractor has bid on one of the viewer's jobs. */
export function readableContractor(viewer: Viewer, contractor: Contractor, isClient = false): ReadableContractor {
  return redact('contractor', contractor, () => relationsToPerson(viewer, contractor.userId, { client: isClient }));
}

/** Fields that only admins can read are null. */
export function readableByOneself(user: User): User {
  return redact('user', user, () => relationsToPerson({ userId: user.id, role: user.userType }, user.id, {})) as User;
}
