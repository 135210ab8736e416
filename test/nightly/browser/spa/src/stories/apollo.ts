/** Reads a list in several ways with Apollo Client, set up as documented. */
import type { ApolloClient } from '@apollo/client';
import { filter, firstValueFrom } from 'rxjs';
import { BOARD, followBoard, forgetIfHidden } from '../apollo-board';
import { createClient } from '../apollo-client';
import { listed, listedSocket } from '../apollo-listed';
import { openWith } from '../apollo-live';
import { sendWith } from '../apollo-send';
import { JOB, JOB_EVENTS, MY_EVENTS, WHO } from '../documents';
import { LAST_POSITION, MY_EVENTS as EVENTS_ON_MY_JOBS, positionIn } from '../my-events';
import { logIn, SIGN_UP_HOMEOWNER, signUp } from '../sign-in';
import { BID, BIDS, CREATE, DELETE, FIRST_EVENTS, LISTS, MESSAGES, OFFERS, READS, type ListRead } from './documents';
import { firstOf } from './streams';

export { typePolicies } from '../apollo-cache';

const PAGES_MAX = 20;

export async function readOneByOne(api: string, reads: readonly ListRead[]): Promise<unknown[]> {
  const client = createClient(api);
  const read: unknown[] = [];
  for (const [name, variables] of reads) read.push((await client.query({ query: READS[name], variables })).data);
  return read;
}

/** Fetches page after page, as an app shows more and more of a list. */
export async function readOn(api: string, name: 'nodes' | 'edges', size: number): Promise<unknown[]> {
  const client = createClient(api);
  const shown = client.watchQuery({ query: READS[name], variables: { first: size } });
  const watching = shown.subscribe(() => {});
  const first = await firstValueFrom(shown.pipe(filter(({ loading }) => !loading)));
  let end = first.data?.jobs?.pageInfo;
  for (let more = 0; more < PAGES_MAX && end?.hasNextPage; more += 1)
    end = (await shown.fetchMore({ variables: { after: end.endCursor } })).data?.jobs?.pageInfo;
  const whole = shown.pipe(filter(({ data }) => data?.jobs?.pageInfo?.hasNextPage === false));
  const list = (await firstValueFrom(whole)).data?.jobs;
  watching.unsubscribe();
  return [list, (await client.query({ query: READS.bareNodes, variables: { first: size } })).data?.jobs];
}

export async function createAmongLists(api: string, input: object): Promise<{ cached: unknown; asked: unknown }> {
  const client = createClient(api);
  const shown = client.watchQuery({ query: LISTS });
  const watching = shown.subscribe(() => {});
  await firstValueFrom(shown.pipe(filter(({ loading }) => !loading)));
  await client.mutate({ mutation: CREATE, variables: { input: input as never } });
  const both = { cached: (await client.query({ query: LISTS })).data, asked: await asked(client, LISTS) };
  watching.unsubscribe();
  return both;
}

/** Includes a second page, which has the list's total too. */
export async function deleteAmongLists(api: string, id: string): Promise<{ cached: unknown; asked: unknown }> {
  const client = createClient(api);
  const start = await client.query({ query: READS.nodes, variables: { first: 1 } });
  const behind = { first: 1, after: start.data?.jobs?.pageInfo?.endCursor ?? '' };
  await client.query({ query: READS.total, variables: behind });
  const shown = client.watchQuery({ query: LISTS });
  const watching = shown.subscribe(() => {});
  await firstValueFrom(shown.pipe(filter(({ loading }) => !loading)));
  await client.mutate({ mutation: DELETE, variables: { id } });
  const read = async (fetchPolicy: 'cache-first' | 'no-cache') => ({
    ...(await client.query({ query: LISTS, fetchPolicy })).data,
    behind: (await client.query({ query: READS.total, variables: behind, fetchPolicy })).data?.jobs,
  });
  const both = { cached: await read('cache-first'), asked: await read('no-cache') };
  watching.unsubscribe();
  return both;
}

export async function bidAmongLists(api: string, jobId: string): Promise<{ cached: unknown; asked: unknown }> {
  const client = createClient(api);
  await client.query({ query: BIDS, variables: { jobId } });
  await client.mutate({ mutation: BID, variables: { jobId, input: { amount: 900 } } });
  const cached = (await client.query({ query: BIDS, variables: { jobId } })).data;
  const { data } = await client.query({ query: BIDS, variables: { jobId }, fetchPolicy: 'no-cache' });
  return { cached, asked: data };
}

/** Reads each bid's offers page by page. In between, reads another field of the first one. */
export async function readOffers(api: string, bids: readonly string[]): Promise<unknown[]> {
  const client = createClient(api);
  const read = async (id: string, after?: string | null) => {
    const { data } = await client.query({ query: OFFERS, variables: { id, after } });
    return data?.node && 'revisions' in data.node ? data.node.revisions : undefined;
  };
  for (const id of bids) {
    const first = await read(id);
    await client.query({ query: MESSAGES, variables: { id } });
    await read(id, first?.pageInfo.endCursor);
  }
  return Promise.all(bids.map(async (id) => (await read(id))?.nodes));
}

/** Shows this job first, after the first two are there. Then fetches page after page. */
export async function readOnAfterMoving(api: string, id: string): Promise<unknown> {
  const client = createClient(api);
  const query = READS.nodes;
  const variables = { first: 2 };
  const shown = client.watchQuery({ query, variables });
  const watching = shown.subscribe(() => {});
  await firstValueFrom(shown.pipe(filter(({ loading }) => !loading)));
  client.cache.updateQuery({ query, variables }, (data) => {
    const moved = [{ __typename: 'Job' as const, id }, ...(data?.jobs?.nodes ?? [])];
    return data?.jobs ? { ...data, jobs: { ...data.jobs, nodes: moved } } : data;
  });
  const list = () => client.readQuery({ query, variables })?.jobs;
  for (let more = 0; more < PAGES_MAX && list()?.pageInfo.hasNextPage; more += 1)
    await shown.fetchMore({ variables: { after: list()?.pageInfo.endCursor ?? null } });
  watching.unsubscribe();
  return list();
}

/** A board that a contractor keeps open. */
export async function openBoard(api: string) {
  const client = createClient(api);
  const shown = client.watchQuery({ query: BOARD });
  const watching = shown.subscribe(() => {});
  const stop = followBoard(client);
  await firstValueFrom(shown.pipe(filter(({ loading }) => !loading)));
  const page = () => client.readQuery({ query: BOARD })?.jobs?.pageInfo;
  return {
    titles: () => shown.getCurrentResult().data?.jobs?.nodes?.map((job) => job?.title),
    showMore: () => shown.fetchMore({ variables: { after: page()?.endCursor ?? null } }),
    hasMore: () => page()?.hasNextPage,
    openJob: async (id: string) => {
      const reading = client.query({ query: JOB, variables: { id }, fetchPolicy: 'network-only' });
      await reading.catch((error: unknown) => forgetIfHidden(client, id, error));
    },
    close: () => {
      stop();
      watching.unsubscribe();
    },
  };
}

export function signUpWith(api: string, input: object): Promise<void> {
  return signUp(sendWith(createClient(api)), SIGN_UP_HOMEOWNER, input as never);
}

export function logInWith(api: string, input: object): Promise<void> {
  return logIn(sendWith(createClient(api)), input as never);
}

/** The first event after the last position, and a list of events that the cache had before. */
export async function nextEvent(api: string, cause: () => Promise<unknown>): Promise<unknown> {
  const client = createClient(api);
  const before = (await client.query({ query: FIRST_EVENTS })).data;
  const { data } = await client.query({ query: LAST_POSITION, fetchPolicy: 'no-cache' });
  await cause();
  const event = await firstOf(openWith(client, EVENTS_ON_MY_JOBS, {}), positionIn(data));
  return { position: positionIn(data), event, before, after: (await client.query({ query: FIRST_EVENTS })).data };
}

/** Sends only hashes, with a client that already exists before `first` runs. */
export async function whoByHash(api: string, first = () => {}): Promise<unknown> {
  const client = createClient(api, listed);
  first();
  return (await client.query({ query: WHO })).data?.viewer?.user;
}

/** The caller's first event ever, over a WebSocket, with only the hash of the subscription. */
export function firstEvent(api: string): Promise<unknown> {
  return firstOf(openWith(createClient(api, listed, listedSocket(api)), MY_EVENTS, {}));
}

/** The same for a job, with the text of the subscription. */
export function firstEventOfJob(api: string, jobId: string): Promise<unknown> {
  return firstOf(openWith(createClient(api), JOB_EVENTS, { jobId }));
}

async function asked(client: ApolloClient, query: typeof LISTS): Promise<unknown> {
  return (await client.query({ query, fetchPolicy: 'no-cache' })).data;
}
