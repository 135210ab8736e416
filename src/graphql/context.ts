/** What every resolver is handed: the caller, and nothing else. */
import type { Caller } from '../operations/caller.js';

export interface Context {
  readonly caller: Caller;
}
