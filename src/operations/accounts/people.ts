/** The shapes of a person's own fields, used by sign-up and by profile editing alike, and how readers see people. */
import { z } from 'zod';
import { redact, type Redacted, type Relation } from '../../rules/audiences.js';
import { PASSWORD_BYTES, TEXT } from '../../rules/limits.js';
import type { Viewer } from '../../rules/viewer.js';
import type { Contractor, Homeowner, User } from '../../store/accounts.js';
import type { Call } from '../operation.js';
import { optionalText, requiredText, text, textAsSent, webAddress } from '../shapes.js';

export const password = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed text without NUL')
  .refine((value) => {
    const bytes = Buffer.byteLength(value);
    return bytes >= PASSWORD_BYTES.min && bytes <= PASSWORD_BYTES.max;
  }, `must be from ${PASSWORD_BYTES.min} to ${PASSWORD_BYTES.max} bytes long in UTF-8`)
  .meta({ format: 'password', maxLength: PASSWORD_BYTES.max });

/** bcrypt reads 72 bytes and no further: a longer password would pass for the one that it begins with. */
export async function passwordMatches(
  { house, caller }: Pick<Call<unknown>, 'house' | 'caller'>,
  given: string,
  hash: string | undefined,
): Promise<boolean> {
  const same = await house.passwords.matches(given, hash, caller.holder);
  return same && Buffer.byteLength(given) <= PASSWORD_BYTES.max;
}

export const personName = requiredText(TEXT.name);

/** Free text, kept as it was sent. */
export const phone = textAsSent(TEXT.line).nullish();

const listOfText = z
  .array(requiredText(TEXT.line))
  .max(TEXT.listItems)
  .nullish()
  .transform((list) => (list === null ? [] : list));

export const userShape = {
  firstName: personName.optional().describe('The given name.'),
  lastName: personName.optional().describe('The family name.'),
  phone: phone.describe('A phone number, kept as it is written.'),
  profilePictureUrl: webAddress.describe('Where a picture of the person is.'),
};

export const homeownerShape = {
  addressLine1: optionalText(TEXT.line).describe('Street and number; private.'),
  addressLine2: optionalText(TEXT.line).describe('More of the address; private.'),
  city: optionalText(TEXT.line).describe('The city.'),
  state: optionalText(TEXT.line).describe('The state.'),
  zipCode: optionalText(TEXT.line).describe('The postal code; private.'),
  country: optionalText(TEXT.line).describe('The country.'),
  propertyType: optionalText(TEXT.kind).describe('What kind of property it is; `catalog` suggests values.'),
};

export const contractorShape = {
  companyName: optionalText(TEXT.line).describe('The company.'),
  businessType: optionalText(TEXT.kind).describe('What kind of business it is; `catalog` suggests values.'),
  licenseNumber: optionalText(TEXT.line).describe('The licence number; private.'),
  licenseState: optionalText(TEXT.line).describe('The state that gave the licence.'),
  insuranceProvider: optionalText(TEXT.line).describe('Who insures the work.'),
  insurancePolicyNumber: optionalText(TEXT.line).describe('The policy number; private.'),
  yearsInBusiness: z.int().min(0).max(500).nullish().describe('For how many years the business exists.'),
  serviceAreas: listOfText.describe('Where the contractor works.'),
  specialties: listOfText.describe('What the contractor is best at.'),
  bio: text(TEXT.long)
    .transform((value) => (value === '' ? null : value))
    .nullish()
    .describe('How the contractor presents the business.'),
  website: webAddress.describe('The business on the web.'),
};

export type ReadableUser = Redacted<'user', User>;
export type ReadableHomeowner = Redacted<'homeowner', Homeowner>;
export type ReadableContractor = Redacted<'contractor', Contractor>;

/** What a viewer is to the person with this account, as far as the two rows alone can tell. */
export function relationsTo(viewer: Viewer, userId: string): Relation[] {
  const relations: Relation[] = [];
  if (viewer.userId === userId) relations.push('self');
  if (viewer.role === 'admin') relations.push('admin');
  return relations;
}

export function readableContractor(viewer: Viewer, contractor: Contractor): ReadableContractor {
  return redact('contractor', contractor, relationsTo(viewer, contractor.userId));
}
