import { CombinedGraphQLErrors, type OperationVariables } from '@apollo/client';
import { ApolloProvider, useApolloClient, useQuery } from '@apollo/client/react';
import { createClient } from '../docs/apollo-client';
import { openWith } from '../docs/apollo-live';
import { App } from './app';
import { GraphContext, Refused, type Graph } from './graph';
import { show } from './show';

const client = createClient(import.meta.env['VITE_API']);

const graph: Graph = {
  useRead(document, variables) {
    const { data, error, refetch } = useQuery<unknown, OperationVariables>(document, { variables });
    return { data: data as never, error: error?.message, again: () => refetch() };
  },
  useStream() {
    const used = useApolloClient();
    return (document, variables) => openWith(used, document as never, variables);
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
