/**
 * The frame that runs every operation. Whichever API a call came through, it can be refused in one order only:
 * who is it, how often, may such a person do this at all, is the input in shape; then the operation's own rules.
 */
import type { z } from 'zod';
import { refuse, Refusal, type ErrorCode } from '../rules/errors.js';
import type { BudgetName } from '../rules/limits.js';
import type { Role, Viewer, ViewerWith } from '../rules/viewer.js';
import { addressIdentity } from '../security/address.js';
import type { JobInclude } from '../store/job-include.js';
import type { Db } from '../store/database.js';
import { checkingSession } from '../store/session-check.js';
import type { CachedSession, Caller, Drawn } from './caller.js';
import { fingerprintOf } from './fingerprint.js';
import type { Services } from './services.js';
import { checkKey, earlierAnswer, once, type Answered, type Keyed } from './once.js';
import { parse } from './validation.js';

/** What an operation is handed to run with. */
export interface Call<V> {
  readonly viewer: V;
  /** All that the operation reads and writes goes through here. */
  readonly db: Db;
  readonly services: Omit<Services, 'db' | 'probe'>;
  readonly caller: Pick<Caller, 'draw' | 'forgetViewer' | 'holder' | 'request'>;
  /**
   * What the API will want to know next of the jobs that are read; to read it at once costs no round trip of its own.
   */
  readonly include: JobInclude;
}

export type Allowed = 'anyone' | 'signed in' | readonly Role[];

type ViewerOf<A extends Allowed> = A extends 'anyone'
  ? null
  : A extends readonly (infer R extends Role)[]
    ? ViewerWith<R>
    : Viewer;

/** Whose budget a call draws on before anything is read: `own` leaves that to the operation, which knows more. */
export type OperationBudget = 'read' | 'write' | 'logInPerAddress' | 'signUp' | 'own';

export interface Operation<Input, Output, A extends Allowed = Allowed, Prepared = unknown> {
  /** As GraphQL spells it; also the scope of an idempotency key. */
  readonly name: string;
  /** One sentence for readers of the reference. */
  readonly description: string;
  readonly allows: A;
  readonly budget: OperationBudget;
  readonly input: z.ZodType<Input>;
  /**
   * True for what answers a secret or ends a log-in: `Idempotency-Key` and `Dry-Run` are ignored, since no secret is
   * ever stored.
   */
  readonly alwaysForReal?: boolean;
  /** True for what an API key may not do: email, password, sessions, keys and webhooks are for their owner alone. */
  readonly needsSession?: boolean;
  /** True where null clears a field, and so says something else than leaving it out. */
  readonly nullClears?: boolean;
  /** Loads what the operation looks things up in, which takes long the first time. No transaction is held meanwhile. */
  load?(input: Input): Promise<void>;
  /**
   * Slow work that needs no transaction, such as hashing. It is done before one begins, and `run` is handed its result.
   * In a dry run such an operation is the only mutation of its request: the transaction of another would be open.
   */
  prepare?(call: Call<ViewerOf<A>>, input: Input): Promise<Prepared>;
  // Methods, so that operations of different viewers fit into one registry.
  run(call: Call<ViewerOf<A>>, input: Input, prepared: Prepared): Promise<Output>;
}

/** Infers an operation's types from its parts. */
export function operation<Input, Output, const A extends Allowed, Prepared = void>(
  parts: Operation<Input, Output, A, Prepared>,
): Operation<Input, Output, A, Prepared> {
  return parts;
}

export async function perform<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  caller: Caller,
  include: JobInclude = NO_INCLUDE,
): Promise<Output> {
  const { record } = caller.request;
  record.began(operation.name);
  const began = performance.now();
  const ended = (code: ErrorCode | 'OK') =>
    caller.services.metrics.performed(operation.name, record.api, code, (performance.now() - began) / 1000);
  try {
    const answer = await performUnrecorded(operation, input, caller, include);
    ended('OK');
    // Whatever was committed has its events by now, which want their positions.
    if (operation.budget === 'write' && !caller.dryRun) caller.services.live.wake();
    return answer;
  } catch (error) {
    record.noticed(error);
    ended(error instanceof Refusal ? error.code : 'INTERNAL');
    throw error;
  }
}

async function performUnrecorded<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  caller: Caller,
  include: JobInclude,
): Promise<Output> {
  const cached = mayUseCachedSession(operation, caller) ? caller.cachedSession() : undefined;
  if (cached) return performCached(operation, input, caller, cached, include);
  const viewer = operation.allows === 'anyone' ? null : await caller.viewer();
  await drawBudget(operation.budget, viewer, caller);
  return admit(operation, input, { caller, viewer, include, db: caller.db });
}

/** A dry run has its transaction begun only for a caller whose session has been checked. */
function mayUseCachedSession(operation: Traits, caller: Caller): boolean {
  const { allows, budget, alwaysForReal } = operation;
  return allows !== 'anyone' && budget !== 'own' && !alwaysForReal && !isInDryRun(operation, caller);
}

type Traits = Pick<Operation<unknown, unknown>, 'allows' | 'budget' | 'alwaysForReal'>;

/** Whether the operation would write, in a request that keeps nothing. */
function isInDryRun({ budget }: Traits, { dryRun }: Caller): boolean {
  return dryRun !== undefined && budget === 'write';
}

/**
 * The session is checked in the same statement as the operation's first read. That the session is over comes
 * before anything else there is to say.
 */
async function performCached<Input, Output>(
  operation: Operation<Input, Output>,
  input: unknown,
  caller: Caller,
  session: CachedSession,
  include: JobInclude,
): Promise<Output> {
  const { viewer } = session;
  let drawn: Drawn | undefined;
  try {
    drawn = await drawBudget(operation.budget, viewer, caller);
    const answer = await admit(operation, input, { caller, viewer, include, db: checkingSession(caller.db, session) });
    await session.ask();
    return answer;
  } catch (error) {
    await session.ask().catch(async (over: unknown) => {
      caller.taken.delete(operation.budget as BudgetName);
      await drawn?.giveBack();
      throw over;
    });
    throw error;
  }
}

/** A read within another: a nested field costs no budget of its own, and all else is the same. */
export async function performWithin<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  caller: Caller,
): Promise<Output> {
  const viewer = operation.allows === 'anyone' ? null : await caller.viewer();
  return admit(operation, input, { caller, viewer, include: NO_INCLUDE, db: caller.db });
}

const NO_INCLUDE: JobInclude = {};
const NOTHING_PREPARED: Ready = { prepared: undefined };

/** Who calls, for what, and where what they ask for is read and written. */
interface Admission {
  readonly caller: Caller;
  readonly viewer: Viewer | null;
  readonly include: JobInclude;
  readonly db: Db;
}

/** Refuses whom the operation is not for, and then an input that is not in shape; nothing has run by then. */
async function admit<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  admission: Admission,
): Promise<Output> {
  requireRole(operation.allows, admission.viewer);
  if (operation.needsSession && admission.caller.bearsApiKey) throw notForKeys();
  return run(operation, parsed(operation, input), admission);
}

/** Runs the operation once: with a key, in a dry run, or as it is. */
async function run<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: Input,
  { caller, viewer, include, db }: Admission,
): Promise<Output> {
  const { services, dryRun, pool } = caller;
  const callOn = (on: Db, wanted: JobInclude): Call<ViewerOf<A>> => {
    return { viewer: viewer as ViewerOf<A>, db: on, services, caller, include: wanted };
  };
  if (operation.alwaysForReal) return operation.run(callOn(pool, include), input, undefined);

  const keyed = keyOf(operation, input, caller, viewer);
  if (operation.load) await operation.load(input);
  const prepare = async (): Promise<Ready> => {
    return { prepared: await operation.prepare?.(callOn(db, NO_INCLUDE), input) };
  };
  const ready = operation.prepare ? await unlessAnswered<Output>(db, keyed, prepare) : NOTHING_PREPARED;
  if ('answer' in ready) return replay(caller, ready);
  const { prepared } = ready;
  const act = async (on: Db): Promise<Output> => {
    if (!keyed) return operation.run(callOn(on, include), input, prepared);
    // A retry may select other fields: the answer that is kept is whole.
    return replay(caller, await once(on, keyed, (tx) => operation.run(callOn(tx, NO_INCLUDE), input, prepared)));
  };
  return dryRun && isInDryRun(operation, caller) ? dryRun.run(act) : act(db);
}

/** Undefined for a call that no key repeats. */
function keyOf<I>(
  operation: Operation<I, unknown>,
  input: I,
  caller: Caller,
  viewer: Viewer | null,
): Keyed | undefined {
  const { idempotencyKey } = caller.request;
  if (idempotencyKey === undefined || !viewer || operation.budget !== 'write') return undefined;
  const key = checkKey(idempotencyKey);
  const inputSeals = caller.services.seals(fingerprintOf(operation, input));
  return { userId: viewer.userId, operation: operation.name, key, inputSeals };
}

function replay<Output>(caller: Caller, { answer, replayed }: Answered<Output>): Output {
  caller.replayed ||= replayed;
  return answer;
}

/** What was prepared for `run`. */
interface Ready {
  readonly prepared: unknown;
}

/**
 * An earlier answer comes before the work of preparing, which may not succeed again: the password that was the current
 * one is another by now. For the same reason a failure is followed by a second look, for a call that was faster.
 */
async function unlessAnswered<Output>(
  db: Db,
  keyed: Keyed | undefined,
  prepare: () => Promise<Ready>,
): Promise<Answered<Output> | Ready> {
  const earlier = keyed && (await earlierAnswer<Output>(db, keyed));
  if (earlier) return earlier;
  try {
    return await prepare();
  } catch (error) {
    const meanwhile = keyed && (await earlierAnswer<Output>(db, keyed));
    if (meanwhile) return meanwhile;
    throw error;
  }
}

/**
 * An API may hand over a way to read the input: what cannot be read is refused in its turn, after who calls and how
 * often.
 */
function parsed<Input>(operation: Pick<Operation<Input, unknown>, 'input'>, input: unknown): Input {
  const sent: unknown = typeof input === 'function' ? input() : input;
  return parse(operation.input, sent ?? {});
}

async function drawBudget(budget: OperationBudget, viewer: Viewer | null, caller: Caller): Promise<Drawn | undefined> {
  if (budget === 'own') return undefined;
  return caller.draw(budget, viewer ? viewer.userId : addressIdentity(caller.request.address));
}

function requireRole(allows: Allowed, viewer: { readonly role: Role } | null): void {
  if (typeof allows === 'string' || (viewer && allows.includes(viewer.role))) return;
  throw refuse('FORBIDDEN', { message: `Only ${allows.map((role) => PLURALS[role]).join(' and ')} may do this.` });
}

function notForKeys() {
  return refuse('FORBIDDEN', {
    message:
      'An API key may not do this: email, password, sessions, API keys and webhooks are managed by a log-in alone.',
  });
}

const PLURALS: Record<Role, string> = { homeowner: 'homeowners', contractor: 'contractors', admin: 'admins' };
