/** The links that turn emails off. A link's token contains the user and the types, so it doesn't have to be stored. */
import type { LinkTokens } from '../../platform/security/link-tokens.js';
import { isId, type UserId } from '../rules/ids.js';
import { notificationFor, notifiedTypesOf, readersOfJob, type NotifiedType } from '../rules/notifications.js';
import { ROLES, type Role } from '../rules/viewer.js';

export const UNSUBSCRIBE_PATH = '/unsubscribe/';

/** What a link turns off. */
export interface Unsubscription {
  readonly userId: UserId;
  readonly role: Role;
  readonly types: readonly NotifiedType[];
}

/** Separates the token's parts. No part contains it, and no program escapes it in a URL. */
const SEPARATOR = '-';

export function unsubscribeLink(tokens: LinkTokens, origin: string, { userId, role, types }: Unsubscription): string {
  return `${origin}${UNSUBSCRIBE_PATH}${tokens.sign([userId, role, ...types].join(SEPARATOR))}`;
}

/** Undefined if no server with this secret created the token, or if none of its types can be turned off anymore. */
export function readUnsubscribeToken(tokens: LinkTokens, token: string): Unsubscription | undefined {
  const [userId, name, ...names] = tokens.signedText(token)?.split(SEPARATOR) ?? [];
  const role = ROLES.find((one) => one === name);
  if (!isId('user', userId) || !role) return undefined;
  const types = notifiedTypesOf(role).flatMap(({ type, isFixed }) => (!isFixed && names.includes(type) ? [type] : []));
  return types.length > 0 ? { userId, role, types } : undefined;
}

/** The titles of the emails that the link turns off. For contractors, some types have one title per kind of job. */
export function titlesOf({ role, types }: Unsubscription): readonly string[] {
  const readers = [...readersOfJob(role, true, false), 'user'] as const;
  const titles = types.flatMap((type) => readers.map((reader) => notificationFor(type, [reader])?.title));
  return [...new Set(titles)].filter((title) => title !== undefined);
}
