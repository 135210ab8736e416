import type { OperationVariables } from '@apollo/client';
import { useApolloClient, useQuery } from '@apollo/client/react';
import { Root } from './apollo-root';
import { openWith } from './apollo-live';
import { sendWith } from './apollo-send';
import { App } from './app';
import { BoardPage } from './apollo-board-page';
import { GraphContext, type Graph } from './graph';
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

show(
  <Root api={import.meta.env['VITE_API']}>
    <GraphContext value={graph}>{location.hash === '#/board' ? <BoardPage /> : <App />}</GraphContext>
  </Root>,
);
