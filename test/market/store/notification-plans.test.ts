/**
 * What the feed, the counter, and the storage of notifications read. A person with 100,000 notifications costs as much
 * as a person with 100, and new events cost the same however many there were.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/market/rules/viewer.js';
import { countUnread, listNotifications } from '../../../src/market/store/notifications/notifications.js';
import { storeNotifications } from '../../../src/market/store/notifications/store-notifications.js';
import { connect, type Database, type Db } from '../../../src/platform/db/database.js';
import { openExplainer, PLAN_KINDS, scannedIn, type Sent } from '../../bench/work/queries.js';
import { viewerOf } from '../../platform/live/viewers.js';
import { allNumbered } from '../../platform/live/positions.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { contractor, homeowner, type Person } from '../../story/cast.js';
import { gather, giveTokens, givenJob, type People } from '../../story/journey.js';

const [FEW, MANY] = [100, 100_000];

let app: TestApp;
let db: Database;
let explainer: Awaited<ReturnType<typeof openExplainer>>;
let sent: Sent[] = [];
let people: People;

interface Pair {
  readonly owner: Person;
  readonly bidder: Person;
}
let few: Pair;
let many: Pair;

beforeAll(async () => {
  app = await openTestApp();
  db = connect(
    app.database.connection,
    { poolSize: 1 },
    { onStatement: (text, values) => sent.push(asSent(text, values)) },
  );
  explainer = await openExplainer(app.database.connection, 60_000);
  people = await gather(app);
  few = await pairWith(FEW);
  many = await pairWith(MANY);
  await addOthers();
  await app.sql.unsafe('analyze');
});
afterAll(async () => {
  await explainer.close();
  await db.close();
  await app.close();
});

const asSent = (text: string, values: readonly unknown[]) => ({ name: text.slice(0, 60), text, values }) as Sent;

/** An owner and a bidder with this many notifications of one job: one of an edit for each one of a revision. */
async function pairWith(count: number): Promise<Pair> {
  const [owner, bidder] = [await homeowner(app, 'Olga'), await contractor(app, 'Bo')];
  await giveTokens(app, people.admin, owner, 1_000);
  const { id } = await givenJob(app, 'open', { ...people, owner, bidder });
  await allNumbered(app);
  await app.sql.begin(async (tx) => {
    // This takes the lock for positions, but numbers nothing.
    const [log] = await tx`select last_position::text as last from number_events(0)`;
    await tx`insert into events (id, job_id, sequence, type, actor_id, bidder_id, homeowner_id, position)
      select 'evt_' || gen_random_uuid(), ${id}, 1000 + n, case n % 2 when 0 then 'job.updated' else 'bid.revised' end,
        case n % 2 when 0 then ${owner.userId} else ${bidder.userId} end,
        case n % 2 when 0 then null else ${bidder.profileId} end, ${owner.profileId}, ${log!.last}::bigint + n
      from generate_series(1, ${2 * count}::int) n`;
    await tx`insert into notifications (user_id, position)
      select case type when 'job.updated' then ${bidder.userId} else ${owner.userId} end, position from events
      where job_id = ${id} and sequence > 1000`;
    await tx`update notification_cursor set stored_up_to = (select max(position) from events)`;
  });
  return { owner, bidder };
}

/** Makes the tables large enough that Postgres prefers an index to a scan. */
async function addOthers(): Promise<void> {
  await app.sql.unsafe(`set session_replication_role = replica;
    insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
      select 'usr_' || n, n || '@others.test', (array['homeowner', 'contractor'])[1 + n % 2]::user_type, 'A', 'B', '',
        'other ' || n from generate_series(1, 20000) n;
    insert into homeowners (id, user_id) select 'hmw_' || n, 'usr_' || n from generate_series(2, 20000, 2) n;
    insert into contractors (id, user_id) select 'ctr_' || n, 'usr_' || n from generate_series(1, 20000, 2) n;
    insert into bids (id, job_id, contractor_id, amount, job_created_at)
      select 'bid_' || n, 'job_' || n / 10, 'ctr_' || n, 5, now() from generate_series(1, 20000, 2) n;
    insert into account_events (id, user_id, type, occurred_at, position)
      select 'aev_' || n, 'usr_' || n, 'webhook.paused', now(), -n from generate_series(1, 20000) n;
    reset session_replication_role`);
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** How many blocks each statement of this work reads. Fails if one reads a table from end to end. */
async function blocksOf(work: (on: Db) => Promise<unknown>): Promise<number[]> {
  sent = [];
  await work(db);
  const blocks: number[] = [];
  for (const one of sent) {
    await explainer.prepare(one);
    for (const kind of PLAN_KINDS) {
      await explainer.sql.unsafe('begin');
      const { Plan: root } = await explainer.explain(kind, 'analyze, buffers, ');
      await explainer.sql.unsafe('rollback');
      expect(scannedIn(root).filter((table) => table !== 'notification_cursor')).toEqual([]);
      const plan = root as unknown as Plan;
      blocks.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
    }
  }
  return blocks;
}

/** Deeper indexes add a few blocks. */
function expectSimilar(ofMany: readonly number[], ofFew: readonly number[]): void {
  expect(ofMany.length).toBeGreaterThan(0);
  expect(ofMany.length).toBe(ofFew.length);
  for (const [at, blocks] of ofMany.entries()) expect(blocks).toBeLessThanOrEqual(1.5 * ofFew[at]! + 20);
}

describe.each([
  ['owner', 'homeowner'],
  ['bidder', 'contractor'],
] as const)('the %s with 100,000 notifications costs as much as the one with 100', (who, role: Role) => {
  const viewers = () => [viewerOf(many[who], role), viewerOf(few[who], role)] as const;

  it.each([
    ['the first page', {}],
    ['the first page of unread ones', { isUnread: true }],
    ['the last page', { isBackward: true }],
  ])('for %s', async (_name, request) => {
    const [ofMany, ofFew] = await Promise.all(viewers()).then(async ([one, other]) => [
      await blocksOf((on) => listNotifications(on, one, { size: 20, ...request })),
      await blocksOf((on) => listNotifications(on, other, { size: 20, ...request })),
    ]);
    expectSimilar(ofMany!, ofFew!);
  });

  it('for a page in the middle', async () => {
    const pageOf = async (person: Person) => {
      const [middle] = await app.sql`select position::text from notifications where user_id = ${person.userId}
        order by position offset 50 limit 1`;
      return blocksOf((on) => listNotifications(on, viewerOf(person, role), { size: 20, after: [middle!.position] }));
    };
    expectSimilar(await pageOf(many[who]), await pageOf(few[who]));
  });

  it('for the counter, which stops at 100', async () => {
    const [one, other] = viewers();
    expect(await countUnread(db, one)).toBe(100);
    expectSimilar(await blocksOf((on) => countUnread(on, one)), await blocksOf((on) => countUnread(on, other)));
  });

  it('for the counter after everything was read', async () => {
    await app.sql`update users set notifications_read_up_to = (select max(position) from events)
      where id in (${many[who].userId}, ${few[who].userId})`;
    const [one, other] = viewers();
    expect(await countUnread(db, one)).toBe(0);
    expectSimilar(await blocksOf((on) => countUnread(on, one)), await blocksOf((on) => countUnread(on, other)));
  });
});

it('storing the notifications of new events reads only those events and their recipients', async () => {
  await allNumbered(app);
  const step = (on: Db) => storeNotifications(on, {});
  const idle = await blocksOf(step);
  for (const blocks of idle) expect(blocks).toBeLessThan(60);
  await app.sql`update notification_cursor set mailed_up_to = 0, stored_up_to = stored_up_to - 20`;
  const busy = await blocksOf(step);
  for (const blocks of busy) expect(blocks).toBeLessThan(800);
});
