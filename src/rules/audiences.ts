/**
 * Who may read which field. Every field of an entity stands here; what is not for everyone reads as null for the rest.
 */

/**
 * What a reader is to the row. To a person: themselves, the other side of an award (`counterpart`), a homeowner they
 * bid for (`client`). To a job: its owner, its awarded contractor.
 */
export type Relation = 'self' | 'counterpart' | 'client' | 'owner' | 'awardee' | 'admin';
export type Audience = 'everyone' | readonly Relation[];

const PERSONAL = ['self', 'counterpart', 'admin'] as const;
const OF_THE_JOB = ['owner', 'awardee', 'admin'] as const;
const CREDENTIAL = ['self', 'client', 'admin'] as const;

export const AUDIENCES = {
  user: {
    id: 'everyone',
    email: PERSONAL,
    userType: 'everyone',
    firstName: 'everyone',
    lastName: 'everyone',
    phone: PERSONAL,
    profilePictureUrl: 'everyone',
    createdAt: 'everyone',
    updatedAt: 'everyone',
  },
  homeowner: {
    id: 'everyone',
    userId: 'everyone',
    addressLine1: PERSONAL,
    addressLine2: PERSONAL,
    city: 'everyone',
    state: 'everyone',
    zipCode: PERSONAL,
    country: 'everyone',
    propertyType: 'everyone',
    createdAt: 'everyone',
    updatedAt: 'everyone',
  },
  contractor: {
    id: 'everyone',
    userId: 'everyone',
    companyName: 'everyone',
    businessType: 'everyone',
    licenseNumber: CREDENTIAL,
    licenseState: 'everyone',
    insuranceProvider: 'everyone',
    insurancePolicyNumber: CREDENTIAL,
    yearsInBusiness: 'everyone',
    serviceAreas: 'everyone',
    specialties: 'everyone',
    bio: 'everyone',
    website: 'everyone',
    verified: 'everyone',
    completedJobs: 'everyone',
    ratingAverage: 'everyone',
    ratingCount: 'everyone',
    createdAt: 'everyone',
    updatedAt: 'everyone',
  },
  job: {
    id: 'everyone',
    title: 'everyone',
    description: 'everyone',
    status: 'everyone',
    category: 'everyone',
    budgetMin: 'everyone',
    budgetMax: 'everyone',
    urgency: 'everyone',
    addressLine1: OF_THE_JOB,
    addressLine2: OF_THE_JOB,
    city: 'everyone',
    state: 'everyone',
    zipCode: OF_THE_JOB,
    country: 'everyone',
    latitude: OF_THE_JOB,
    longitude: OF_THE_JOB,
    desiredStartDate: 'everyone',
    desiredCompletionDate: 'everyone',
    requirements: 'everyone',
    homeownerId: 'everyone',
    awardedBidId: 'everyone',
    version: 'everyone',
    createdAt: 'everyone',
    updatedAt: 'everyone',
  },
} as const satisfies Record<string, Record<string, Audience>>;

/** Whether anybody may read what is called so, of whatever has it. */
export function isForEveryone(field: string): boolean {
  return Object.values<Record<string, Audience>>(AUDIENCES).every(
    (fields) => (fields[field] ?? 'everyone') === 'everyone',
  );
}

export type Audienced = keyof typeof AUDIENCES;

/** The fields of an entity that somebody may not read. */
export type PrivateField<E extends Audienced> = {
  [K in keyof (typeof AUDIENCES)[E]]: (typeof AUDIENCES)[E][K] extends 'everyone' ? never : K;
}[keyof (typeof AUDIENCES)[E]];

export type Redacted<E extends Audienced, Row> = {
  [K in keyof Row]: K extends PrivateField<E> ? Row[K] | null : Row[K];
};

/** The row as this reader may see it; the row itself, where it holds nothing that is not for them. */
export function redact<E extends Audienced, Row extends Record<keyof (typeof AUDIENCES)[E], unknown>>(
  entity: E,
  row: Row,
  relations: readonly Relation[],
): Redacted<E, Row> {
  const { fields, blank } = hiddenFrom(entity, relations);
  for (const field of fields) if (field in row) return blank(row) as Redacted<E, Row>;
  return row as Redacted<E, Row>;
}

interface Hidden {
  readonly fields: readonly string[];
  /** A copy with nothing in these fields. */
  blank(row: object): object;
}

const BITS: Readonly<Record<Relation, number>> = {
  self: 1,
  counterpart: 2,
  client: 4,
  owner: 8,
  awardee: 16,
  admin: 32,
};

/** By the bits of the relations: there are few ways to be related, and many rows. */
const HIDDEN: Record<Audienced, (Hidden | undefined)[]> = { user: [], homeowner: [], contractor: [], job: [] };

/** The fields that nobody of these relations may read. */
function hiddenFrom(entity: Audienced, relations: readonly Relation[]): Hidden {
  let bits = 0;
  for (const relation of relations) bits |= BITS[relation];
  return (HIDDEN[entity][bits] ??= hiding(entity, relations));
}

function hiding(entity: Audienced, relations: readonly Relation[]): Hidden {
  const fields = Object.entries<Audience>(AUDIENCES[entity])
    .filter(([, audience]) => audience !== 'everyone' && !audience.some((relation) => relations.includes(relation)))
    .map(([field]) => field);
  // Written out, so that all copies are of one shape; the names are those of the table above.
  const blank = new Function(
    'row',
    `return { ...row, ${fields.map((field) => `${field}: null`).join(', ')} }`,
  ) as Hidden['blank'];
  return { fields, blank };
}
