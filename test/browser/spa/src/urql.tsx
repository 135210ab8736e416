import { print } from 'graphql';
import { Provider, useClient, useQuery, type AnyVariables } from 'urql';
import { createSocket } from '../docs/live';
import { createClient } from '../docs/urql-client';
import { openOn } from '../docs/urql-live';
import { App } from './app';
import { GraphContext, Refused, type Graph } from './graph';
import { show } from './show';

const client = createClient(import.meta.env['VITE_API']);
const socket = createSocket(import.meta.env['VITE_API']);

const graph: Graph = {
  useRead(query, variables) {
    const used = useClient();
    const [{ data, error }] = useQuery<unknown, AnyVariables>({ query, variables });
    const again = () => used.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
    return { data: data as never, error: error?.message, again };
  },
  useStream() {
    return (document, variables) => openOn(socket, print(document), variables);
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
