import { useEffect } from 'react';
import { Provider, useClient, useQuery, type AnyVariables } from 'urql';
import { createClient } from '../docs/urql-client';
import { App } from './app';
import { GraphContext, Refused, type Graph } from './graph';
import { show } from './show';

const client = createClient(import.meta.env['VITE_API']);

const graph: Graph = {
  useRead(query, variables, pollMs = 0) {
    const [{ data, error, fetching }, again] = useQuery<unknown, AnyVariables>({ query, variables });
    useEffect(() => {
      if (pollMs === 0 || fetching) return undefined;
      const timer = setTimeout(() => again({ requestPolicy: 'network-only' }), pollMs);
      return () => clearTimeout(timer);
    }, [again, fetching, pollMs]);
    return { data: data as never, error: error?.message, again: () => again({ requestPolicy: 'network-only' }) };
  },
  useWrite() {
    const used = useClient();
    return async (mutation, variables) => {
      const { data, error } = await used.mutation<unknown, AnyVariables>(mutation, variables).toPromise();
      if (error) throw new Refused(error.message, error.graphQLErrors[0]?.extensions['code']);
      return data as never;
    };
  },
};

show(
  <Provider value={client}>
    <GraphContext value={graph}>
      <App />
    </GraphContext>
  </Provider>,
);
