/** Who can read a field that isn't for everyone who sees the row. The entities' fields name their readers. */
import type { Readers as FieldReaders } from '../../../platform/fields/entity.js';
import type { Viewer } from '../viewer.js';

/** A `counterpart` is the other party to an award. A `client` is a homeowner on whose job the person has bid. */
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

/** A dry run of an award doesn't show the contractor's contact details, because the award is rolled back. */
export function relationsToPerson(
  viewer: Pick<Viewer, 'userId' | 'role' | 'isInDryRun'>,
  userId: string,
  { counterpart = false, client = false }: Partial<Record<'counterpart' | 'client', boolean>>,
): Relation[] {
  const relations: Relation[] = [];
  if (viewer.userId === userId) relations.push('self');
  if (viewer.role === 'admin') relations.push('admin');
  if (counterpart && !viewer.isInDryRun) relations.push('counterpart');
  if (client) relations.push('client');
  return relations;
}
