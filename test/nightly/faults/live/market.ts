/** People who take jobs through their whole life in REST, whatever happens to the servers meanwhile. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN, type Json } from '../../../setup/app.js';

export interface Person {
  readonly userId: string;
  readonly kind: 'homeowner' | 'contractor' | 'admin';
  readonly profileId: string;
  readonly token: string;
}

export interface Market {
  readonly admin: Person;
  readonly homeowners: readonly Person[];
  readonly contractors: readonly Person[];
}

/** An error throws. A lost or postponed call is sent again with the same key, to the other instance. */
export interface Caller {
  send(method: string, path: string, by: Person | null, body?: object): Promise<Json>;
}

const TRIES_MAX = 400;
const BETWEEN_TRIES_MS = 50;
const ANSWER_WITHIN_MS = 10_000;

export function openCaller(urls: readonly string[]): Caller {
  let next = 0;
  return {
    send: async (method, path, by, body) => {
      const key = randomUUID();
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const answer = await sendOnce(urls[(next += 1) % urls.length] ?? '', { method, path, by, body, key });
        if (answer) return answer;
        await pause(BETWEEN_TRIES_MS);
      }
      throw new Error(`${method} ${path} was lost ${TRIES_MAX} times.`);
    },
  };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly by: Person | null;
  readonly body: object | undefined;
  readonly key: string;
}

/** Undefined if the outcome is unknown. */
async function sendOnce(url: string, { method, path, by, body, key }: Sent): Promise<Json> {
  try {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        ...(by && { authorization: `Bearer ${by.token}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...(method !== 'GET' && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const answer: Json = await response.json();
    if (response.status < 300) return answer;
    // The same call may still be in progress elsewhere.
    if (response.status === 503 || response.status === 409) return undefined;
    throw new Refused(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  } catch (error) {
    if (error instanceof Refused) throw error;
    return undefined;
  }
}

class Refused extends Error {}

export async function signUp(caller: Caller, homeowners: number, contractors: number): Promise<Market> {
  const session = await caller.send('POST', '/auth/login', null, ADMIN);
  const admin: Person = { userId: session.user.id, kind: 'admin', profileId: '', token: session.token };
  const join = async (kind: 'homeowner' | 'contractor', number: number): Promise<Person> => {
    const joined = await caller.send('POST', `/auth/signup/${kind}`, null, {
      email: `${kind}.${number}@example.test`,
      password: 'a password for the live test',
      first_name: 'Hanna',
      last_name: `the ${number}.`,
    });
    const person = { userId: joined.user.id, kind, profileId: joined[kind].id, token: joined.token };
    await caller.send('POST', '/tokens/adjustments', admin, {
      user_id: person.userId,
      amount: 100_000,
      reason: 'to begin with',
    });
    return person;
  };
  const all = (kind: 'homeowner' | 'contractor', count: number) =>
    Promise.all(Array.from({ length: count }, (_, number) => join(kind, number + 1)));
  return { admin, homeowners: await all('homeowner', homeowners), contractors: await all('contractor', contractors) };
}

/** One job from its draft to its approval, with three bids: about fifteen events. */
export async function liveThrough(caller: Caller, owner: Person, bidders: readonly Person[]): Promise<void> {
  const job = await caller.send('POST', '/jobs', owner, {
    title: 'A fence',
    description: 'Thirty metres of it.',
    category: 'fencing',
    urgency: 'standard',
    address_line1: '1 Main Street',
    city: 'Austin',
    state: 'TX',
    zip_code: '78701',
    budget_min: 100,
    budget_max: 900,
  });
  await caller.send('POST', `/jobs/${job.id}/publish`, owner, {});
  const bids: Json[] = [];
  for (const [at, bidder] of bidders.entries())
    bids.push(await caller.send('POST', `/jobs/${job.id}/bids`, bidder, { amount: 500 + at }));
  for (const bid of bids) await caller.send('POST', `/jobs/${job.id}/bids/${bid.id}/view`, owner);
  await caller.send('POST', `/jobs/${job.id}/bids/${bids[0].id}/shortlist`, owner);
  await caller.send('POST', `/jobs/${job.id}/award`, owner, { bid_id: bids[0].id });
  await caller.send('POST', `/jobs/${job.id}/checkin`, bidders[0] ?? null, { notes: 'Here.' });
  await caller.send('POST', `/jobs/${job.id}/submit-for-review`, bidders[0] ?? null, { completion_notes: 'Done.' });
  await caller.send('POST', `/jobs/${job.id}/approve`, owner, { rating: 5, review: 'Straight as an arrow.' });
}
