/**
 * What the feed, the counter, and the storage of notifications read. A person with 100,000 notifications costs as much
 * as a person with 100, and new events cost the same no matter how many there already are.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../../src/market/rules/viewer.js';
import { countUnread, listNotifications } from '../../../../src/market/store/notifications/notifications.js';
import { storeNotifications } from '../../../../src/market/store/notifications/store-notifications.js';
import { connect, type Database, type Db } from '../../../../src/platform/db/database.js';
import { openExplainer, PLAN_KINDS, scannedIn, type Sent } from '../../../bench/work/queries.js';
import { viewerOf } from '../../../platform/live/viewers.js';
import { allNumbered } from '../../../platform/live/positions.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { gather, giveTokens, givenJob, type People } from '../../../story/journey.js';

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

/** An owner and a bidder, each with this many notifications about one job. Its edits and bid revisions alternate. */
async function pairWith(count: number): Promise<Pair> {
  const [owner, bidder] = [await homeowner(app, 'Olga'), await contractor(app, 'Bo')];
  await giveTokens(app, people.admin, owner, 1_000);
  const { id } = await givenJob(app, 'open', { ...people, owner, bidder });
  await allNumbered(app);
  await app.sql.begin(async (tx) => {
    // This takes the numbering lock, but numbers nothing.
    const [log] = await tx`select last_position::text as last from number_events(0)`;
    await tx`insert into events (id, job_id, sequence, type, actor_id, bidder_id, homeowner_id, position)
      select 'evt_' || gen_random_uuid(), ${id}, 1000 + n, case n % 2 when 0 then 'job.updated' else 'bid.revised' end,
        case n % 2 when 0 then ${owner.userId} else ${bidder.userId} end,
        case n % 2 when 0 then null else ${bidder.profileId} end, ${owner.profileId}, ${log!.last}::bigint + n
      from generate_series(1, ${2 * count}::int) n`;
    // All but the first thousand stand for notifications about other jobs.
    await tx`insert into notifications (user_id, position, job_id)
      select case type when 'job.updated' then ${bidder.userId} else ${owner.userId} end, position,
        case when sequence > 2000 then 'job_' || sequence % 1000 else job_id end
      from events where job_id = ${id} and sequence > 1000`;
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
    insert into jobs (id, homeowner_id, status, title, description, category, urgency, address_line1, city, state)
      select 'job_' || n, 'hmw_' || 2 * n, 'draft', 'A job', 'To be done', 'roofing', 'standard', '1 Main', 'Austin',
        'TX' from generate_series(1, 2000) n;
    insert into bids (id, job_id, contractor_id, amount, job_created_at)
      select 'bid_' || n, 'job_' || n / 10, 'ctr_' || n, 5, now() from generate_series(1, 20000, 2) n;
    insert into saved_searches (id, contractor_id, name, alert, categories, matches_after)
      select 'sea_' || n, 'ctr_' || n, 'S', 'off', '{roofing}', 0 from generate_series(1, 20000, 2) n;
    insert into account_events (id, user_id, type, occurred_at, position)
      select 'aev_' || n, 'usr_' || n, 'webhook.paused', now(), -n from generate_series(1, 20000) n;
    reset session_replication_role`);
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** Returns how many blocks each statement of this work reads. Fails if one scans a whole table. */
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
      expect(scannedIn(root)).toEqual([]);
      const plan = root as unknown as Plan;
      blocks.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
    }
  }
  return blocks;
}

/** Holds the numbering lock during the work. Otherwise, the app would store notifications. */
async function whileNobodyNumbers(work: () => Promise<void>): Promise<void> {
  await app.sql.begin(async (tx) => {
    await tx`select from number_events(0)`;
    await work();
  });
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
] as const)('reading costs the %s with 100,000 notifications as much as the one with 100', (who, role: Role) => {
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
  await whileNobodyNumbers(async () => {
    await app.sql`update notification_cursor set mailed_up_to = 0, stored_up_to = stored_up_to - 20`;
    const busy = await blocksOf(step);
    for (const blocks of busy) expect(blocks).toBeLessThan(800);
  });
});

describe('a step does a limited amount of work', () => {
  const storedUpTo = async () => {
    const [cursor] = await app.sql`select stored_up_to::int as at from notification_cursor`;
    return Number(cursor?.at);
  };

  /** Inserts events of a job that get the next positions. Nobody else may be numbering. */
  async function insertEvents(count: number, { jobId, type, of }: { jobId: string; type: string; of: Pair }) {
    await app.sql`
      insert into events (id, job_id, sequence, type, actor_id, bidder_id, homeowner_id, position, occurred_at)
      select 'evt_' || gen_random_uuid(), ${jobId}, 1000000 + n, ${type}, ${of.owner.userId},
        ${type === 'job.updated' ? null : of.bidder.profileId}, ${of.owner.profileId}, last + n,
        now() + n * interval '61 minutes'
      from (select greatest((select max(position) from events), (select max(position) from account_events)) as last)
        log, generate_series(1, ${count}::int) n`;
  }

  it('so edits of a job with very many bidders are stored in several steps', async () => {
    const { id } = await givenJob(app, 'open', { ...people, ...few });
    await allNumbered(app);
    await app.sql.unsafe(`set session_replication_role = replica;
      insert into bids (id, job_id, contractor_id, amount, job_created_at)
        select 'bid_of_many_' || n, '${id}', 'ctr_' || n, 5, now() from generate_series(1, 7999, 2) n;
      update jobs set bids_ever = 4000 where id = '${id}';
      reset session_replication_role`);
    const steps: [number, boolean | undefined][] = [];
    await whileNobodyNumbers(async () => {
      const before = await storedUpTo();
      await insertEvents(5, { jobId: id, type: 'job.updated', of: few });
      for (let isBehind: boolean | undefined = true; isBehind;) {
        [{ isBehind } = { isBehind: undefined }] = await storeNotifications(db, {});
        steps.push([(await storedUpTo()) - before, isBehind]);
      }
    });
    expect(steps).toEqual([
      [2, true],
      [4, true],
      [5, false],
    ]);
    const [stored] = await app.sql`select count(*)::int as count from notifications n join events e using (position)
      where e.job_id = ${id} and e.type = 'job.updated' and n.user_id not in (${few.bidder.userId},
        ${people.awardee.userId})`;
    expect(stored?.count).toBe(5 * 4_000);
  });

  it('so a withdrawal reads only the notifications about its job', async () => {
    const [job] = await app.sql`select job_id as id from bids where contractor_id = ${many.bidder.profileId}`;
    await app.sql.unsafe(`set session_replication_role = replica;
      update bids set status = 'withdrawn' where contractor_id = '${many.bidder.profileId}';
      reset session_replication_role`);
    const count = async () => {
      const [row] = await app.sql`select count(*)::int from notifications where user_id = ${many.bidder.userId}`;
      return Number(row?.count);
    };
    const [before, countBefore] = [await storedUpTo(), await count()];
    await whileNobodyNumbers(async () => {
      await insertEvents(1, { jobId: job!.id, type: 'bid.withdrawn', of: many });
      await storeNotifications(db, {});
      expect(await storedUpTo()).toBe(before + 1);
      await app.sql`update notification_cursor set mailed_up_to = 0, stored_up_to = ${before}`;
      for (const blocks of await blocksOf((on) => storeNotifications(on, {}))) expect(blocks).toBeLessThan(10_000);
    });
    expect(countBefore - (await count())).toBe(500);
  });
});
