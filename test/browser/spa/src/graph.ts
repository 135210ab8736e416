/** What the app wants of a GraphQL client, so that the same app runs with Apollo Client and with urql. */
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { createContext, useContext } from 'react';

export type Variables = Record<string, unknown>;

export interface Reading<Data> {
  data: Data | undefined;
  error: string | undefined;
  again(): void;
}

export class Refused extends Error {
  constructor(
    message: string,
    readonly code: unknown,
  ) {
    super(message);
  }
}

export interface Graph {
  useRead<Data, V extends Variables>(
    document: TypedDocumentNode<Data, V>,
    variables: V,
    pollMs?: number,
  ): Reading<Data>;
  /** Throws a `Refused`. */
  useWrite(): <Data, V extends Variables>(document: TypedDocumentNode<Data, V>, variables: V) => Promise<Data>;
}

export const GraphContext = createContext<Graph | undefined>(undefined);

export function useGraph(): Graph {
  const graph = useContext(GraphContext);
  if (!graph) throw new Error('The app runs inside a GraphContext.');
  return graph;
}
