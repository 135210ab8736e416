import { Ctx, Query, Resolver } from 'type-graphql';
import { readCatalog, readLifecycle } from '../../market/operations/reference.js';
import { perform } from '../../platform/call/operation.js';
import type { Context } from '../context.js';
import { Catalog, Lifecycle } from '../types/reference.js';
import { queryOptions } from './field-options.js';

@Resolver()
export class ReferenceResolver {
  @Query(() => Lifecycle, queryOptions(readLifecycle))
  lifecycle(@Ctx() { caller }: Context) {
    return perform(readLifecycle, {}, caller);
  }

  @Query(() => Catalog, queryOptions(readCatalog))
  catalog(@Ctx() { caller }: Context) {
    return perform(readCatalog, {}, caller);
  }
}
