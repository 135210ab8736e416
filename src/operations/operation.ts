/**
 * The frame that runs every operation. Whichever door a call came through, it can be refused in one order only:
 * who is it, how often, may such a person do this at all, is the input in shape; then the operation's own rules.
 */
import type { z } from 'zod';
import { refuse } from '../rules/errors.js';
import type { BudgetName } from '../rules/limits.js';
import type { Role, Viewer, ViewerWith } from '../rules/viewer.js';
import { addressIdentity } from '../security/address.js';
import type { Beside } from '../store/beside.js';
import { asRefusal } from '../store/database-errors.js';
import type { Db } from '../store/database.js';
import { ridingOn } from '../store/riding.js';
import type { Caller, Drawn, Presumption } from './caller.js';
import type { House } from './house.js';
import { checkKey, once } from './once.js';
import { parse } from './validation.js';

/** What an operation is handed to run with. */
export interface Call<V> {
  readonly viewer: V;
  readonly db: Db;
  readonly house: House;
  readonly caller: Caller;
  /** What the door will want to know next of the jobs that are read; to read it at once costs no round trip of its own. */
  readonly beside: Beside;
}

export type Allowed = 'anyone' | 'signed in' | readonly Role[];

type ViewerOf<A extends Allowed> = A extends 'anyone' ? null : A extends readonly (infer R extends Role)[] ? ViewerWith<R> : Viewer;

/** Whose budget a call draws on before anything is read: `own` leaves that to the operation, which knows more. */
export type OperationBudget = 'read' | 'write' | 'logInPerAddress' | 'signUp' | 'own';

export interface Operation<Input, Output, A extends Allowed = Allowed> {
  /** As GraphQL spells it; also the scope of an idempotency key. */
  readonly name: string;
  /** One sentence for whoever reads the reference. */
  readonly says: string;
  readonly allows: A;
  readonly budget: OperationBudget;
  readonly input: z.ZodType<Input>;
  /** True for what hands out or ends a log-in: no key replays it and no dry run undoes it, since no token is ever stored. */
  readonly aboutSessions?: boolean;
  // A method, so that operations of different viewers fit into one registry.
  run(call: Call<ViewerOf<A>>, input: Input): Promise<Output>;
}

/** Infers an operation's types from its parts. */
export function operation<Input, Output, const A extends Allowed>(parts: Operation<Input, Output, A>): Operation<Input, Output, A> {
  return parts;
}

export async function perform<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  caller: Caller,
  beside: Beside = NOTHING_BESIDE,
): Promise<Output> {
  const presumed = operation.allows === 'anyone' || operation.budget === 'own' || operation.aboutSessions ? undefined : caller.presume();
  if (presumed) return performPresumed(operation, input, caller, presumed, beside);
  const viewer = operation.allows === 'anyone' ? null : await caller.viewer();
  await drawBudget(operation.budget, viewer, caller);
  try {
    return await run(operation, input, caller, viewer, beside);
  } catch (error) {
    // Inside the one transaction of a dry run, nobody else has put the database's failures into words.
    throw asRefusal(error);
  }
}

/** The session's check rides on whatever the operation reads first. That the session is over comes before anything else there is to say. */
async function performPresumed<Input, Output>(operation: Operation<Input, Output>, input: unknown, caller: Caller, presumed: Presumption, beside: Beside): Promise<Output> {
  let drawn: Drawn | undefined;
  try {
    drawn = await drawBudget(operation.budget, presumed.viewer, caller);
    const answer = await run(operation, input, caller, presumed.viewer, beside, ridingOn(caller.db, presumed));
    await presumed.ask();
    return answer;
  } catch (error) {
    await presumed.ask().catch(async (over: unknown) => {
      caller.taken.delete(operation.budget as BudgetName);
      await drawn?.giveBack();
      throw over;
    });
    throw asRefusal(error);
  }
}

/** A read within another: a nested field costs no budget of its own, and all else is the same. */
export async function performWithin<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  caller: Caller,
): Promise<Output> {
  return run(operation, input, caller, operation.allows === 'anyone' ? null : await caller.viewer(), NOTHING_BESIDE);
}

const NOTHING_BESIDE: Beside = {};

async function run<Input, Output, A extends Allowed>(
  operation: Operation<Input, Output, A>,
  input: unknown,
  caller: Caller,
  viewer: Viewer | null,
  beside: Beside,
  db: Db = caller.db,
): Promise<Output> {
  requireRole(operation.allows, viewer);
  const parsed = read(operation, input);
  const { house } = caller;
  const runOn = (db: Db, beside: Beside) => operation.run({ viewer: viewer as ViewerOf<A>, db, house, caller, beside }, parsed);
  if (operation.aboutSessions) return runOn(caller.poolDb, beside);

  const key = viewer && operation.budget === 'write' ? caller.request.idempotencyKey : undefined;
  if (key === undefined || !viewer) return runOn(db, beside);
  const keyed = { userId: viewer.userId, operation: operation.name, key: checkKey(key), inputSeal: house.seal(JSON.stringify(parsed)) };
  // Whoever sends it again may select something else: the answer that is kept is whole.
  const { answer, replayed } = await once(db, keyed, (tx) => runOn(tx, NOTHING_BESIDE));
  caller.replayed ||= replayed;
  return answer;
}

/** A door may hand over a way to read the input: what cannot be read is refused in its turn, behind who and how often. */
function read<Input>(operation: Operation<Input, unknown>, input: unknown): Input {
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

const PLURALS: Record<Role, string> = { homeowner: 'homeowners', contractor: 'contractors', admin: 'admins' };
