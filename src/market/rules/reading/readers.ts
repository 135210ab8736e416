/** Who can read a field that isn't for everyone who sees the row. */
import type { Readers as FieldReaders } from '../../../platform/fields/entity.js';
import type { Viewer } from '../viewer.js';

/**
 * What a reader is to a row. A reader of a person's row can be that person, the other party to an award
 * (`counterpart`), or a homeowner on whose job the person has bid (`client`). A reader of a job can be its owner or its
 * awarded contractor.
 */
export type Relation = 'self' | 'counterpart' | 'client' | 'owner' | 'awardee' | 'admin';

interface Readers extends FieldReaders {
  readonly relations: readonly Relation[];
}

export const PARTIES_AND_ADMINS = {
  relations: ['owner', 'awardee', 'admin'],
  words: 'the owner, the awarded contractor, and admins',
} as const satisfies Readers;

export const OWNER_AND_ADMINS = {
  relations: ['owner', 'admin'],
  words: 'the owner and admins',
} as const satisfies Readers;

export const PERSONAL = {
  relations: ['self', 'counterpart', 'admin'],
  words: 'the user, the other party to an awarded job, and admins',
} as const satisfies Readers;

export const OWN = { relations: ['self', 'admin'], words: 'the user and admins' } as const satisfies Readers;

export const ADMINS = { relations: ['admin'], words: 'admins' } as const satisfies Readers;

export const CREDENTIALS = {
  relations: ['self', 'client', 'admin'],
  words: 'the contractor, homeowners whose jobs they’ve bid on, and admins',
} as const satisfies Readers;

/**
 * Returns what a viewer is to an account's person. The result depends on the viewer, the account, and the other facts
 * that were read.
 */
export function relationsToPerson(
  viewer: Pick<Viewer, 'userId' | 'role'>,
  userId: string,
  { counterpart = false, client = false }: Partial<Record<'counterpart' | 'client', boolean>>,
): Relation[] {
  const relations: Relation[] = [];
  if (viewer.userId === userId) relations.push('self');
  if (viewer.role === 'admin') relations.push('admin');
  if (counterpart) relations.push('counterpart');
  if (client) relations.push('client');
  return relations;
}
