/** A homeowner's pages in one Relay store, as in a browser. */
import { createClient } from 'graphql-ws';
import {
  ConnectionHandler,
  Environment,
  Network,
  Observable,
  RecordSource,
  ROOT_ID,
  Store,
  commitMutation,
  createOperationDescriptor,
  fetchQuery,
  getRequest,
  requestSubscription,
  type GraphQLTaggedNode,
  type MutationParameters,
  type OperationType,
} from 'relay-runtime';
import createJob from './__generated__/pagesCreateJobMutation.graphql.js';
import deleteJob from './__generated__/pagesDeleteJobMutation.graphql.js';
import events, { type pagesEventsSubscription } from './__generated__/pagesEventsSubscription.graphql.js';
import header from './__generated__/pagesHeaderQuery.graphql.js';
import jobsPagination from './__generated__/pagesJobsPaginationQuery.graphql.js';
import jobs from './__generated__/pagesJobsQuery.graphql.js';
import node from './__generated__/pagesNodeQuery.graphql.js';
import publishJob from './__generated__/pagesPublishJobMutation.graphql.js';

export interface Given {
  readonly url: string;
  readonly token: string;
  readonly userId: string;
  readonly WebSocket: unknown;
}

export interface Told {
  /** The user's page, before and after the header has read the same user. */
  readonly user: readonly [before: unknown, after: unknown];
  /** The titles in the list, after each step. */
  readonly titles: Readonly<Record<string, readonly string[]>>;
  readonly tokens: readonly [before: unknown, after: unknown];
  /** What the store knows about a published job before any query reads it again. */
  readonly heard: unknown;
}

const JOBS_KEY = 'pages_jobs';

export async function story({ url, token, userId, WebSocket }: Given): Promise<Told> {
  const subscriptions = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
  });
  const network = Network.create(
    async ({ text }, variables) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query: text, variables }),
      });
      return (await answer.json()) as never;
    },
    ({ text }, variables) =>
      Observable.create((sink) => subscriptions.subscribe({ query: text ?? '', variables }, sink as never)),
  );
  const environment = new Environment({ network, store: new Store(new RecordSource()) });

  /** Like a page that stays open. */
  async function open<Query extends OperationType>(query: GraphQLTaggedNode, variables: Query['variables']) {
    environment.retain(createOperationDescriptor(getRequest(query), variables));
    return fetchQuery<Query>(environment, query, variables).toPromise();
  }

  const shown = (query: GraphQLTaggedNode, variables: object) =>
    environment.lookup(createOperationDescriptor(getRequest(query), variables as never).fragment).data;

  const mutate = <Mutation extends MutationParameters>(mutation: GraphQLTaggedNode, variables: Mutation['variables']) =>
    new Promise<Mutation['response']>((resolve, reject) => {
      commitMutation<Mutation>(environment, {
        mutation,
        variables,
        onCompleted: (response, errors) => (errors?.length ? reject(new Error(errors[0]?.message)) : resolve(response)),
        onError: reject,
      });
    });

  const connection = ConnectionHandler.getConnectionID(ROOT_ID, JOBS_KEY);

  /** The list's jobs in the store, without any deleted job. */
  function listed(of = environment): { id: string; title: string }[] {
    const source = of.getStore().getSource();
    const edges = (source.get(connection)?.edges as { __refs?: string[] } | undefined)?.__refs ?? [];
    return edges.flatMap((edge) => {
      const id = (source.get(edge)?.node as { __ref?: string } | undefined)?.__ref;
      const job = id === undefined ? undefined : source.get(id);
      return job ? [{ id: String(job.id), title: String(job.title) }] : [];
    });
  }

  const titles = (of = environment) => listed(of).map(({ title }) => title);

  function endCursor(): string {
    const source = environment.getStore().getSource();
    const pageInfo = source.get(connection)?.pageInfo as { __ref: string };
    return String(source.get(pageInfo.__ref)?.endCursor);
  }

  await open(node, { id: userId });
  const before = shown(node, { id: userId });
  await open(header, {});
  const user = [before, shown(node, { id: userId })] as const;
  const tokensBefore = shown(header, {});

  const steps: Record<string, string[]> = {};
  await open(jobs, { first: 2 });
  steps['the first two'] = titles();
  await open(jobsPagination, { first: 2, after: endCursor() });
  steps['and two more'] = titles();

  const input = { title: 'The newest', description: 'It drips.', category: 'plumbing', urgency: 'STANDARD' };
  await mutate(createJob, { input, connections: [connection] });
  steps['with a new one'] = titles();
  await mutate(deleteJob, { id: listed()[0]?.id });
  steps['without it'] = titles();

  const backwards = new Environment({ network, store: new Store(new RecordSource()) });
  await fetchQuery(backwards, jobs, { last: 2 }).toPromise();
  steps['the last two'] = titles(backwards);

  const oldest = listed().at(-1)?.id ?? '';
  const heard = new Promise<unknown>((resolve, reject) => {
    // Starts from the first event, so it doesn't matter when the stream opens.
    const subscription = requestSubscription<pagesEventsSubscription>(environment, {
      subscription: events,
      variables: { after: '0' },
      onNext: (event) => {
        if (event?.myEvents.type !== 'JOB_PUBLISHED') return;
        resolve(environment.getStore().getSource().get(oldest)?.status);
        subscription.dispose();
      },
      onError: reject,
    });
  });
  await mutate(publishJob, { id: oldest });
  const told = await heard;
  await fetchQuery(environment, header, {}).toPromise();
  await subscriptions.dispose();
  return { user, titles: steps, tokens: [tokensBefore, shown(header, {})], heard: told };
}
