/** What every resolver is handed: the caller, and the loaders that read nested things together. */
import type { Caller } from '../operations/caller.js';
import { Failures } from './failures.js';
import { Loaders } from './loaders.js';
import type { Opening } from './streams/opening.js';

export interface Context {
  readonly caller: Caller;
  readonly loaders: Loaders;
  readonly failures: Failures;
  /** Whether the request's headers ask for a dry run. */
  readonly wantsDryRun: boolean;
  /** Where the document is a subscription: its stream, which is being opened. */
  readonly opening: Opening | undefined;
}

export function contextOf(caller: Caller, wantsDryRun = false, opening?: Opening): Context {
  return { caller, loaders: new Loaders(caller), failures: new Failures(), wantsDryRun, opening };
}
