/**
 * Runs every operation of both APIs, and checks each call in one order: authentication, rate limit, role, input; then
 * the operation's own rules.
 */
import type { z } from 'zod';
import { Refusal, refuse } from '../errors.js';
import type { Role, Viewer, ViewerWith } from '../../market/rules/viewer.js';
import { addressIdentity } from '../security/address.js';
import type { JobInclude } from '../../market/store/jobs/job-parts.js';
import type { Db } from '../db/database.js';
import type { Caller } from './caller.js';
import { fingerprintOf } from './fingerprint.js';
import type { Services } from '../../market/operations/services.js';
import { checkKey, once, prepareUnlessAnswered, type IdempotentCall } from './once.js';
import { invalidField, parse } from './validation.js';

/** What an operation gets to run with. */
export interface Call<V> {
  readonly viewer: V;
  /** The operation reads and writes only through this. */
  readonly db: Db;
  readonly services: Omit<Services, 'db' | 'probe'>;
  readonly caller: Pick<
    Caller,
    'draw' | 'tryDraw' | 'dryRun' | 'forgetViewerOf' | 'hasApiKey' | 'holder' | 'request' | 'viewer'
  >;
  /** The parts of the jobs that the API needs next; reading them in the same statement saves a round trip. */
  readonly include: JobInclude;
}

export type Allowed = 'anyone' | 'signed in' | readonly Role[];

type ViewerOf<A extends Allowed> = A extends 'anyone'
  ? null
  : A extends readonly (infer R extends Role)[]
    ? ViewerWith<R>
    : Viewer;

/**
 * The rate-limit budget that a call is counted in before anything is read; with `own` the operation counts it itself.
 */
export type OperationBudget = 'read' | 'write' | 'logInPerAddress' | 'signUp' | 'own';

export interface Operation<Input, Output, A extends Allowed = Allowed, Preparation = unknown> {
  /** The name in GraphQL, which is also the scope of an idempotency key. */
  readonly name: string;
  /** One sentence for readers of the reference. */
  readonly description: string;
  readonly allows: A;
  readonly budget: OperationBudget;
  /** The codes of its own rules, beside those that follow from its input and from the lifecycle. */
  readonly refusals?: readonly string[];
  readonly input: z.ZodType<Input>;
  /** True for operations that open or end a session: they ignore `Idempotency-Key` and `Dry-Run`. */
  readonly ignoresKeyAndDryRun?: boolean;
  /**
   * True for operations that answer a secret. It is never stored, so that they ignore `Idempotency-Key`; and a secret
   * that holds for nothing is none, so that they refuse a dry run.
   */
  readonly answersSecret?: boolean;
  /**
   * True for operations that an API key can't use, such as those on email, password, sessions, and keys. They need a
   * session, and the database must confirm that it's still active.
   */
  readonly needsSession?: boolean;
  /** True for operations that need the database to confirm that the API key or the session is still active. */
  readonly asksDatabase?: boolean;
  /** True where null clears a field, and so differs from leaving it out. */
  readonly nullClears?: boolean;
  /** Loads data that the operation needs, which takes long the first time. Called before a transaction begins. */
  load?(input: Input): Promise<void>;
  /**
   * Slow work such as hashing, done before a transaction begins; `run` gets its result. In a dry run such an operation
   * must be the only mutation of its request, since the transaction of another one would be open.
   */
  prepare?(call: Call<ViewerOf<A>>, input: Input): Promise<Preparation>;
  // Methods, so that operations of different viewers fit into one registry.
  run(call: Call<ViewerOf<A>>, input: Input, preparation: Preparation): Promise<Output>;
}

/** The others only read, or open sessions and accounts, which have budgets of their own. */
export function isWrite({ budget }: Pick<Operation<unknown, unknown>, 'budget'>): boolean {
  return budget === 'write';
}

/** Whether the call supports Idempotency-Key. */
export function isRepeatable(operation: Operation<unknown, unknown>): boolean {
  return isWrite(operation) && !operation.ignoresKeyAndDryRun && !operation.answersSecret;
}

/** Infers an operation's types from its parts. */
export function operation<Input, Output, const A extends Allowed, Preparation = void>(
  parts: Operation<Input, Output, A, Preparation>,
): Operation<Input, Output, A, Preparation> {
  return parts;
}

/** A function parses the input later, so that a malformed one is refused after authentication and rate limit. */
export type InputSource = object | (() => Promise<object>);

export async function perform<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: InputSource,
  caller: Caller,
  include: JobInclude = NO_INCLUDE,
): Promise<Output> {
  const { record } = caller.request;
  record.addOperation(operation.name);
  const began = performance.now();
  const recordEnd = (code: string) =>
    caller.services.metrics.recordOperation(operation.name, record.api, code, (performance.now() - began) / 1000);
  try {
    const answer = await checkAndRun(operation, input, caller, include);
    recordEnd('OK');
    // The call has committed its events, which now need positions.
    if (isWrite(operation) && !caller.dryRun) caller.services.live.wake();
    return answer;
  } catch (error) {
    record.noteOverload(error);
    recordEnd(error instanceof Refusal ? error.code : 'INTERNAL');
    throw error;
  }
}

/** The refusals that need no look at what the call is about, in their order; then the operation. */
async function checkAndRun<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: InputSource,
  caller: Caller,
  include: JobInclude,
): Promise<Output> {
  const viewer = await authenticate(operation, caller);
  await drawBudget(operation.budget, viewer, caller);
  assertRole(operation, viewer, caller);
  return run(operation, await parseInput(operation, input), { viewer, caller, include });
}

/** Performs a read nested in another one: it is not counted in a budget; everything else is the same. */
export async function performWithin<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: InputSource,
  caller: Caller,
): Promise<Output> {
  const viewer = await authenticate(operation, caller);
  assertRole(operation, viewer, caller);
  return run(operation, await parseInput(operation, input), { viewer, caller, include: NO_INCLUDE });
}

const NO_INCLUDE: JobInclude = {};

type Traits = Pick<Operation<unknown, unknown>, 'allows' | 'budget' | 'needsSession' | 'asksDatabase'>;

/** Null for an operation that anyone may call. */
async function authenticate(
  { allows, needsSession = false, asksDatabase = needsSession }: Traits,
  caller: Caller,
): Promise<Viewer | null> {
  return allows === 'anyone' ? null : caller.viewer({ byDatabase: asksDatabase });
}

async function drawBudget(budget: OperationBudget, viewer: Viewer | null, caller: Caller): Promise<void> {
  if (budget === 'own') return;
  await caller.draw(budget, viewer ? viewer.userId : addressIdentity(caller.request.address));
}

function assertRole({ allows, budget, needsSession }: Traits, viewer: Viewer | null, caller: Caller): void {
  if (typeof allows !== 'string' && !(viewer && allows.includes(viewer.role)))
    throw refuse('FORBIDDEN', { message: `Only ${allows.map((role) => PLURALS[role]).join(' and ')} may do this.` });
  if (needsSession) assertLogIn(caller);
  if (caller.onlyReads && isWrite({ budget })) throw refuse('FORBIDDEN', { message: NOT_BY_READ_KEY });
}

function assertLogIn({ hasApiKey }: Pick<Caller, 'hasApiKey'>): void {
  if (hasApiKey) throw refuse('FORBIDDEN', { message: NOT_BY_KEY });
}

/** For an operation that needs a session only for some of its input. */
export async function requireSession(caller: Pick<Caller, 'hasApiKey' | 'viewer'>): Promise<void> {
  assertLogIn(caller);
  await caller.viewer({ byDatabase: true });
}

const PLURALS: Record<Role, string> = { homeowner: 'homeowners', contractor: 'contractors', admin: 'admins' };
const NOT_BY_KEY = 'An API key can’t do this. Log in to manage the email address, password, sessions and API keys.';
const NOT_BY_READ_KEY = 'This API key is read-only. To do this, create a key with full access.';

async function parseInput<Input>(
  operation: Pick<Operation<Input, unknown>, 'input'>,
  input: InputSource,
): Promise<Input> {
  return parse(operation.input, typeof input === 'function' ? await input() : input);
}

/** Who performs an operation, and which parts of jobs their API needs next. */
interface CallContext {
  readonly viewer: Viewer | null;
  readonly caller: Caller;
  readonly include: JobInclude;
}

/** Runs the operation: once for its idempotency key, or plainly; in a dry run, or not. */
async function run<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: Input,
  context: CallContext,
): Promise<Output> {
  const { viewer, caller } = context;
  if (operation.answersSecret && caller.dryRun) throw invalidField('Dry-Run', NOTHING_TO_SHOW);
  if (operation.answersSecret || operation.ignoresKeyAndDryRun)
    return operation.run(callOn(caller.pool, context), input, undefined);
  const idempotency = keyOf(operation, input, caller, viewer);
  await operation.load?.(input);
  return idempotency ? runOnce(operation, input, context, idempotency) : runPlainly(operation, input, context);
}

const NOTHING_TO_SHOW = 'does not go with an operation that answers a secret: nothing of it could be shown';

async function runPlainly<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: Input,
  context: CallContext,
): Promise<Output> {
  const preparation = await operation.prepare?.(callOn(context.caller.db, context), input);
  return inDryRunOrNot(operation, context, (db) => runOn(db, operation, input, context, preparation));
}

async function runOnce<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: Input,
  { viewer, caller }: CallContext,
  idempotency: IdempotentCall,
): Promise<Output> {
  // A retry may select other fields, so that the stored answer has no included parts.
  const context = { viewer, caller, include: NO_INCLUDE };
  const prepare = async (): Promise<unknown> => operation.prepare?.(callOn(caller.db, context), input);
  const { earlier, preparation } = operation.prepare
    ? await prepareUnlessAnswered<Output, unknown>(caller.db, idempotency, prepare)
    : {};
  const { answer, isReplay } =
    earlier ??
    (await inDryRunOrNot(operation, context, (db) =>
      once(db, idempotency, (tx) => runOn(tx, operation, input, context, preparation)),
    ));
  caller.replayed ||= isReplay;
  return answer;
}

function runOn<Input, Output>(
  db: Db,
  operation: Operation<Input, Output>,
  input: Input,
  context: CallContext,
  preparation: unknown,
): Promise<Output> {
  return operation.run(callOn(db, context), input, preparation);
}

function callOn<A extends Allowed>(db: Db, { viewer, caller, include }: CallContext): Call<ViewerOf<A>> {
  // `authenticate` and `assertRole` have made sure of it.
  return { viewer: viewer as ViewerOf<A>, db, services: caller.services, caller, include };
}

function inDryRunOrNot<T>(
  operation: Pick<Operation<unknown, unknown>, 'budget'>,
  { caller: { dryRun, db } }: CallContext,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  return dryRun && isWrite(operation) ? dryRun.run(work) : work(db);
}

/** Undefined for a call without an idempotency key. */
function keyOf<I>(
  operation: Operation<I, unknown>,
  input: I,
  caller: Caller,
  viewer: Viewer | null,
): IdempotentCall | undefined {
  const { idempotencyKey } = caller.request;
  if (idempotencyKey === undefined || !viewer || !isWrite(operation)) return undefined;
  const key = checkKey(idempotencyKey);
  const inputSeals = caller.services.seals(fingerprintOf(operation, input));
  return { userId: viewer.userId, operation: operation.name, key, inputSeals };
}
