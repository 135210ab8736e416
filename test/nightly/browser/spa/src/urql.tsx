import { print } from 'graphql';
import { useMemo, useSyncExternalStore } from 'react';
import { Provider, useClient, useQuery, type AnyVariables } from 'urql';
import { createSocket } from './live';
import { createClient } from './urql-client';
import { openOn } from './urql-live';
import { sendWith } from './urql-send';
import { App } from './app';
import { GraphContext, type Graph } from './graph';
import { onSessionChange, readSession } from './session';
import { show } from './show';

const graphOn = (socket: ReturnType<typeof createSocket>): Graph => ({
  useRead(query, variables) {
    const used = useClient();
    const [{ data, error }] = useQuery<unknown, AnyVariables>({ query, variables });
    const again = () => used.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
    return { data: data as never, error: error?.message, again };
  },
  useStream() {
    return (document, variables) => openOn(socket, { query: print(document) }, variables);
  },
  useWrite() {
    return sendWith(useClient());
  },
});

function Root() {
  const userId = useSyncExternalStore(onSessionChange, () => readSession()?.userId);
  const client = useMemo(() => createClient(import.meta.env['VITE_API']), [userId]);
  const graph = useMemo(() => graphOn(createSocket(import.meta.env['VITE_API'])), [userId]);
  return (
    <Provider key={userId} value={client}>
      <GraphContext value={graph}>
        <App />
      </GraphContext>
    </Provider>
  );
}

show(<Root />);
