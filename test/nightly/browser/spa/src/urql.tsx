import { print } from 'graphql';
import { useContext } from 'react';
import { useClient, useQuery, type AnyVariables } from 'urql';
import { App } from './app';
import { GraphContext, type Graph } from './graph';
import { show } from './show';
import { openOn } from './urql-live';
import { Root, SocketContext } from './urql-root';
import { sendWith } from './urql-send';

const graph: Graph = {
  useRead(query, variables) {
    const used = useClient();
    const [{ data, error }] = useQuery<unknown, AnyVariables>({ query, variables });
    const again = () => used.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
    return { data: data as never, error: error?.message, again };
  },
  useStream() {
    const socket = useContext(SocketContext);
    if (!socket) throw new Error('The app runs inside a Root.');
    return (document, variables) => openOn(socket, { query: print(document) }, variables);
  },
  useWrite() {
    return sendWith(useClient());
  },
};

show(
  <Root api={import.meta.env['VITE_API']}>
    <GraphContext value={graph}>
      <App />
    </GraphContext>
  </Root>,
);
