/** The fields that a body may have, from decisions 2, 6, and 7, and the body's value once it is read. */

import type { JobTransitionKey } from '../../src/market/rules/lifecycle.js';
import { JOB_TRANSITION_KEYS, OPERATIONS_ON_JOBS, STATES, TEXTS, type Transition } from '../story/specified.js';

export interface Flaw {
  readonly field: string;
  /** True for a wrong type, or a missing or unknown name. GraphQL itself rejects these before authentication. */
  readonly byType: boolean;
}

interface Kind {
  readonly required: boolean;
  /** Says whether the type and the value fit. */
  fits(value: unknown): 'yes' | 'wrong type' | 'wrong value';
}

export type Shape = Readonly<Record<string, Kind>>;

type Values = Record<string, unknown>;

const text = (max: number, required = false): Kind => ({
  required,
  fits: (value) => {
    if (typeof value !== 'string') return 'wrong type';
    const length = [...value.trim()].length;
    return length > max || (required && length === 0) || value.includes('\0') ? 'wrong value' : 'yes';
  },
});
const money: Kind = {
  required: false,
  fits: (value) => {
    if (typeof value !== 'number') return 'wrong type';
    return value >= 0 && value < 1e10 && /^\d+(\.\d{1,2})?$/.test(String(value)) ? 'yes' : 'wrong value';
  },
};
const price: Kind = { required: true, fits: (value) => (value === 0 ? 'wrong value' : money.fits(value)) };
const date: Kind = {
  required: false,
  fits: (value) => {
    // GraphQL passes a date on without checking it.
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(typeof value === 'string' ? value : '') ?? [];
    const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
    return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= days ? 'yes' : 'wrong value';
  },
};
const timestamp: Kind = {
  required: true,
  fits: (value) => {
    // GraphQL passes a time on without checking it.
    const isTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(String(value));
    return typeof value === 'string' && isTimestamp && !Number.isNaN(Date.parse(value)) ? 'yes' : 'wrong value';
  },
};
const integer = (min: number, max = 2 ** 31 - 1): Kind => ({
  required: false,
  fits: (value) => {
    if (!Number.isInteger(value) || Math.abs(value as number) > 2 ** 31 - 1) return 'wrong type';
    return (value as number) >= min && (value as number) <= max ? 'yes' : 'wrong value';
  },
});
const boolean: Kind = { required: false, fits: (value) => (typeof value === 'boolean' ? 'yes' : 'wrong type') };
const enumOf = (...words: string[]): Kind => ({
  required: false,
  fits: (value) => (words.includes(value as string) ? 'yes' : 'wrong type'),
});
const id = (prefix: string): Kind => ({
  required: true,
  fits: (value) => {
    // GraphQL accepts an integer as an identifier.
    if (typeof value !== 'string') return Number.isInteger(value) ? 'wrong value' : 'wrong type';
    return value.startsWith(`${prefix}_`) && /^[0-9A-Za-z]{27}$/.test(value.slice(prefix.length + 1))
      ? 'yes'
      : 'wrong value';
  },
});
const lines: Kind = {
  required: false,
  fits: (value) => {
    if (!Array.isArray(value)) return 'wrong type';
    return value.length > 20 ? 'wrong value' : 'yes';
  },
};
const TRADES_MAX = 20;
const trades: Kind = {
  required: false,
  fits: (value) => {
    if (!Array.isArray(value)) return 'wrong type';
    return value.length === 0 || value.length > TRADES_MAX ? 'wrong value' : 'yes';
  },
};
const json: Kind = { required: false, fits: () => 'yes' };

const LINE = 200;
const NOTE = 5_000;
const LONG = 10_000;

const URGENCY = enumOf('standard', 'priority', 'urgent');

const FURTHER = {
  category: text(64),
  budgetMin: money,
  budgetMax: money,
  urgency: URGENCY,
  addressLine1: text(LINE),
  addressLine2: text(LINE),
  city: text(LINE),
  state: text(LINE),
  zipCode: text(LINE),
  country: text(LINE),
  desiredStartDate: date,
  desiredCompletionDate: date,
  requirements: text(LONG),
};

export const CREATE: Shape = { title: text(200, true), description: text(LONG, true), ...FURTHER };
export const JOB_FIELDS = Object.keys(CREATE);

/** No field is required in an edit, but a blank title is invalid. */
const optional = (kind: Kind): Kind => ({ ...kind, required: false });
export const UPDATE: Shape = { title: optional(text(200, true)), description: optional(text(LONG, true)), ...FURTHER };

const READ_ONLY = [
  'id',
  'status',
  'latitude',
  'longitude',
  'homeownerId',
  'awardedBidId',
  'rating',
  'review',
  'createdAt',
  'statusChangedAt',
  'updatedAt',
  'version',
];
export const UPDATE_WITH_READ_ONLY: Shape = { ...UPDATE, ...Object.fromEntries(READ_ONLY.map((name) => [name, json])) };

export const NOTHING: Shape = {};

/** Keyed by operation name. */
export const TRANSITION = Object.fromEntries(
  JOB_TRANSITION_KEYS.map((key) => [OPERATIONS_ON_JOBS[key].operation, shapeOf(key)]),
) as Record<Transition, Shape>;

function shapeOf(key: JobTransitionKey): Shape {
  const { required = [], optional: others = [] } = TEXTS[key];
  return {
    ...Object.fromEntries(required.map((name) => [name, text(NOTE, true)])),
    ...Object.fromEntries(others.map((name) => [name, text(NOTE)])),
    ...(key === 'award' && { bidId: id('bid'), expectedBidVersion: integer(1 - 2 ** 31) }),
    ...(key === 'requestChanges' && { items: lines }),
    ...(key === 'approve' && { rating: integer(1, 5) }),
    ...(key === 'acceptResolution' && { proposalId: id('prp') }),
    ...(key === 'complete' && { creditContractor: boolean }),
    ...(key === 'resolveDispute' && { agreedBy: text(LINE) }),
  };
}

export const REVIEW: Shape = { rating: { ...integer(1, 5), required: true }, review: text(NOTE) };

export const EXTENSION: Shape = { until: timestamp, reason: text(NOTE) };
export const ADVANCE: Shape = { seconds: { ...integer(0, 365 * 86_400), required: true } };

export const BID: Shape = {
  amount: price,
  estimatedDurationDays: integer(1, 36_500),
  message: text(LONG),
  proposedStartDate: date,
  materialsIncluded: boolean,
  paymentTerms: text(NOTE),
  guaranteedView: boolean,
};
export const BID_FIELDS = [
  'amount',
  'estimatedDurationDays',
  'message',
  'proposedStartDate',
  'materialsIncluded',
  'paymentTerms',
];

const { guaranteedView: _, ...OFFER } = BID;
export const REVISION: Shape = { ...OFFER, amount: { ...price, required: false } };
const READ_ONLY_OF_BID = [
  'contractorId',
  'status',
  'guaranteedView',
  'holdId',
  'suspended',
  'version',
  'isOutdated',
  'createdAt',
  'updatedAt',
  'submittedAt',
];
export const REVISION_WITH_READ_ONLY: Shape = {
  ...REVISION,
  ...Object.fromEntries(READ_ONLY_OF_BID.map((name) => [name, json])),
};

const amount: Kind = {
  required: true,
  fits: (value) => (value === 0 ? 'wrong value' : integer(-1_000_000, 1_000_000).fits(value)),
};
export const ADJUSTMENT: Shape = { userId: id('usr'), amount, reason: text(NOTE, true) };
export const PURCHASE: Shape = { pack: text(64, true), returnUrl: text(2_000, true) };
export const PURCHASE_REFUND: Shape = { tokens: integer(1, 1_000_000), reason: text(NOTE, true) };
export const SUSPENSION: Shape = { reason: text(NOTE, true) };

export const PAGE: Shape = { page: integer(1, 1_000_000), perPage: integer(1, 100) };
const JOB_STATE = enumOf(...STATES);
export const JOB_LIST: Shape = {
  ...PAGE,
  search: text(200),
  status: JOB_STATE,
  category: text(64),
  categories: trades,
  urgency: URGENCY,
  budgetMin: money,
  budgetMax: money,
  homeownerId: { ...id('hmw'), required: false },
};
export const BID_LIST: Shape = {
  ...PAGE,
  status: enumOf('pending', 'viewed', 'shortlisted', 'accepted', 'rejected', 'withdrawn'),
};

export function flawsIn(shape: Shape, body: Values): Flaw[] {
  const flaws: Flaw[] = [];
  for (const [field, value] of Object.entries(body)) {
    const kind = shape[field];
    if (!kind) flaws.push({ field, byType: true });
    else if (value === null) {
      if (kind.required) flaws.push({ field, byType: true });
    } else {
      const fits = kind.fits(value);
      if (fits !== 'yes') flaws.push({ field, byType: fits === 'wrong type' });
    }
  }
  for (const [field, kind] of Object.entries(shape))
    if (kind.required && !(field in body)) flaws.push({ field, byType: true });
  // The service stops at a list that is too long, and compares no fields.
  if (Array.isArray(body.categories) && body.categories.length > TRADES_MAX) return flaws;
  // Only fields that are valid on their own are compared.
  const given = (pair: readonly string[]) => {
    const areSound = pair.every((field) => field in shape && !flaws.some((flaw) => flaw.field === field));
    return areSound && pair.every((field) => body[field] != null);
  };
  for (const pair of [
    ['budgetMin', 'budgetMax'],
    ['desiredStartDate', 'desiredCompletionDate'],
  ] as const) {
    const [least, most] = pair.map((field) => body[field]);
    if (given(pair) && least! > most!) flaws.push(...pair.map((field) => ({ field, byType: false })));
  }
  if (given(['category', 'categories'])) flaws.push({ field: 'category', byType: false });
  return flaws;
}

/** Trims texts, and removes blank ones and nulls. */
export function normal(body: Values): Values {
  return Object.fromEntries(
    Object.entries(body)
      .map(([field, value]) => [field, read(value)])
      .filter(([, value]) => value !== null),
  );
}

/** Splits an edit into read-only fields that are sent back, and changes, with null for each cleared field. */
export const partsOfUpdate = (body: Values) => partsOf(body, READ_ONLY);
export const partsOfRevision = (body: Values) => partsOf(body, READ_ONLY_OF_BID);

function partsOf(body: Values, readOnly: readonly string[]): { readOnly: Values; patch: Values } {
  const entries = Object.entries(body);
  return {
    readOnly: Object.fromEntries(entries.filter(([field]) => readOnly.includes(field))),
    patch: Object.fromEntries(
      entries.filter(([field]) => !readOnly.includes(field)).map(([field, value]) => [field, read(value)]),
    ),
  };
}

function read(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const trimmed = value.trim();
  return trimmed === '' ? null : trimmed;
}
