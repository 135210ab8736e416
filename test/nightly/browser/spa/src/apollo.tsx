import type { OperationVariables } from '@apollo/client';
import { ApolloProvider, useApolloClient, useQuery } from '@apollo/client/react';
import { useMemo, useSyncExternalStore } from 'react';
import { createClient } from './apollo-client';
import { openWith } from './apollo-live';
import { sendWith } from './apollo-send';
import { App } from './app';
import { GraphContext, type Graph } from './graph';
import { onSessionChange, readSession } from './session';
import { show } from './show';

const graph: Graph = {
  useRead(document, variables) {
    const { data, error, refetch } = useQuery<unknown, OperationVariables>(document, { variables });
    return { data: data as never, error: error?.message, again: () => refetch() };
  },
  useStream() {
    const used = useApolloClient();
    return (document, variables) => openWith(used, document, variables);
  },
  useWrite() {
    return sendWith(useApolloClient());
  },
};

function Root() {
  const userId = useSyncExternalStore(onSessionChange, () => readSession()?.userId);
  const client = useMemo(() => createClient(import.meta.env['VITE_API']), [userId]);
  return (
    <ApolloProvider key={userId} client={client}>
      <GraphContext value={graph}>
        <App />
      </GraphContext>
    </ApolloProvider>
  );
}

show(<Root />);
