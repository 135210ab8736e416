/**
 * Runs every operation of both APIs, and checks each call in one order: authentication, rate limit, role, input; then
 * the operation's own rules.
 */
import type { z } from 'zod';
import { refuse, Refusal, type ErrorCode } from '../rules/errors.js';
import type { Role, Viewer, ViewerWith } from '../rules/viewer.js';
import { addressIdentity } from '../security/address.js';
import type { JobInclude } from '../store/job-parts.js';
import type { Db } from '../store/database.js';
import type { Caller } from './caller.js';
import { fingerprintOf } from './fingerprint.js';
import type { Services } from './services.js';
import { checkKey, once, earlierAnswerOr, type StoredAnswer, type IdempotentCall } from './once.js';
import { parse } from './validation.js';

/** What an operation gets to run with. */
export interface Call<V> {
  readonly viewer: V;
  /** The operation reads and writes only through this. */
  readonly db: Db;
  readonly services: Omit<Services, 'db' | 'probe'>;
  readonly caller: Pick<Caller, 'draw' | 'forgetViewer' | 'holder' | 'request'>;
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
  readonly input: z.ZodType<Input>;
  /**
   * True for operations that answer a secret or end a session: they ignore `Idempotency-Key` and `Dry-Run`, since a
   * secret is never stored.
   */
  readonly alwaysForReal?: boolean;
  /**
   * True for operations that an API key may not use: email, password, sessions, keys and webhooks need a session, and
   * one that the database finds active at this moment.
   */
  readonly needsSession?: boolean;
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

/** Infers an operation's types from its parts. */
export function operation<Input, Output, const A extends Allowed, Preparation = void>(
  parts: Operation<Input, Output, A, Preparation>,
): Operation<Input, Output, A, Preparation> {
  return parts;
}

export async function perform<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  caller: Caller,
  include: JobInclude = NO_INCLUDE,
): Promise<Output> {
  const { record } = caller.request;
  record.addOperation(operation.name);
  const began = performance.now();
  const recordEnd = (code: ErrorCode | 'OK') =>
    caller.services.metrics.recordOperation(operation.name, record.api, code, (performance.now() - began) / 1000);
  try {
    const answer = await checkAndRun(operation, input, caller, include);
    recordEnd('OK');
    // The call has committed its events, which now need positions.
    if (operation.budget === 'write' && !caller.dryRun) caller.services.live.wake();
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
  input: unknown,
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
  input: unknown,
  caller: Caller,
): Promise<Output> {
  const viewer = await authenticate(operation, caller);
  assertRole(operation, viewer, caller);
  return run(operation, await parseInput(operation, input), { viewer, caller, include: NO_INCLUDE });
}

const NO_INCLUDE: JobInclude = {};

type Traits = Pick<Operation<unknown, unknown>, 'allows' | 'needsSession'>;

/** Null for an operation that anyone may call. */
async function authenticate({ allows, needsSession }: Traits, caller: Caller): Promise<Viewer | null> {
  return allows === 'anyone' ? null : caller.viewer({ byDatabase: needsSession });
}

async function drawBudget(budget: OperationBudget, viewer: Viewer | null, caller: Caller): Promise<void> {
  if (budget === 'own') return;
  await caller.draw(budget, viewer ? viewer.userId : addressIdentity(caller.request.address));
}

function assertRole({ allows, needsSession }: Traits, viewer: Viewer | null, caller: Caller): void {
  if (typeof allows !== 'string' && !(viewer && allows.includes(viewer.role)))
    throw refuse('FORBIDDEN', { message: `Only ${allows.map((role) => PLURALS[role]).join(' and ')} may do this.` });
  if (needsSession && caller.hasApiKey) throw refuse('FORBIDDEN', { message: NOT_BY_KEY });
}

const PLURALS: Record<Role, string> = { homeowner: 'homeowners', contractor: 'contractors', admin: 'admins' };
const NOT_BY_KEY =
  'An API key may not do this: email, password, sessions, API keys and webhooks are managed by a log-in alone.';

/**
 * An API may pass a function that parses the input, so that a malformed input is refused after authentication and rate
 * limit.
 */
async function parseInput<Input>(operation: Pick<Operation<Input, unknown>, 'input'>, input: unknown): Promise<Input> {
  const json: unknown = typeof input === 'function' ? await input() : input;
  return parse(operation.input, json ?? {});
}

interface Context {
  readonly viewer: Viewer | null;
  readonly caller: Caller;
  readonly include: JobInclude;
}

/** Runs the operation: with an idempotency key, in a dry run, or plainly. */
async function run<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: Input,
  { viewer, caller, include }: Context,
): Promise<Output> {
  const { services, db, dryRun, pool } = caller;
  const callOn = (on: Db, include: JobInclude): Call<ViewerOf<A>> => {
    return { viewer: viewer as ViewerOf<A>, db: on, services, caller, include };
  };
  if (operation.alwaysForReal) return operation.run(callOn(pool, include), input, undefined);

  const idempotency = keyOf(operation, input, caller, viewer);
  if (operation.load) await operation.load(input);
  const prepare = async (): Promise<Readiness> => {
    return { preparation: await operation.prepare?.(callOn(db, NO_INCLUDE), input) };
  };
  const ready = operation.prepare ? await earlierAnswerOr<Output, Readiness>(db, idempotency, prepare) : NO_PREPARATION;
  if ('answer' in ready) return replay(caller, ready);
  const { preparation } = ready;
  const act = async (on: Db): Promise<Output> => {
    if (!idempotency) return operation.run(callOn(on, include), input, preparation);
    // A retry may select other fields, so that the stored answer has no included parts.
    return replay(
      caller,
      await once(on, idempotency, (tx) => operation.run(callOn(tx, NO_INCLUDE), input, preparation)),
    );
  };
  return dryRun && operation.budget === 'write' ? dryRun.run(act) : act(db);
}

/** The result of `prepare`. */
interface Readiness {
  readonly preparation: unknown;
}

const NO_PREPARATION: Readiness = { preparation: undefined };

/** Undefined for a call without an idempotency key. */
function keyOf<I>(
  operation: Operation<I, unknown>,
  input: I,
  caller: Caller,
  viewer: Viewer | null,
): IdempotentCall | undefined {
  const { idempotencyKey } = caller.request;
  if (idempotencyKey === undefined || !viewer || operation.budget !== 'write') return undefined;
  const key = checkKey(idempotencyKey);
  const inputSeals = caller.services.seals(fingerprintOf(operation, input));
  return { userId: viewer.userId, operation: operation.name, key, inputSeals };
}

function replay<Output>(caller: Caller, { answer, isReplay }: StoredAnswer<Output>): Output {
  caller.replayed ||= isReplay;
  return answer;
}
