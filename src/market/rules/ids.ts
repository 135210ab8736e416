/** The prefixes of identifiers. The type system and checks at run time both keep the kinds of identifiers apart. */
import * as ids from '../../platform/ids.js';

export const ID_PREFIXES = {
  user: 'usr',
  homeowner: 'hmw',
  contractor: 'ctr',
  job: 'job',
  bid: 'bid',
  hold: 'hld',
  session: 'ses',
  refreshToken: 'rft',
  event: 'evt',
  transfer: 'ttx',
  apiKey: 'key',
  webhookEndpoint: 'whk',
  webhookDelivery: 'dlv',
  review: 'rev',
  viewer: 'vwr',
  adminAction: 'act',
  mail: 'mal',
  proposal: 'prp',
  accountEvent: 'aev',
  purchase: 'pur',
  savedSearch: 'sea',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;
export type Id<K extends IdKind> = ids.PrefixedId<(typeof ID_PREFIXES)[K]>;

export type UserId = Id<'user'>;
export type HomeownerId = Id<'homeowner'>;
export type ContractorId = Id<'contractor'>;
export type JobId = Id<'job'>;
export type BidId = Id<'bid'>;
export type HoldId = Id<'hold'>;
export type SessionId = Id<'session'>;
export type TransferId = Id<'transfer'>;
export type ApiKeyId = Id<'apiKey'>;
export type WebhookEndpointId = Id<'webhookEndpoint'>;
export type WebhookDeliveryId = Id<'webhookDelivery'>;
export type ReviewId = Id<'review'>;
export type EventId = Id<'event'>;
export type MailId = Id<'mail'>;
export type ProposalId = Id<'proposal'>;
export type AccountEventId = Id<'accountEvent'>;
export type PurchaseId = Id<'purchase'>;
export type SavedSearchId = Id<'savedSearch'>;
export type AdminActionId = Id<'adminAction'>;

export function idFrom<K extends IdKind>(kind: K, milliseconds: number, bytes: Buffer): Id<K> {
  return ids.idFrom(ID_PREFIXES[kind], milliseconds, bytes);
}

/**
 * Derives a related object's identifier, such as a viewer's ID from a user's ID. Two objects of a kind never get the
 * same identifier.
 */
export function siblingOf<K extends IdKind>(kind: K, id: Id<IdKind>): Id<K> {
  return `${ID_PREFIXES[kind]}_${id.slice(id.indexOf('_') + 1)}`;
}

/** Returns the lowest identifier of this kind that can be created at or after this time. */
export function lowestIdSince<K extends IdKind>(kind: K, time: number): Id<K> {
  return idFrom(kind, time, Buffer.alloc(ids.ID_RANDOM_BYTES));
}

export function isId<K extends IdKind>(kind: K, value: unknown): value is Id<K> {
  return ids.hasPrefix(ID_PREFIXES[kind], value);
}

const KIND_OF_PREFIX = new Map(Object.entries(ID_PREFIXES).map(([kind, prefix]) => [prefix as string, kind as IdKind]));

/** Undefined if the text isn't an identifier. */
export function kindOfId(value: string): IdKind | undefined {
  const kind = KIND_OF_PREFIX.get(value.slice(0, 3));
  return kind && isId(kind, value) ? kind : undefined;
}
