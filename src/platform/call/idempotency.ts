/**
 * Runs a call with an idempotency key exactly once, by committing its result together with its effect. A retry with the
 * same key and input gets the stored result, even after a crash or a lost response.
 */
import { refuse } from '../errors.js';
import type { Db } from '../db/database.js';
import { IDEMPOTENCY_KEY } from '../caller-limits.js';
import { invalidField } from './validation.js';
import type { z } from 'zod';
import { isIgnored } from '../fields/read-only.js';
import { kindOf, metaOf } from '../fields/shapes.js';

export interface IdempotentCall {
  userId: string;
  operation: string;
  key: string;
  /** The input's HMACs under the current and previous secrets. */
  inputHmacs: readonly string[];
}

type Claim = Pick<IdempotentCall, 'userId' | 'operation' | 'key'>;

export interface StoredAnswers {
  lockKey(tx: Db, claim: Claim): Promise<readonly { locked: boolean }[]>;
  selectRecord(db: Db, claim: Claim): Promise<readonly { inputHmac: string; answer: string }[]>;
  insertRecord(tx: Db, record: Claim & { inputHmac: string; answer: string }): Promise<readonly unknown[]>;
}

export interface StoredAnswer<Output> {
  answer: Output;
  isReplay: boolean;
}

export function once<Output>(
  answers: StoredAnswers,
  db: Db,
  call: IdempotentCall,
  work: (tx: Db) => Promise<Output>,
): Promise<StoredAnswer<Output>> {
  return db.inTransaction(async (tx) => {
    const [lock] = await answers.lockKey(tx, call);
    if (!lock?.locked) throw refuse('IDEMPOTENCY_KEY_IN_USE');
    const earlier = await earlierAnswer<Output>(answers, tx, call);
    if (earlier) return earlier;
    const answer = await work(tx);
    const record = { ...call, inputHmac: call.inputHmacs[0] ?? '', answer: serialize(answer) };
    if ((await answers.insertRecord(tx, record)).length === 0) throw refuse('IDEMPOTENCY_KEY_IN_USE');
    return { answer, isReplay: false };
  });
}

/**
 * Looks for an earlier result first, because `prepare` may fail on a retry. For example, the password may have changed
 * since the first call. Looks again after a failure, because a concurrent call may have succeeded.
 */
export async function prepareUnlessAnswered<Output, Preparation>(
  answers: StoredAnswers,
  db: Db,
  call: IdempotentCall,
  prepare: () => Promise<Preparation>,
): Promise<{ readonly earlier?: StoredAnswer<Output> | undefined; readonly preparation?: Preparation }> {
  const earlier = await earlierAnswer<Output>(answers, db, call);
  if (earlier) return { earlier };
  try {
    return { preparation: await prepare() };
  } catch (error) {
    const laterAnswer = await earlierAnswer<Output>(answers, db, call);
    if (laterAnswer) return { earlier: laterAnswer };
    throw error;
  }
}

/** Returns the key's earlier result. Throws if the key was used with another input. */
async function earlierAnswer<Output>(
  answers: StoredAnswers,
  db: Db,
  call: IdempotentCall,
): Promise<StoredAnswer<Output> | undefined> {
  const [record] = await answers.selectRecord(db, call);
  if (!record) return undefined;
  if (!call.inputHmacs.includes(record.inputHmac)) throw refuse('IDEMPOTENCY_KEY_REUSED');
  return { answer: deserialize(record.answer) as Output, isReplay: true };
}

export function checkKey(key: string): string {
  if (key.length === 0 || key.length > IDEMPOTENCY_KEY.charactersMax || !/^[\x20-\x7e]+$/.test(key)) {
    throw invalidField('Idempotency-Key', `must be 1 to ${IDEMPOTENCY_KEY.charactersMax} printable characters`);
  }
  return key;
}

const MOMENT = '$moment';

/** JSON turns dates into strings, which the APIs treat differently from dates. */
function serialize(answer: unknown): string {
  return JSON.stringify(answer, function (this: Record<string, unknown>, name, value: unknown) {
    const original = this[name];
    return original instanceof Date ? { [MOMENT]: original.getTime() } : value;
  });
}

function deserialize(answer: string): unknown {
  return JSON.parse(answer, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || !(MOMENT in value)) return value;
    return new Date(Number(value[MOMENT]));
  });
}

/** The properties of an operation that decide which inputs count as the same. */
interface OperationShape<I> {
  readonly input: z.ZodType<I>;
  readonly nullClears?: boolean;
}

/**
 * Returns the same string for inputs that mean the same, in either API and in any field order. A missing field equals
 * null, unless null clears the field. The operation's schema must have parsed the input.
 */
export function fingerprintOf<I>(operation: OperationShape<I>, input: I): string {
  return JSON.stringify(canonical(operation.input, input, operation.nullClears === true));
}

function canonical(schema: z.core.$ZodType, value: unknown, nullClears: boolean): unknown {
  const kind = kindOf(schema);
  if (kind.is !== 'object' || !isObject(value)) return sortFields(value);
  const { shape } = kind.schema;
  const fields = entriesOf(value).flatMap(([name, inner]) => {
    const field = shape[name];
    if (!field) return [[name, sortFields(inner)]];
    return countsFor(name, field, inner, nullClears) ? [[name, canonical(field, inner, nullClears)]] : [];
  });
  return Object.fromEntries(fields);
}

/** In field groups and in parameters outside the body, null means absent. */
function countsFor(name: string, field: z.core.$ZodType, value: unknown, nullClears: boolean): boolean {
  const { parameter, readOnly, implied } = metaOf(field);
  if (implied || (readOnly && isIgnored(name))) return false;
  return value !== null || (nullClears && !parameter && kindOf(field).is !== 'object');
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  return isObject(value)
    ? Object.fromEntries(entriesOf(value).map(([name, inner]) => [name, sortFields(inner)]))
    : value;
}

function entriesOf(value: object): [name: string, inner: unknown][] {
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
