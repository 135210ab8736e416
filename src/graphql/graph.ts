/** The parts of this market that the platform's GraphQL code uses. */
import type { GraphQLSchema } from 'graphql';
import { OPERATIONS } from '../market/operations/index.js';
import { JOB_ACTION_LIST } from '../market/rules/lifecycle.js';
import type { Graph } from '../platform/graphql/api.js';
import type { Caller } from '../market/operations/operation.js';
import { Loaders } from './loaders.js';
import { textCharactersOf } from '../platform/graphql/limits/cost.js';
import { entitiesShown } from './types/field.js';

const ENTRIES = new Set(
  Object.values(OPERATIONS)
    .filter(({ budget }) => budget === 'logInPerAddress' || budget === 'signUp')
    .map(({ name }) => name),
);

export function graphOf(schema: GraphQLSchema): Graph {
  return {
    schema,
    operations: new Map(Object.entries(OPERATIONS)),
    entries: ENTRIES,
    texts: textCharactersOf(entitiesShown()),
    unpagedListEntries: JOB_ACTION_LIST.length,
    loadersFor: (caller: Caller) => new Loaders(caller),
  };
}
