/** The resolvers' context. Its loaders read nested objects in batches. */
import type { Context as PlatformContext } from '../platform/graphql/context.js';
import type { Caller } from '../market/operations/operation.js';
import type { Loaders } from './loaders.js';

export interface Context extends PlatformContext {
  readonly caller: Caller;
  readonly loaders: Loaders;
}
