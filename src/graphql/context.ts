/** What every resolver is handed: the caller, and the loaders that read nested things together. */
import type { Caller } from '../operations/caller.js';
import { Failures } from './failures.js';
import { Loaders } from './loaders.js';

export interface Context {
  readonly caller: Caller;
  readonly loaders: Loaders;
  readonly failures: Failures;
  /** Whether the request's headers ask for a dry run. */
  readonly wantsDryRun: boolean;
}

export function contextOf(caller: Caller, wantsDryRun: boolean): Context {
  return { caller, loaders: new Loaders(caller), failures: new Failures(), wantsDryRun };
}
