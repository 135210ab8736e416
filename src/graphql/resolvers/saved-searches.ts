import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import type { Me } from '../../market/operations/accounts/me.js';
import {
  createSavedSearch,
  deleteSavedSearch,
  listSavedSearches,
  updateSavedSearch,
} from '../../market/operations/searches/saved-searches.js';
import { perform, performWithin } from '../../platform/call/operation.js';
import type { Context } from '../context.js';
import { Viewer } from '../types/account.js';
import { Connection, PageArgs } from '../types/connection.js';
import { Input, inputOf } from '../types/field.js';
import { CreateSavedSearchPayload, DeleteSavedSearchPayload, UpdateSavedSearchPayload } from '../types/payloads.js';
import { SavedSearchConnection } from '../types/saved-searches.js';
import { mutationOptions } from './field-options.js';

const CreateSavedSearchInput = inputOf(
  'CreateSavedSearchInput',
  createSavedSearch.input,
  'The jobs to find, and when to email you about them.',
);
const UpdateSavedSearchInput = inputOf(
  'UpdateSavedSearchInput',
  updateSavedSearch.input,
  'The fields to change. Omitted and null fields are unchanged.',
);

const Id = () => Arg('id', () => ID, { description: 'The saved search.' });

@Resolver()
export class SavedSearchResolver {
  @Mutation(() => CreateSavedSearchPayload, mutationOptions(createSavedSearch))
  createSavedSearch(@Input(CreateSavedSearchInput) input: object, @Ctx() { caller }: Context) {
    return perform(createSavedSearch, input, caller).then((savedSearch) => ({ savedSearch }));
  }

  @Mutation(() => UpdateSavedSearchPayload, mutationOptions(updateSavedSearch))
  updateSavedSearch(@Id() id: string, @Input(UpdateSavedSearchInput) input: object, @Ctx() { caller }: Context) {
    return perform(updateSavedSearch, Object.assign({}, input, { id }), caller).then((savedSearch) => ({
      savedSearch,
    }));
  }

  @Mutation(() => DeleteSavedSearchPayload, mutationOptions(deleteSavedSearch))
  deleteSavedSearch(@Id() id: string, @Ctx() { caller }: Context) {
    return perform(deleteSavedSearch, { id }, caller).then((search) => ({ deletedSavedSearchId: search.id }));
  }
}

@Resolver(() => Viewer)
export class ViewerSavedSearchesResolver {
  @FieldResolver(() => SavedSearchConnection, {
    nullable: true,
    description: 'Your saved searches, newest first. Null unless you’re a contractor.',
  })
  async savedSearches(@Args(() => PageArgs) page: PageArgs, @Root() { contractor }: Me, @Ctx() { caller }: Context) {
    return contractor && new Connection(await performWithin(listSavedSearches, page, caller));
  }
}
