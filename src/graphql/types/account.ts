/** People, their profiles and their sessions, as clients see them. */
import { Field, Float, ID, Int, ObjectType } from 'type-graphql';
import type { ReadableContractor, ReadableHomeowner, ReadableUser } from '../../operations/accounts/people.js';
import type { Role } from '../../rules/viewer.js';
import { UserType } from '../enums.js';
import { DateTimeScalar } from '../scalars.js';
import { says } from './field.js';
import { connectionType } from './connection.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: 'A person with an account.' })
export class User implements ReadableUser {
  @Field(() => ID, says('The identifier, which begins with `usr_`.'))
  id: ReadableUser['id'];

  @Field(() => String, says('The address to log in with; null for those who may not read it.', 'nullable'))
  email: string | null;

  @Field(() => UserType, says('Which kind of account it is.'))
  userType: Role;

  @Field(() => String, says('The given name.'))
  firstName: string;

  @Field(() => String, says('The family name.'))
  lastName: string;

  @Field(() => String, says('A phone number as it was written; null for those who may not read it.', 'nullable'))
  phone: string | null;

  @Field(() => String, says('Where a picture of the person is.', 'nullable'))
  profilePictureUrl: string | null;

  @Field(() => DateTimeScalar, says('When the account was opened.'))
  createdAt: Date;

  @Field(() => DateTimeScalar, says('When the person’s fields last changed.'))
  updatedAt: Date;
}

@ObjectType({
  implements: Node,
  description:
    'A homeowner’s profile. The address is for the homeowner, for contractors they have awarded, and for admins.',
})
export class Homeowner implements ReadableHomeowner {
  @Field(() => ID, says('The identifier, which begins with `hmw_`.'))
  id: ReadableHomeowner['id'];

  @Field(() => ID, says('Whose profile this is.'))
  userId: ReadableHomeowner['userId'];

  @Field(() => String, says('Street and number; private.', 'nullable'))
  addressLine1: string | null;

  @Field(() => String, says('More of the address; private.', 'nullable'))
  addressLine2: string | null;

  @Field(() => String, says('The city.', 'nullable'))
  city: string | null;

  @Field(() => String, says('The state.', 'nullable'))
  state: string | null;

  @Field(() => String, says('The postal code; private.', 'nullable'))
  zipCode: string | null;

  @Field(() => String, says('The country.', 'nullable'))
  country: string | null;

  @Field(() => String, says('What kind of property it is.', 'nullable'))
  propertyType: string | null;

  @Field(() => DateTimeScalar, says('When the profile was made.'))
  createdAt: Date;

  @Field(() => DateTimeScalar, says('When the profile last changed.'))
  updatedAt: Date;
}

@ObjectType({ implements: Node, description: 'A contractor’s profile and record.' })
export class Contractor implements ReadableContractor {
  @Field(() => ID, says('The identifier, which begins with `ctr_`.'))
  id: ReadableContractor['id'];

  @Field(() => ID, says('Whose profile this is.'))
  userId: ReadableContractor['userId'];

  @Field(() => String, says('The company.', 'nullable'))
  companyName: string | null;

  @Field(() => String, says('What kind of business it is.', 'nullable'))
  businessType: string | null;

  @Field(
    () => String,
    says('For the contractor, for homeowners on whose jobs they have bid, and for admins.', 'nullable'),
  )
  licenseNumber: string | null;

  @Field(() => String, says('The state that gave the licence.', 'nullable'))
  licenseState: string | null;

  @Field(() => String, says('Who insures the work.', 'nullable'))
  insuranceProvider: string | null;

  @Field(
    () => String,
    says('For the contractor, for homeowners on whose jobs they have bid, and for admins.', 'nullable'),
  )
  insurancePolicyNumber: string | null;

  @Field(() => Int, says('For how many years the business exists.', 'nullable'))
  yearsInBusiness: number | null;

  @Field(() => [String], says('Where the contractor works.'))
  serviceAreas: string[];

  @Field(() => [String], says('What the contractor is best at.'))
  specialties: string[];

  @Field(() => String, says('How the contractor presents the business.', 'nullable'))
  bio: string | null;

  @Field(() => String, says('The business on the web.', 'nullable'))
  website: string | null;

  @Field(() => Boolean, says('Whether an admin has verified the contractor.'))
  verified: boolean;

  @Field(() => Int, says('How many jobs were done and approved.'))
  completedJobs: number;

  @Field(() => Float, says('The mean of all ratings, from 1 to 5; null before the first.', 'nullable'))
  ratingAverage: number | null;

  @Field(() => Int, says('How many ratings there are.'))
  ratingCount: number;

  @Field(() => DateTimeScalar, says('When the profile was made.'))
  createdAt: Date;

  @Field(() => DateTimeScalar, says('When the profile last changed.'))
  updatedAt: Date;
}

@ObjectType({ description: 'A log-in: the tokens to call with, and what a sign-up made.' })
export class Session {
  @Field(() => String, says('The access token: send it as `Authorization: Bearer …`. It lasts 15 minutes.'))
  token: string;

  @Field(() => String, says('Exchange it, by `refreshSession`, for new tokens.'))
  refreshToken: string;

  @Field(() => DateTimeScalar, says('When the access token expires: 15 minutes after it was given out.'))
  expiresAt: Date;

  @Field(() => DateTimeScalar, says('When the refresh token expires: after 30 days, or with its session after 90.'))
  refreshExpiresAt: Date;

  @Field(() => User, says('Who logged in; null on a refresh.', 'nullable'))
  user?: User | null;

  @Field(() => Homeowner, says('The new profile, on a homeowner’s sign-up.', 'nullable'))
  homeowner?: Homeowner | null;

  @Field(() => Contractor, says('The new profile, on a contractor’s sign-up.', 'nullable'))
  contractor?: Contractor | null;

  @Field(() => Int, says('The tokens credited for the sign-up and its referral.', 'nullable'))
  tokensAwarded?: number | null;
}

@ObjectType({ description: 'That a session has ended.' })
export class LogOutResult {
  @Field(() => ID, says('The session, which is refused from now on.'))
  sessionId: string;
}

@ObjectType({ description: 'That a password was changed and the other sessions have ended.' })
export class ChangePasswordResult {
  @Field(() => Boolean, says('Always true; a refusal is an error.'))
  changed: boolean;
}

export const UserConnection = connectionType('User', () => User, 'accounts');
