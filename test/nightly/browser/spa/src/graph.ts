/** The parts of a GraphQL client that the app needs. This lets the same app run with Apollo Client and urql. */
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { createContext, useContext, useEffect, useEffectEvent } from 'react';
import { follow, type Open } from './live';
import type { Send } from './sign-in';

export type Variables = Record<string, unknown>;

export interface Reading<Data> {
  data: Data | undefined;
  error: string | undefined;
  again(): Promise<unknown>;
}

export interface Graph {
  useRead<Data, V extends Variables>(document: TypedDocumentNode<Data, V>, variables: V): Reading<Data>;
  /** Opens a subscription that gives its only field the alias `event`. */
  useStream(): <Event, V extends Variables>(
    document: TypedDocumentNode<{ event: Event }, V>,
    variables: Omit<V, 'after'>,
  ) => Open<Event>;
  useWrite(): Send;
}

export const GraphContext = createContext<Graph | undefined>(undefined);

export function useGraph(): Graph {
  const graph = useContext(GraphContext);
  if (!graph) throw new Error('The app runs inside a GraphContext.');
  return graph;
}

/** Follows the events after a position, once the position is known. */
export function useEvents<Event extends { position?: string | null }, V extends Variables>(
  document: TypedDocumentNode<{ event: Event }, V>,
  variables: Omit<V, 'after'>,
  after: string | undefined,
  onEvent: (event: Event) => void,
): void {
  const open = useGraph().useStream()(document, variables);
  const isKnown = after !== undefined;
  const begin = useEffectEvent(() => follow(open, after, onEvent, (code) => console.error('A stream failed:', code)));
  useEffect(() => (isKnown ? begin() : undefined), [isKnown]);
}
