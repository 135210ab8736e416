/** Reads a list in several ways with urql with graphcache, set up as documented. */
import { print } from 'graphql';
import { createClient } from '../urql-client';
import { listed } from '../urql-listed';
import { openOn } from '../urql-live';
import { sendWith } from '../urql-send';
import { JOB_EVENTS, MY_EVENTS, WHO } from '../documents';
import { byHash } from '../listed';
import { createSocket } from '../live';
import { LAST_POSITION, MY_EVENTS as EVENTS_ON_MY_JOBS, positionIn } from '../my-events';
import { logIn, SIGN_UP_HOMEOWNER, signUp } from '../sign-in';
import { FIRST_EVENTS, MESSAGES, OFFERS, READS, WITHOUT_ARGUMENTS, type ListRead } from './documents';
import { firstOf } from './streams';

export { graphcache } from '../urql-client';

const PAGES_MAX = 20;

export async function readOneByOne(api: string, reads: readonly ListRead[]): Promise<unknown[]> {
  const client = createClient(api);
  const read: unknown[] = [];
  for (const [name, variables] of reads) read.push((await client.query(READS[name], variables).toPromise()).data);
  return read;
}

/** Fetches page after page, as an app shows more and more of a list. */
export async function readOn(api: string, name: 'nodes' | 'edges', first: number | undefined): Promise<unknown[]> {
  const client = createClient(api);
  let { data } = await client.query(READS[name], { first }).toPromise();
  for (let more = 0; more < PAGES_MAX && data?.jobs?.pageInfo.hasNextPage; more += 1) {
    const { endCursor: after } = data.jobs.pageInfo;
    ({ data } = await client.query(READS[name], { first: first ?? 2, after }).toPromise());
  }
  return [data?.jobs];
}

/** Reads each bid's offers page by page. In between, reads another field of the first one. */
export async function readOffers(api: string, bids: readonly string[]): Promise<unknown[]> {
  const client = createClient(api);
  const read = async (id: string, after?: string | null) => {
    const { data } = await client.query(OFFERS, { id, after }).toPromise();
    return data?.node && 'revisions' in data.node ? data.node.revisions : undefined;
  };
  const ends = new Map<string, string | null | undefined>();
  for (const id of bids) {
    ends.set(id, (await read(id))?.pageInfo.endCursor);
    await client.query(MESSAGES, { id }).toPromise();
    await read(id, ends.get(id));
  }
  return Promise.all(bids.map(async (id) => (await read(id, ends.get(id)))?.nodes));
}

export async function readWithoutArguments(api: string): Promise<unknown> {
  return (await createClient(api).query(WITHOUT_ARGUMENTS, {}).toPromise()).data;
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
  const before = (await client.query(FIRST_EVENTS, {}).toPromise()).data;
  const { data } = await client.query(LAST_POSITION, {}, { requestPolicy: 'network-only' }).toPromise();
  await cause();
  const event = await firstOf(openOn(createSocket(api), { query: print(EVENTS_ON_MY_JOBS) }, {}), positionIn(data));
  return { position: positionIn(data), event, before, after: (await client.query(FIRST_EVENTS, {}).toPromise()).data };
}

/** Sends only hashes, with a client that already exists before `first` runs. */
export async function whoByHash(api: string, first = () => {}): Promise<unknown> {
  const client = createClient(api, listed);
  first();
  const { data, error } = await client.query(WHO, {}).toPromise();
  if (error) throw error;
  return data?.viewer?.user;
}

/** The caller's first event ever, over a WebSocket, with only the hash of the subscription. */
export function firstEvent(api: string): Promise<unknown> {
  return firstOf(openOn(createSocket(api), { query: '', extensions: byHash(MY_EVENTS) }, {}));
}

/** The same for a job, with the text of the subscription. */
export function firstEventOfJob(api: string, jobId: string): Promise<unknown> {
  return firstOf(openOn(createSocket(api), { query: print(JOB_EVENTS) }, { jobId }));
}
