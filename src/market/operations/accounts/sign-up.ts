/** Signs up homeowners and contractors. The account, profile, tokens, and first session are committed together. */
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { USER } from '../../rules/entities/people.js';
import { refuse } from '../../rules/errors.js';
import type { UserId } from '../../rules/ids.js';
import { REFERRAL_ALPHABET, REFERRAL_BONUS, REFERRAL_LENGTH, SIGNUP_BONUS } from '../../rules/tokens.js';
import {
  insertContractor,
  insertHomeowner,
  insertUser,
  selectIdByEmail,
  selectIdByReferralCode,
} from '../../store/accounts/accounts.js';
import { violatedConstraint } from '../../../platform/db/database-errors.js';
import type { Db } from '../../../platform/db/database.js';
import { moveTokens, openBalance } from '../../store/ledger/ledger.js';
import { newId } from '../../store/new-id.js';
import { openSession } from '../../store/sessions/sessions.js';
import { operation, type Call } from '../operation.js';
import { withRule } from '../../../platform/fields/shapes.js';
import { consumeRecipientLimit, enqueueMail } from './mails-and-links.js';
import { NOT_THE_EMAIL, isTheEmail, newPassword } from './password-checks.js';
import { contractorInputs, emailTaken, userInputs } from '../people/people.js';
import { sessionOf, type Session } from '../sessions/sessions.js';

const { email } = USER.fields;

const shape = {
  email: email.type.describe(email.description),
  password: newPassword,
  firstName: userInputs.firstName.unwrap(),
  lastName: userInputs.lastName.unwrap(),
  phone: userInputs.phone,
  referralCode: z
    .string()
    .nullish()
    .describe(`The referral code of the user who referred you. You both get ${REFERRAL_BONUS} tokens.`),
};

interface Credentials {
  readonly email?: string;
  readonly password?: string;
}

function signUpInput<Shape extends typeof shape & z.ZodRawShape>(fields: Shape) {
  return withRule(z.strictObject(fields), ['email', 'password'], (input: Credentials): Record<string, string> =>
    isTheEmail(input.password, input.email) ? { password: NOT_THE_EMAIL } : {},
  );
}

export const signUpHomeowner = operation({
  name: 'signUpHomeowner',
  description: `Creates a homeowner’s account, credits ${SIGNUP_BONUS.homeowner} tokens, and logs in.`,
  allows: 'anyone',
  budget: 'signUp',
  refusals: ['EMAIL_TAKEN', 'UNKNOWN_REFERRAL_CODE'],
  ignoresKeyAndDryRun: true,
  input: signUpInput(shape),
  run: (call, input) =>
    signUp(call, 'homeowner', input, async (tx, userId) => {
      const [homeowner] = await insertHomeowner(tx, { id: newId('homeowner'), userId });
      return { homeowner };
    }),
});

export const signUpContractor = operation({
  name: 'signUpContractor',
  description: `Creates a contractor’s account, credits ${SIGNUP_BONUS.contractor} tokens, and logs in.`,
  allows: 'anyone',
  budget: 'signUp',
  refusals: ['EMAIL_TAKEN', 'UNKNOWN_REFERRAL_CODE'],
  ignoresKeyAndDryRun: true,
  input: signUpInput({ ...shape, companyName: contractorInputs.companyName }),
  run: (call, input) =>
    signUp(call, 'contractor', input, async (tx, userId) => {
      const [contractor] = await insertContractor(tx, {
        id: newId('contractor'),
        userId,
        companyName: input.companyName ?? null,
      });
      return { contractor };
    }),
});

type SignUp = z.infer<z.ZodObject<typeof shape>>;
type Profile = Pick<Session, 'homeowner' | 'contractor'>;

async function signUp(
  call: Call<null>,
  userType: 'homeowner' | 'contractor',
  input: SignUp,
  insertProfile: (tx: Db, userId: UserId) => Promise<Profile>,
): Promise<Session> {
  const { db, services, caller } = call;
  const referrer = await findReferrer(db, input.referralCode);
  if ((await selectIdByEmail(db, { email: input.email })).length > 0) throw emailTaken();
  const passwordHash = await services.passwords.hash(input.password, caller.client);
  const id = newId('user');
  // The signup limit for each IP address also applies to these emails. If accounts keep signing up with one address and
  // moving away from it, the address gets no further emails.
  const confirmationSent =
    services.mail.isOn && (await consumeRecipientLimit(call, { email: input.email, purpose: 'sign up' })) === 0;

  const createAccount = () =>
    db.inTransaction(async (tx) => {
      const [user] = await insertUser(tx, {
        ...input,
        id,
        userType,
        phone: input.phone ?? null,
        passwordHash,
        referralCode: newReferralCode(),
      });
      const profile = await insertProfile(tx, id);
      await openBalance(tx, { userId: id });
      await moveTokens(tx, { userId: id, change: SIGNUP_BONUS[userType], reason: 'signup_bonus' });
      if (referrer) await creditReferral(tx, id, referrer);
      if (confirmationSent)
        await enqueueMail(services.mail, tx, { kind: 'email_verification', email: input.email, userId: id });
      const session = await openSession(tx, { userId: id, passwordHash, program: caller.request.program ?? null });
      if (!user || !session) throw new Error('A new account could not be read back.');
      const tokensAwarded = SIGNUP_BONUS[userType] + (referrer ? REFERRAL_BONUS : 0);
      return { ...sessionOf(services, user, session), user, ...profile, tokensAwarded, confirmationSent };
    });
  const account = await withFreeReferralCode(createAccount);
  // The caller wasn't a user yet when the transaction was committed, so the commit didn't store a position for them.
  await services.replica?.bringUpToDate([id]);
  return account;
}

async function findReferrer(db: Db, code: string | null | undefined): Promise<UserId | undefined> {
  if (code == null) return undefined;
  const canonical = code.trim().toUpperCase();
  const couldBe =
    canonical.length === REFERRAL_LENGTH && [...canonical].every((symbol) => REFERRAL_ALPHABET.includes(symbol));
  const [referrer] = couldBe ? await selectIdByReferralCode(db, { code: canonical }) : [];
  if (!referrer) throw refuse('UNKNOWN_REFERRAL_CODE', { fields: { referralCode: 'doesn’t belong to any account' } });
  return referrer.id;
}

async function creditReferral(tx: Db, newUser: UserId, referrer: UserId): Promise<void> {
  await moveTokens(tx, { userId: newUser, change: REFERRAL_BONUS, reason: 'referral_bonus', referralUserId: referrer });
  await moveTokens(tx, { userId: referrer, change: REFERRAL_BONUS, reason: 'referral_bonus', referralUserId: newUser });
}

/** Generates another referral code if the random one is already taken. Refuses an email that is already taken. */
async function withFreeReferralCode<T>(join: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await join();
    } catch (error) {
      const constraint = violatedConstraint(error);
      if (constraint === 'users_email_taken') throw emailTaken();
      if (constraint !== 'users_referral_code_taken' || attempt === 5) throw error;
    }
  }
}

export function newReferralCode(): string {
  return Array.from({ length: REFERRAL_LENGTH }, () => REFERRAL_ALPHABET[randomInt(REFERRAL_ALPHABET.length)]).join('');
}
