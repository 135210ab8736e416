import { CombinedGraphQLErrors, type OperationVariables } from '@apollo/client';
import { ApolloProvider, useApolloClient, useQuery } from '@apollo/client/react';
import { createClient } from '../docs/apollo-client';
import { App } from './app';
import { GraphContext, Refused, type Graph } from './graph';
import { show } from './show';

const client = createClient(import.meta.env['VITE_API']);

const graph: Graph = {
  useRead(document, variables, pollMs = 0) {
    const { data, error, refetch } = useQuery<unknown, OperationVariables>(document, {
      variables,
      pollInterval: pollMs,
    });
    return { data: data as never, error: error?.message, again: () => void refetch() };
  },
  useWrite() {
    const used = useApolloClient();
    return async (mutation, variables) => {
      try {
        const { data } = await used.mutate<unknown, OperationVariables>({ mutation, variables });
        return data as never;
      } catch (error) {
        if (!CombinedGraphQLErrors.is(error)) throw error;
        throw new Refused(error.message, error.errors[0]?.extensions?.['code']);
      }
    };
  },
};

show(
  <ApolloProvider client={client}>
    <GraphContext value={graph}>
      <App />
    </GraphContext>
  </ApolloProvider>,
);
