/** The closed lists of the domain as GraphQL enums: upper case on the wire, the domain's own word inside. */
import { registerEnumType } from 'type-graphql';
import { ERROR_CODES, REFUSALS } from '../rules/errors.js';
import { TRANSFER_REASONS, type TransferReason } from '../rules/tokens.js';
import { ROLES } from '../rules/viewer.js';

type Describe<V extends string> = Readonly<Record<V, string>>;

/** Registers a list under a name, and returns the object that type-graphql knows the enum by. */
function choice<V extends string>(name: string, description: string, values: readonly V[], says: Describe<V>): Record<string, V> {
  const spelled = Object.fromEntries(values.map((value) => [value.toUpperCase(), value]));
  const valuesConfig = Object.fromEntries(values.map((value) => [value.toUpperCase(), { description: says[value] }]));
  registerEnumType(spelled, { name, description, valuesConfig });
  return spelled;
}

export const UserType = choice('UserType', 'The three kinds of account.', ROLES, {
  homeowner: 'Posts jobs and awards them.',
  contractor: 'Bids on jobs and does the work.',
  admin: 'Settles disputes and keeps the house.',
});

export const TokenTransferReason = choice(
  'TokenTransferReason',
  'Why tokens moved.',
  Object.keys(TRANSFER_REASONS) as TransferReason[],
  mapValues(TRANSFER_REASONS, ({ says }) => `${says}.`),
);

export const ErrorCodeEnum = choice(
  'ErrorCode',
  'Every code that `errors[].extensions.code` can bear.',
  ERROR_CODES,
  mapValues(REFUSALS, ([status, sentence]) => `${sentence} REST answers ${status}.`),
);

/** The enum that a schema names in its `enumName`. */
export const ENUMS: Readonly<Record<string, Record<string, string>>> = { UserType, TokenTransferReason };

function mapValues<K extends string, V, R>(record: Readonly<Record<K, V>>, map: (value: V) => R): Record<K, R> {
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, map(value)])) as Record<K, R>;
}
