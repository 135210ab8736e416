/** Whose turn it is to be sent to, where more wait than an instance sends to at once. */
import postgres, { type Sql } from 'postgres';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WEBHOOKS } from '../../src/rules/limits.js';
import { createSealer } from '../../src/security/sealing.js';
import { connect, type Database } from '../../src/store/database.js';
import type { Outcome } from '../../src/webhooks/post.js';
import { newId } from '../../src/store/new-id.js';
import { createSender, type Sender } from '../../src/webhooks/sender.js';
import { freshDatabase, type FreshDatabase } from '../postgres.js';

const { endpointsAtOnce, faultyAtOnce, requestsPerEndpoint } = WEBHOOKS;
const sealer = createSealer({ secret: 'a secret that only tests know, 32 bytes' });
const TAKEN: Outcome = { responseStatus: 200, response: null, error: null };

interface Post {
  readonly url: string;
  answer(): void;
}

let database: FreshDatabase;
let pool: Database;
let sql: Sql;
let sender: Sender;
let posts: Post[];
let onPost: () => void;
beforeEach(async () => {
  database = await freshDatabase();
  pool = connect(database.connection, { poolSize: 4 });
  sql = postgres({ ...database.connection, max: 1, fetch_types: false });
  // The time that an answer takes is what a test says.
  vi.useFakeTimers({ toFake: ['performance'] });
  posts = [];
  onPost = () => {};
  sender = createSender({
    db: pool.of({ address: 'webhooks' }),
    poster: {
      post: ({ url }) =>
        new Promise((resolve) => {
          posts.push({ url, answer: () => resolve(TAKEN) });
          onPost();
        }),
      close: () => {},
    },
    sealer,
    metrics: { recordWebhookAttempt: () => {}, webhookInFlight: (request) => request() },
    log: { warn: () => {} },
    onFailure: (error) => expect.unreachable(String(error)),
  });
});
afterEach(async () => {
  vi.useRealTimers();
  const closed = sender.close(0);
  onPost = () => {
    for (const { answer } of posts) answer();
  };
  onPost();
  await closed;
  await pool.close();
  await sql.end();
  await database.drop();
});

/** An owner of so many endpoints, for each of which so many test events wait since then. */
async function given(name: string, endpoints: number, waiting: number, sinceSeconds: number): Promise<void> {
  const owner = newId('user');
  await sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
    values (${owner}, ${`${name}@example.test`}, 'homeowner', ${name}, 'Hill', '-', ${name})`;
  for (let at = 0; at < endpoints; at += 1) {
    const id = newId('webhookEndpoint');
    const secrets = sql.json([{ sealed: sealer.seal('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', id), endsAt: null }]);
    await sql`insert into webhook_endpoints (id, user_id, url, event_types, status, secrets, sealed_by)
      values (${id}, ${owner}, ${`https://${name}.example/${at}`}, '{}', 'active', ${secrets}, ${sealer.keyName})`;
    const deliveries = Array.from({ length: waiting }, () => ({ id: newId('webhookDelivery'), event: newId('event') }));
    await sql`insert into webhook_deliveries (id, endpoint_id, event_id, event_type, status, due_at)
      select id, ${id}, event, 'webhook.test', 'waiting', now() - make_interval(secs => ${sinceSeconds})
      from jsonb_to_recordset(${sql.json(deliveries)}) as made (id text, event text)`;
  }
}

async function postsSoFar(count: number): Promise<readonly Post[]> {
  while (posts.length < count) await new Promise<void>((resolve) => (onPost = resolve));
  return posts;
}

/** They take all there is at first, since nobody knows how slow they are. */
async function givenSlowOwners(): Promise<Post[]> {
  for (const [at, name] of SLOW.entries()) await given(name, endpointsAtOnce / SLOW.length, 20, 3_600 - at);
  sender.wake();
  await postsSoFar(ALL_AT_ONCE);
  vi.advanceTimersByTime(WEBHOOKS.attemptMs - 1);
  return posts.slice();
}

const SLOW = ['anna', 'ben', 'carla', 'dora', 'emil'];
const ALL_AT_ONCE = endpointsAtOnce * requestsPerEndpoint;
const ownersOf = (some: readonly Post[]) => some.map(({ url }) => new URL(url).hostname.replace('.example', ''));

it('endpoints that answer, but slowly, leave places to the others, of which they keep a few', async () => {
  const slow = await givenSlowOwners();
  await given('quick', 1, 1, 0);
  for (const { answer } of slow) answer();
  const next = ownersOf((await postsSoFar(ALL_AT_ONCE + faultyAtOnce + 1)).slice(ALL_AT_ONCE));
  expect(next).toHaveLength(faultyAtOnce + 1);
  expect(next.filter((owner) => owner === 'quick')).toHaveLength(1);
});

it('of those that are slow, each has its turn, however long it has waited', async () => {
  for (const { answer } of await givenSlowOwners()) answer();
  let answered = ALL_AT_ONCE;
  for (; answered < ALL_AT_ONCE + 2 * faultyAtOnce; answered += 1) (await postsSoFar(answered + 1))[answered]?.answer();
  expect(new Set(ownersOf(posts.slice(ALL_AT_ONCE)))).toEqual(new Set(SLOW));
});
