/** Runs both APIs' operations. `perform` lists a call's steps in order. */
import type { z } from 'zod';
import { Refusal, refuse } from '../errors.js';
import type { Db } from '../db/database.js';
import type { Caller } from './caller.js';
import { fingerprintOf, checkKey, once, prepareUnlessAnswered, type IdempotentCall } from './idempotency.js';
import type { PlatformServices, PlatformViewer } from './services.js';
import { invalidField, parse } from './validation.js';

/** Each market extends this with its own viewers and services. */
export interface Call {
  readonly viewer: unknown;
  readonly db: Db;
  readonly services: object;
  readonly caller: CallerInCall;
  /** The parts of the result that the API needs next. Reading them in the same statement saves a round trip. */
  readonly include: object;
}

export type CallerInCall<
  V extends PlatformViewer = PlatformViewer,
  S extends PlatformServices<V> = PlatformServices<V>,
> = Pick<
  Caller<V, S>,
  'consume' | 'tryConsume' | 'dryRun' | 'forgetViewerOf' | 'hasApiKey' | 'client' | 'request' | 'viewer'
>;

/** Who may call an operation. A list contains role names. */
export type Allowed = 'anyone' | 'signed in' | readonly string[];

export interface Operation<Input, Output, C extends Call = Call, Preparation = unknown> {
  /** The name in GraphQL. It's also the scope of idempotency keys. */
  readonly name: string;
  /** One sentence for the API reference. */
  readonly description: string;
  readonly allows: Allowed;
  /** The rate limit to consume before anything is read. With `consumedByOperation`, the operation does so itself. */
  readonly budget: string;
  /**
   * The error codes of the operation's own rules. Codes that follow from its input or from the lifecycle aren't listed.
   */
  readonly refusals?: readonly string[];
  readonly input: z.ZodType<Input>;
  /** True for operations that don't require a login, and for those that can't be rolled back, such as `logOut`. */
  readonly ignoresKeyAndDryRun?: boolean;
  /**
   * True for operations that return a secret. Secrets are never stored, so idempotency keys are ignored. Dry runs are
   * refused, because a rolled-back secret is useless.
   */
  readonly answersSecret?: boolean;
  /**
   * True for operations that API keys can't call. Each call checks in the database that the session is still active.
   */
  readonly needsSession?: boolean;
  /** True if each call checks in the database that the session or API key is still active. */
  readonly asksDatabase?: boolean;
  /** True if null clears a field. Null and an omitted field then differ. */
  readonly nullClears?: boolean;
  /**
   * Slow work such as hashing, which runs before a transaction begins. In a dry run, the operation must be the only
   * mutation. Otherwise, an earlier mutation's transaction would be open.
   */
  prepare?(call: C, input: Input): Promise<Preparation>;
  // Declared as methods, so operations with different viewers fit in one list.
  run(call: C, input: Input, preparation: Preparation): Promise<Output>;
  /**
   * Does work after the commit, such as a call to another service, and returns the current result. Runs again if the
   * call is repeated with the same key, so it must be safe to repeat. Doesn't run in a dry run.
   */
  finish?(call: C, output: Output): Promise<Output>;
}

/**
 * True for operations that consume the `write` rate limit. The others only read, or don't require a session and have
 * their own rate limits.
 */
export function isWrite({ budget }: Pick<Operation<unknown, unknown>, 'budget'>): boolean {
  return budget === 'write';
}

/** True if the operation supports Idempotency-Key. */
export function isRepeatable(operation: Operation<unknown, unknown>): boolean {
  return isWrite(operation) && !operation.ignoresKeyAndDryRun && !operation.answersSecret;
}

/** A function is called only after the token, the rate limit, and the role, so callers see those refusals first. */
export type InputSource = object | (() => Promise<object>);

const NO_PARTS = {};

export async function perform<Input, Output>(
  operation: Operation<Input, Output>,
  input: InputSource,
  caller: Caller,
  include: object = NO_PARTS,
): Promise<Output> {
  const recordEnd = recordBegin(operation, caller);
  let viewer: PlatformViewer | null = null;
  try {
    viewer = await authenticate(operation, caller);
    await consumeBudget(operation, viewer, caller);
    assertRole(operation, viewer, caller);
    const validInput = await parseInput(operation, input);
    if (operation.budget !== 'read') caller.pool.readPrimary();
    const answer = await run(operation, validInput, { viewer, caller, include });
    recordEnd();
    // Streams can't deliver the call's events until they have positions.
    if (isWrite(operation) && !caller.dryRun) caller.services.live.wake();
    return answer;
  } catch (error) {
    recordEnd(error);
    const { services, db } = caller;
    // A refusal without these details is better than another error.
    if (error instanceof Refusal) await services.describeRefusal?.(error, { viewer, db }).catch(() => {});
    throw error;
  }
}

/** Runs a read that is nested in another operation. Unlike `perform`, consumes no rate limit. */
export async function performWithin<Input, Output>(
  operation: Operation<Input, Output>,
  input: InputSource,
  caller: Caller,
): Promise<Output> {
  const viewer = await authenticate(operation, caller);
  assertRole(operation, viewer, caller);
  const validInput = await parseInput(operation, input);
  return run(operation, validInput, { viewer, caller, include: NO_PARTS });
}

function recordBegin({ name }: Traits, { request: { record }, services }: Caller): (error?: unknown) => void {
  record.addOperation(name);
  const began = performance.now();
  return (error) => {
    record.noteOverload(error);
    const code = error === undefined ? 'OK' : error instanceof Refusal ? error.code : 'INTERNAL';
    services.metrics.recordOperation(name, record.api, code, (performance.now() - began) / 1000);
  };
}

type Traits = Omit<Operation<unknown, unknown>, 'input' | 'prepare' | 'run' | 'finish'>;

/** Returns the caller. Null if the operation is open to anyone. */
async function authenticate(
  { allows, needsSession = false, asksDatabase = needsSession }: Traits,
  caller: Caller,
): Promise<PlatformViewer | null> {
  return allows === 'anyone' ? null : caller.viewer({ byDatabase: asksDatabase });
}

async function consumeBudget({ budget }: Traits, viewer: PlatformViewer | null, caller: Caller): Promise<void> {
  if (budget === 'consumedByOperation' || budget === 'none') return;
  await caller.consume(budget, viewer ? viewer.userId : caller.client.address);
}

function assertRole({ allows, budget, needsSession }: Traits, viewer: PlatformViewer | null, caller: Caller): void {
  if (typeof allows !== 'string' && !(viewer && allows.includes(viewer.role)))
    throw refuse('FORBIDDEN', { message: `Only ${allows.map((role) => `${role}s`).join(' and ')} can do this.` });
  if (needsSession) assertSession(caller);
  if (caller.onlyReads && isWrite({ budget })) throw refuse('FORBIDDEN', { message: NOT_BY_READ_KEY });
}

function assertSession({ hasApiKey }: Pick<Caller, 'hasApiKey'>): void {
  if (hasApiKey) throw refuse('FORBIDDEN', { message: NOT_BY_KEY });
}

/** Refuses a caller without an active session. For operations that need one only for some inputs. */
export async function requireSession(caller: Pick<Caller, 'hasApiKey' | 'viewer'>): Promise<void> {
  assertSession(caller);
  await caller.viewer({ byDatabase: true });
}

const NOT_BY_KEY = 'An API key can’t do this. Log in to manage the email address, password, sessions, and API keys.';
const NOT_BY_READ_KEY = 'This API key is read-only. To do this, create a key with full access.';

async function parseInput<Input>({ input: schema }: Operation<Input, unknown>, input: InputSource): Promise<Input> {
  return parse(schema, typeof input === 'function' ? await input() : input);
}

interface CallContext {
  readonly viewer: PlatformViewer | null;
  readonly caller: Caller;
  readonly include: object;
}

async function run<Input, Output>(
  operation: Operation<Input, Output>,
  input: Input,
  context: CallContext,
): Promise<Output> {
  const { caller } = context;
  if (operation.answersSecret && caller.dryRun) throw invalidField('Dry-Run', NOTHING_TO_SHOW);
  const idempotency = idempotentCallOf(operation, input, context);
  const output = await (idempotency
    ? runOnce(operation, input, context, idempotency)
    : runPlainly(operation, input, context));
  return operation.finish && !caller.dryRun ? operation.finish(callOn(caller.pool, context), output) : output;
}

const NOTHING_TO_SHOW =
  'isn’t allowed for an operation that returns a secret, because a dry run doesn’t create secrets';

async function runPlainly<Input, Output>(
  operation: Operation<Input, Output>,
  input: Input,
  context: CallContext,
): Promise<Output> {
  const preparation = await operation.prepare?.(callOn(context.caller.db, context), input);
  return inDryRunOrNot(operation, context, (db) => operation.run(callOn(db, context), input, preparation));
}

async function runOnce<Input, Output>(
  operation: Operation<Input, Output>,
  input: Input,
  { viewer, caller }: CallContext,
  idempotency: IdempotentCall,
): Promise<Output> {
  const { storedAnswers } = caller.services;
  // Stores the result without included parts, because a retry may select other fields.
  const context = { viewer, caller, include: NO_PARTS };
  const prepare = async (): Promise<unknown> => operation.prepare?.(callOn(caller.db, context), input);
  const { earlier, preparation } = operation.prepare
    ? await prepareUnlessAnswered<Output, unknown>(storedAnswers, caller.db, idempotency, prepare)
    : {};
  const { answer, isReplay } =
    earlier ??
    (await inDryRunOrNot(operation, context, (db) =>
      once(storedAnswers, db, idempotency, (tx) => operation.run(callOn(tx, context), input, preparation)),
    ));
  caller.replayed ||= isReplay;
  return answer;
}

function callOn(db: Db, { viewer, caller, include }: CallContext): Call {
  return { viewer, db, services: caller.services, caller, include };
}

function inDryRunOrNot<T>(
  operation: Traits,
  { viewer, caller: { dryRun, db } }: CallContext,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  return dryRun && isWrite(operation) ? dryRun.run(viewer, work) : work(db);
}

function idempotentCallOf<I>(
  operation: Operation<I, unknown>,
  input: I,
  context: CallContext,
): IdempotentCall | undefined {
  const { viewer, caller } = context;
  const { idempotencyKey } = caller.request;
  if (idempotencyKey === undefined || !viewer || !isRepeatable(operation)) return undefined;
  const key = checkKey(idempotencyKey);
  const inputHmacs = caller.services.hmacs(fingerprintOf(operation, input));
  return { userId: viewer.userId, operation: operation.name, key, inputHmacs };
}
