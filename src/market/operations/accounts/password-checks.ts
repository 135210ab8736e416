/** The rules for new passwords, and the checks of submitted passwords. */
import { z } from 'zod';
import type { Refusal } from '../../../platform/errors.js';
import { unauthorized } from '../../rules/errors.js';
import { PASSWORD_BYTES, TEXT } from '../../rules/market-limits.js';
import type { Call } from '../operation.js';

/** At login, a password that is longer than users can set is still accepted as input. It just doesn't match. */
export const passwordTried = z.string().max(TEXT.passwordTried, `must be at most ${TEXT.passwordTried} characters`);

export const newPassword = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be valid Unicode without NUL characters')
  .refine((value) => {
    const bytes = Buffer.byteLength(value);
    return bytes >= PASSWORD_BYTES.min && bytes <= PASSWORD_BYTES.max;
  }, `must be ${PASSWORD_BYTES.min} to ${PASSWORD_BYTES.max} bytes long in UTF-8`)
  .meta({ format: 'password', maxLength: PASSWORD_BYTES.max })
  .describe(
    `The new password: ${PASSWORD_BYTES.min} to ${PASSWORD_BYTES.max} bytes, and not the email address itself.`,
  );

/** The email must already be in lowercase, as it is in the database. */
export function isTheEmail(passwordText: string | undefined, email: string | undefined): boolean {
  return email !== undefined && passwordText?.trim().toLowerCase() === email;
}
export const NOT_THE_EMAIL = 'must not be the email address itself';

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
