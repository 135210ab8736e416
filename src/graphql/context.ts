/** What every resolver is handed: the caller, and the loaders that read nested things together. */
import type { GraphQLError } from 'graphql';
import type { Caller } from '../operations/caller.js';
import { Failures } from './failures.js';
import { Loaders } from './loaders.js';
import type { Opening } from './streams/opening.js';

/** What the limits found of an operation before it runs. */
export interface Checked {
  /** What it costs, and the most that it could have cost; unknown where it was not asked for at the right address. */
  readonly cost?: { readonly requested: number; readonly max: number; readonly remaining: number };
  /** If there are any, the operation does not run. */
  readonly refusals: readonly GraphQLError[];
}

export interface Context {
  readonly caller: Caller;
  readonly loaders: Loaders;
  readonly failures: Failures;
  /** Whether the request's headers ask for a dry run. */
  readonly wantsDryRun: boolean;
  /** Where the document is a subscription: its stream, which is being opened. */
  readonly opening: Opening | undefined;
  /** What is refused in front of Apollo is worded by Apollo: its document is not checked a second time for that. */
  checked: Checked | undefined;
}

export function contextOf(caller: Caller, wantsDryRun = false, opening?: Opening): Context {
  return { caller, loaders: new Loaders(caller), failures: new Failures(), wantsDryRun, opening, checked: undefined };
}
