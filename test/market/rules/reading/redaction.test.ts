import { describe, expect, test } from 'vitest';
import { isForEveryone, REDACTED_ENTITIES, redact } from '../../../../src/market/rules/reading/redaction.js';
import type { RedactedEntity } from '../../../../src/market/rules/reading/redaction.js';
import type { Relation } from '../../../../src/market/rules/reading/readers.js';

const user = {
  id: 'usr_carla',
  email: 'carla@example.com',
  emailVerified: true,
  emailUndeliverable: false,
  userType: 'contractor',
  firstName: 'Carla',
  lastName: 'Cole',
  phone: '512 555 0100',
  profilePictureUrl: 'https://example.com/carla.png',
  emailUndo: 'pending',
  emailUndoAddress: 'carla.before@example.com',
  suspendedAt: 3,
  suspendedUntil: 4,
  createdAt: 1,
  updatedAt: 2,
};
const homeowner = {
  id: 'hmw_hannah',
  userId: 'usr_hannah',
  addressLine1: '1 Elm Street',
  addressLine2: 'Flat 3',
  city: 'Austin',
  state: 'TX',
  zipCode: '78701',
  country: 'US',
  propertyType: 'condo',
  createdAt: 1,
  updatedAt: 2,
};
const contractor = {
  id: 'ctr_carla',
  userId: 'usr_carla',
  companyName: 'Cole & Co',
  businessType: 'llc',
  licenseNumber: 'L-1',
  licenseState: 'TX',
  insuranceProvider: 'Acme',
  insurancePolicyNumber: 'P-1',
  yearsInBusiness: 9,
  serviceAreas: ['Austin'],
  specialties: ['tiling'],
  bio: 'Tiles.',
  website: 'https://example.com',
  verified: true,
  completedJobs: 3,
  ratingAverage: 4.5,
  ratingCount: 2,
  suspended: true,
  createdAt: 1,
  updatedAt: 2,
};
const job = {
  id: 'job_kitchen',
  title: 'New kitchen',
  description: 'Cabinets',
  status: 'open',
  category: 'kitchen',
  budgetMin: 1,
  budgetMax: 2,
  urgency: 'urgent',
  addressLine1: '1 Elm Street',
  addressLine2: 'Flat 3',
  city: 'Austin',
  state: 'TX',
  zipCode: '78701',
  country: 'US',
  latitude: 30.27,
  longitude: -97.74,
  desiredStartDate: '2026-03-01',
  desiredCompletionDate: '2026-06-15',
  requirements: 'Licensed',
  homeownerId: 'hmw_hannah',
  awardedBidId: 'bid_carla',
  rating: 4,
  review: 'Tidy',
  version: 7,
  statusChangedAt: 1,
  createdAt: 1,
  updatedAt: 2,
};

/** Every field of each resource in the specification and decision 7, and the resource as this reader can see it. */
const READ: Record<
  RedactedEntity,
  { row: Record<string, unknown>; as: (...relations: Relation[]) => Record<string, unknown> }
> = {
  user: { row: user, as: (...relations) => redact('user', user, () => relations) },
  homeowner: { row: homeowner, as: (...relations) => redact('homeowner', homeowner, () => relations) },
  contractor: { row: contractor, as: (...relations) => redact('contractor', contractor, () => relations) },
  job: { row: job, as: (...relations) => redact('job', job, () => relations) },
};

const MAIL = ['emailVerified', 'emailUndeliverable'];
const SUPPORT = ['emailUndo', 'emailUndoAddress', 'suspendedAt', 'suspendedUntil'];
const CONTACT = ['email', 'phone', ...MAIL, ...SUPPORT];
const HOME = ['addressLine1', 'addressLine2', 'zipCode'];
const NUMBERS = ['licenseNumber', 'insurancePolicyNumber', 'suspended'];
const PLACE = ['addressLine1', 'addressLine2', 'zipCode', 'latitude', 'longitude'];

/**
 * Copied by hand from decision 7: the fields hidden from each reader. The columns are the reader's relations to the
 * row. The last column is for readers without any relation.
 */
const HIDDEN: [entity: RedactedEntity, from: Record<Relation | 'nobody', string[]>][] = [
  [
    'user',
    {
      self: SUPPORT,
      counterpart: [...MAIL, ...SUPPORT],
      client: CONTACT,
      owner: CONTACT,
      awardee: CONTACT,
      admin: [],
      nobody: CONTACT,
    },
  ],
  ['homeowner', { self: [], counterpart: [], client: HOME, owner: HOME, awardee: HOME, admin: [], nobody: HOME }],
  [
    'contractor',
    { self: [], counterpart: NUMBERS, client: [], owner: NUMBERS, awardee: NUMBERS, admin: [], nobody: NUMBERS },
  ],
  ['job', { self: PLACE, counterpart: PLACE, client: PLACE, owner: [], awardee: [], admin: [], nobody: PLACE }],
];

describe.each(HIDDEN)('a %s', (entity, from) => {
  const { row, as } = READ[entity];

  test('says for every field who may read it', () => {
    expect(Object.keys(REDACTED_ENTITIES[entity].fields).sort()).toEqual(Object.keys(row).sort());
  });

  test.each(Object.entries(from) as [Relation | 'nobody', string[]][])(
    'has a %s that reads null for %j, like the other private fields',
    (relation, hidden) => {
      const read = relation === 'nobody' ? as() : as(relation);
      expect(read).toEqual({ ...row, ...Object.fromEntries(hidden.map((field) => [field, null])) });
    },
  );
});

test('a person with two relations to a row reads what either relation can read', () => {
  expect(READ.contractor.as('counterpart', 'client')).toEqual(contractor);
  expect(READ.user.as('awardee', 'admin')).toEqual(user);
});

test('the row itself keeps the fields that one reader can’t see', () => {
  READ.job.as();
  expect(job.addressLine1).toBe('1 Elm Street');
});

test('a partially read row hides the private fields that it has, and no field is added', () => {
  const { licenseNumber: _, ...part } = contractor;
  expect(redact('contractor', part as typeof contractor, () => [])).toEqual({
    ...part,
    insurancePolicyNumber: null,
    suspended: null,
  });
});

test('a row with nothing to hide is returned itself: to an admin, or if it has no private fields', () => {
  expect(redact('job', job, () => ['admin'])).toBe(job);
  const open = { id: job.id, title: job.title } as typeof job;
  const relations = () => {
    throw new Error('Who asks makes no difference here.');
  };
  expect(redact('job', open, relations)).toBe(open);
});

test.each<[field: string, is: boolean]>([
  ['id', true],
  ['title', true],
  ['city', true],
  ['nothing', true],
  ['latitude', false],
  ['licenseNumber', false],
  ['addressLine1', false],
])('%s is for everyone: %j', (field, is) => {
  expect(isForEveryone(field)).toBe(is);
});
