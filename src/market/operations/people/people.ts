/** The inputs for a person's own fields at signup and in profile edits, and the checks of the person's password. */
import { z } from 'zod';
import { redact } from '../../rules/reading/redaction.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../../rules/entities/people.js';
import { refuse, unauthorized } from '../../rules/errors.js';
import type { Refusal } from '../../../platform/errors.js';
import { PASSWORD_BYTES, TEXT } from '../../rules/market-limits.js';
import { relationsToPerson } from '../../rules/reading/readers.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Contractor, User } from '../../store/accounts/accounts.js';
import type { ReadableContractor } from '../../store/people/people.js';
import type { Call } from '../operation.js';
import { writtenInputs } from '../../../platform/fields/entity.js';

/** At login, a password that is longer than users can set is still accepted as input. It just doesn't match. */
export const passwordTried = z.string().max(TEXT.passwordTried, `must be at most ${TEXT.passwordTried} characters`);

export const password = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be valid Unicode without NUL characters')
  .refine((value) => {
    const bytes = Buffer.byteLength(value);
    return bytes >= PASSWORD_BYTES.min && bytes <= PASSWORD_BYTES.max;
  }, `must be ${PASSWORD_BYTES.min} to ${PASSWORD_BYTES.max} bytes long in UTF-8`)
  .meta({ format: 'password', maxLength: PASSWORD_BYTES.max });

/** The email must already be in lowercase, as it is in the database. */
export function isTheEmail(passwordText: string | undefined, email: string | undefined): boolean {
  return email !== undefined && passwordText?.trim().toLowerCase() === email;
}
export const IS_THE_EMAIL = 'must not be the email address itself';

/** bcrypt ignores all bytes after the 72nd. Without this check, a longer password with the right start would match. */
export async function passwordMatches(
  { services, caller }: Pick<Call<unknown>, 'services' | 'caller'>,
  password: string,
  hash: string | undefined,
): Promise<boolean> {
  const isSame = await services.passwords.matches(password, hash, caller.client);
  return isSame && Buffer.byteLength(password) <= PASSWORD_BYTES.max;
}

/**
 * Counts the attempt as a failure before the check. Otherwise, a thousand parallel guesses would all be checked before
 * the first one was counted. The count is refunded if the attempt succeeds or is refused before the check.
 */
export async function countingFailure<T>(caller: Call<unknown>['caller'], email: string, attempt: () => Promise<T>) {
  const failure = await caller.consume('logInFailuresPerAccount', email);
  try {
    const outcome = await attempt();
    if (outcome) await failure.refund();
    return outcome;
  } catch (error) {
    await failure.refund();
    throw error;
  }
}

export function wrongPassword(): Refusal {
  return unauthorized('INVALID_CREDENTIALS', 'wrong_credentials', 'The current password is wrong.');
}

export function emailTaken(): Refusal {
  return refuse('EMAIL_TAKEN', { fields: { email: 'already belongs to an account' } });
}

export const userShape = writtenInputs(USER);
export const homeownerShape = writtenInputs(HOMEOWNER);

const contractorFields = writtenInputs(CONTRACTOR);

/** Null clears a list, just as it clears any other field. */
export const contractorShape = {
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
