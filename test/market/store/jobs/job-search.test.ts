/**
 * Any list or search of any jobs finds what a scan of every job finds, page by page, from any position. The count is
 * also the same, up to its limit. The market is random, from a seed. It is large enough that some searches scan the
 * list and others use the index.
 */
import postgres, { type Sql } from 'postgres';
import { JOB_ORDERS, type JobOrder } from '../../../../src/market/rules/jobs/orders.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { connect, type Database } from '../../../../src/platform/db/database.js';
import { SEPARATOR } from '../../../../src/market/store/jobs/job-search.js';
import type { JobFilter } from '../../../../src/market/store/jobs/job-filters.js';
import { listJobs } from '../../../../src/market/store/jobs/job-lists.js';
import type { Position } from '../../../../src/platform/db/pages/keyset.js';
import type { PageRequest } from '../../../../src/platform/db/pages/page.js';
import { diceOf, type Dice } from '../../../setup/random/dice.js';
import { vacuumWhole } from '../../../setup/database/vacuum.js';
import { freshDatabase, type FreshDatabase } from '../../../setup/postgres.js';

const SEED = 20_261_122;
/** Enough that the list of open jobs is too long to scan for some searches. */
const JOBS = 9_000;
const SIZES = [3, 20, 100];
const EXACT_TOTAL_MAX = 10_000;
const EXACT_SEARCH_TOTAL_MAX = 1_000;

/** Strings to search for, and how many jobs in a thousand contain each. Some only look like others. */
const TEXTS: readonly (readonly [perThousand: number, text: string])[] = [
  [1_000, 'leaks'],
  [400, 'Roof'],
  [60, 'Küche'],
  [20, 'ОБШИВКА'],
  [6, 'Ångström'],
  [3, '100%'],
  [3, '100 percent'],
  [2, 'snake_case'],
  [2, 'snakeXcase'],
  [2, 'back\\slash'],
  [1, '東京タワー'],
  [1, `torn${SEPARATOR}apart`],
];
const SEARCHED = [
  ...TEXTS.map(([, text]) => text),
  'LEAKS',
  'küche',
  'KÜCHE',
  'обшив',
  'ångström',
  '%',
  '_',
  '\\',
  'e_c',
  '0%',
  '京',
  'of',
  'f',
  'chimney',
  'attic',
  'cellar',
  'blizzard',
  'ladder',
  'nobody wrote this',
  // Spans the end of a title and the start of a description.
  SEPARATOR,
  `.${SEPARATOR}It`,
  '. It',
  '.It',
];
const TOWNS = { Austin: '(-97.754,30.302)', Marfa: '(-104.0848,30.293)', Chicago: '(-87.65,41.85)', Nowhere: null };
type Town = keyof typeof TOWNS;
const NEAR = {
  Austin: { box: '(-97,31),(-98.5,29.5)', latitude: 30.27, longitude: -97.74, miles: 40 },
  Marfa: { box: '(-103,31),(-105,29)', latitude: 30.3, longitude: -104, miles: 40 },
  Texas: { box: '(-96,32),(-106,28)', latitude: 30.3, longitude: -101, miles: 250 },
} as const;
/** No job is in the last one. */
const TRADES = ['roofing', 'plumbing', 'glazing', 'thatching'] as const;
const STATES = ['draft', 'open', 'completed', 'cancelled'] as const;

const homeownerId = (n: number) => `hmw_${String(n).padStart(27, '0')}` as const;
const contractorId = (n: number) => `ctr_${String(n).padStart(27, '0')}` as const;
const SIGNED_IN = { userId: 'usr_', sessionId: 'ses_' } as const;
const homeowner = (n: number): Viewer => ({
  ...SIGNED_IN,
  role: 'homeowner',
  homeownerId: homeownerId(n),
  contractorId: null,
});
const contractor = (n: number): Viewer => ({
  ...SIGNED_IN,
  role: 'contractor',
  homeownerId: null,
  contractorId: contractorId(n),
});

const VIEWERS: readonly (readonly [who: string, viewer: Viewer, sees: string])[] = [
  ['an admin', { ...SIGNED_IN, role: 'admin', homeownerId: null, contractorId: null }, 'true'],
  ...(['most jobs', 'few jobs', 'no job'] as const).map(
    (what, at) => [`a homeowner of ${what}`, homeowner(at + 1), `j.homeowner_id = '${homeownerId(at + 1)}'`] as const,
  ),
  ...(['on many jobs', 'on few jobs', 'on no job'] as const).map(
    (what, at) =>
      [
        `a contractor who bid ${what}`,
        contractor(at + 1),
        `(j.status = 'open' or j.id in (select job_id from bids where contractor_id = '${contractorId(at + 1)}'))`,
      ] as const,
  ),
];

let database: FreshDatabase;
let sql: Sql;
let db: Database;
let sent: { text: string; values: readonly unknown[] } | undefined;

beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres({ ...database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  db = connect(database.connection, { poolSize: 1 }, { onStatement: (text, values) => (sent = { text, values }) });
  await fill(diceOf(SEED));
});
afterAll(async () => {
  await db.close();
  await sql.end({ timeout: 5 });
  await database.drop();
});

async function fill(dice: Dice): Promise<void> {
  const insert = (table: string, rows: readonly object[]) => sql`insert into ${sql(table)} ${sql(rows as object[])}`;
  const person = (n: number, userType: string) => ({
    id: `usr_${userType}${n}`,
    email: `${userType}${n}@example.test`,
    user_type: userType,
    first_name: 'Some',
    last_name: 'Body',
    phone: '1',
    password_hash: 'none',
    referral_code: `${userType}${n}`,
  });
  for (const n of [1, 2, 3]) {
    await insert('users', [person(n, 'homeowner'), person(n, 'contractor')]);
    await insert('homeowners', [{ id: homeownerId(n), user_id: `usr_homeowner${n}` }]);
    await insert('contractors', [{ id: contractorId(n), user_id: `usr_contractor${n}`, company_name: 'Some' }]);
  }
  const jobs = Array.from({ length: JOBS }, (_, n) => jobOf(dice, n));
  for (let at = 0; at < JOBS; at += 1_000) {
    const some = jobs.slice(at, at + 1_000);
    await insert('jobs', some);
    const bids = some.flatMap((job) => (job.status === 'draft' ? [] : bidsOn(job, dice)));
    if (bids.length > 0) await insert('bids', bids);
  }
  for (const [city, town] of Object.entries(TOWNS))
    await sql`update job_search set town = ${town}::point from jobs where id = job_id and city = ${city}`;
  // Search depends on the job's current state, however the job got there. No job changed state before its creation.
  const later = sql`status_changed_at = status_changed_at + interval '1 second'`;
  await sql`update jobs set ${later}, status = 'cancelled' where status = 'open' and id like '%7'`;
  const attic = sql`title = title || ' attic'`;
  await sql`update jobs set ${later}, status = 'open', ${attic} where status = 'draft' and id like '%5'`;
  await sql`update jobs set description = description || ' cellar' where status = 'open' and id like '%33'`;
  await sql`update jobs set description = description || ' blizzard' where status in ('completed', 'cancelled')`;
  // Many of the jobs contain it, but none of the newest.
  await sql`update jobs set title = title || ' ladder' where id like '%7' and id not in (
    select id from jobs order by created_at desc, id desc limit 1000)`;
  // Only two of the newest jobs and three of the oldest contain it.
  await sql`update jobs set description = 'A chimney.' where id in (
    (select id from jobs order by created_at desc, id desc limit 2) union all (select id from jobs
      order by created_at, id limit 3))`;
  // To the planner, a GIN index with unmerged pending entries looks expensive.
  await vacuumWhole(sql);
}

function jobOf(dice: Dice, n: number) {
  const made = Date.UTC(2030, 0, 1) + dice.int(1, JOBS) * 60_000;
  const description = (texts: readonly string[]) =>
    texts.map((text) => ` ${dice.percent(20) ? text.toUpperCase() : text}`);
  const held = TEXTS.filter(([perThousand]) => dice.int(1, 1_000) <= perThousand).map(([, text]) => text);
  const inTitle = held.filter(() => dice.percent(30));
  return {
    id: `job_${dice.int(10 ** 8, 10 ** 9 - 1)}${String(n).padStart(18, '0')}`,
    homeowner_id: homeownerId(dice.percent(90) ? 1 : 2),
    status: dice.weighted<(typeof STATES)[number]>([
      [70, 'open'],
      [10, 'draft'],
      [10, 'completed'],
      [10, 'cancelled'],
    ]),
    title: `Job of${description(inTitle).join('')}.`,
    description: `It${description(held.filter((text) => !inTitle.includes(text))).join('')}.`,
    category: dice.weighted<(typeof TRADES)[number]>([
      [50, 'roofing'],
      [45, 'plumbing'],
      [1, 'glazing'],
    ]),
    urgency: dice.pick(['standard', 'urgent']),
    budget_min: n % 4 === 0 ? null : (n * 31) % 150,
    budget_max: n % 3 === 0 ? null : ((n * 31) % 150) + (n % 50) + 0.5,
    address_line1: '1 Elm St',
    city: dice.weighted<Town>([
      [80, 'Austin'],
      [0.3, 'Marfa'],
      [10, 'Chicago'],
      [8, 'Nowhere'],
    ]),
    state: 'TX',
    // Often at the same moment, so the identifiers decide.
    created_at: new Date(made),
    status_changed_at: new Date(made + ((n * 7_919) % JOBS) * 60_000),
  };
}

function bidsOn(job: ReturnType<typeof jobOf>, dice: Dice) {
  const bidders = [...(dice.percent(40) ? [1] : []), ...(dice.percent(1) ? [2] : [])];
  return bidders.map((n) => ({
    id: `bid_${n}${job.id.slice(5)}`,
    job_id: job.id,
    contractor_id: contractorId(n),
    status: job.status === 'open' ? 'pending' : 'rejected',
    amount: 5,
    job_created_at: job.created_at,
  }));
}

interface Asked {
  readonly filter: JobFilter;
  readonly order: JobOrder;
  /** The same filter in SQL. */
  readonly where: string;
  readonly text: string;
}

const ORDERS: Readonly<Record<JobOrder, string>> = {
  newest: 'j.created_at desc, j.id desc',
  oldest: 'j.created_at, j.id',
  recently_updated: 'j.updated_at desc, j.id desc',
  highest_budget: 'j.budget_max desc nulls last, j.id desc',
  longest_unchanged: 'j.status_changed_at, j.id',
  // The center of a search that covers both towns in Texas is nearer to Marfa.
  nearest: `j.city = 'Marfa' desc, j.id desc`,
};

function rangeOf(dice: Dice): [min: number | null, max: number | null] {
  const least = dice.int(0, 200);
  return [dice.percent(70) ? least : null, dice.percent(70) ? least + dice.pick([0, 0.5, 40]) : null];
}

function asked(dice: Dice): Asked {
  const search = dice.percent(85) ? dice.pick(SEARCHED) : null;
  const near = dice.percent(search === null ? 60 : 20) ? dice.pick(['Austin', 'Marfa', 'Texas'] as const) : null;
  const statuses = dice.percent(40)
    ? [...new Set(dice.percent(50) ? [dice.pick(STATES)] : [dice.pick(STATES), dice.pick(STATES)])]
    : null;
  const anyOrder = dice.percent(50) ? 'newest' : dice.pick(JOB_ORDERS);
  const order = anyOrder === 'nearest' && near === null ? 'newest' : anyOrder;
  const trades = dice.percent(40) ? TRADES.filter(() => dice.percent(50)) : [];
  const [category = null, ...others] = trades;
  const [budgetMin = null, budgetMax = null] = dice.percent(30) ? rangeOf(dice) : [];
  const urgency = dice.percent(20) ? 'urgent' : null;
  const statusChangedBefore = dice.percent(20) ? new Date(Date.UTC(2030, 0, dice.int(2, 9))) : null;
  const conditions = [
    'true',
    search !== null && `(position(lower($1) in lower(j.title)) > 0 or position(lower($1) in lower(j.description)) > 0)`,
    near && (near === 'Texas' ? `j.city in ('Austin', 'Marfa')` : `j.city = '${near}'`),
    statuses && `j.status in (${statuses.map((state) => `'${state}'`).join(', ')})`,
    category && `j.category in (${trades.map((trade) => `'${trade}'`).join(', ')})`,
    (budgetMin !== null || budgetMax !== null) &&
      `numrange(j.budget_min, j.budget_max, '[]') && numrange(${budgetMin}, ${budgetMax}, '[]')
        and coalesce(j.budget_min, j.budget_max) is not null`,
    urgency && `j.urgency = '${urgency}'`,
    statusChangedBefore && `j.status_changed_at < '${statusChangedBefore.toISOString()}'`,
  ];
  const where = conditions.filter((condition) => typeof condition === 'string').join(' and ');
  return {
    filter: {
      search,
      near: near && NEAR[near],
      statuses,
      ...(others.length > 0 ? { categories: trades } : { category }),
      budgetMin,
      budgetMax,
      urgency,
      statusChangedBefore,
    },
    order,
    where,
    text: search ?? '',
  };
}

describe.each(VIEWERS)('%s finds', (who, viewer, sees) => {
  const dice = diceOf(SEED + VIEWERS.findIndex(([other]) => other === who));
  const all = async ({ where, text, order }: Asked) =>
    (
      await sql.unsafe<{ id: string }[]>(
        `select j.id from jobs j where ${sees} and ${where} and $1::text is not null order by ${ORDERS[order]}`,
        [text],
      )
    ).map(({ id }) => id);
  const page = async ({ filter, order }: Asked, request: PageRequest) => {
    const found = await listJobs(db, viewer, filter, request, {}, order);
    return { ...found, ids: found.rows.map(({ id }) => id), total: await found.total() };
  };
  const totalOf = ({ filter: { search, near } }: Asked, { length }: readonly string[]) => {
    const exactMax = search == null && near == null ? EXACT_TOTAL_MAX : EXACT_SEARCH_TOTAL_MAX;
    return { count: Math.min(length, exactMax), isCapped: length > exactMax };
  };

  it('what a check of every job finds, on any page, with its total', async () => {
    for (let time = 0; time < 30; time += 1) {
      const question = asked(dice);
      const expected = await all(question);
      const size = dice.pick(SIZES);
      const isBackward = dice.percent(25);
      const offset = isBackward || dice.percent(40) ? 0 : size * dice.int(0, Math.ceil(expected.length / size) + 1);
      const found = await page(question, { size, offset, isBackward, withTotal: dice.percent(50) });
      const label = JSON.stringify({ ...question.filter, order: question.order, size, offset, isBackward });
      expect(found.ids, label).toEqual(isBackward ? expected.slice(-size) : expected.slice(offset, offset + size));
      expect(found.total, label).toEqual(totalOf(question, expected));
      expect([found.hasPrevious, found.hasNext], label).toEqual(
        isBackward ? [expected.length > size, false] : [offset > 0, expected.length > offset + size],
      );
    }
  });

  it.each(['forwards', 'backwards'])('the same from cursor to cursor %s, each once and in order', async (way) => {
    const isBackward = way === 'backwards';
    for (let time = 0; time < 5; time += 1) {
      const question = asked(dice);
      const expected = await all(question);
      const size = expected.length > 500 ? 100 : dice.pick(SIZES);
      const ids: string[] = [];
      for (let from: Position | undefined, more = true; more;) {
        const place = isBackward ? { isBackward, before: from } : { after: from };
        const found = await page(question, { size, ...place, withTotal: dice.percent(50) });
        expect(found.total).toEqual(totalOf(question, expected));
        if (isBackward) ids.unshift(...found.ids);
        else ids.push(...found.ids);
        const edge = found.rows.at(isBackward ? 0 : -1);
        [more, from] = [isBackward ? found.hasPrevious : found.hasNext, edge ? found.positionOf(edge) : from];
      }
      expect(ids, JSON.stringify([question.filter, question.order])).toEqual(expected);
    }
  });
});

describe('a search', () => {
  const [, admin] = VIEWERS[0]!;

  /** The names of the text and place indexes that the statement read. */
  async function indexesRead(filter: JobFilter, size: number, viewer = admin): Promise<string[]> {
    await listJobs(db, viewer, filter, { size });
    const [plan] = await sql.unsafe(`explain (analyze, format json) ${sent?.text}`, [...(sent?.values ?? [])] as never);
    const nodes: { 'Index Name'?: string; 'Actual Loops': number }[] = [];
    JSON.stringify(plan, (_, node) => (node?.['Actual Loops'] > 0 && nodes.push(node), node));
    const names = nodes.map((node) => node['Index Name'] ?? '').filter((name) => name.includes('job_search'));
    return [...new Set(names)].toSorted();
  }

  it.each<[what: string, filter: JobFilter, indexes: string[]]>([
    ['for what many jobs hold scans the list', { search: 'roof' }, ['job_search_newest']],
    ['for what few hold asks the index of texts', { search: 'snake_case' }, ['job_search_newest', 'job_search_words']],
    // The distance of each job on the page is read by the job's ID.
    ['near many jobs scans the list', { near: NEAR.Austin }, ['job_search_newest', 'job_search_pkey']],
    [
      'for what many hold near few jobs asks the index of places',
      { search: 'roof', near: NEAR.Marfa },
      ['job_search_newest', 'job_search_pkey', 'job_search_town'],
    ],
    [
      'for what few hold near many jobs asks the index of texts',
      { search: 'tower', near: NEAR.Austin },
      ['job_search_newest', 'job_search_words'],
    ],
    ['of a trade reads each text by its job', { search: 'roof', category: 'roofing' }, ['job_search_pkey']],
  ])('of all jobs %s', async (_, filter, indexes) => {
    expect(await indexesRead(filter, 20)).toEqual(indexes);
  });

  const CLOSED = { statuses: ['completed', 'cancelled'] } as const;
  it.each<[who: string, what: string, filter: JobFilter, indexes: string[]]>([
    ['a homeowner of most jobs', 'many jobs hold scans them', { search: 'roof' }, ['pkey']],
    ['a homeowner of most jobs', 'only older jobs hold scans them', { search: 'ladder' }, ['pkey']],
    ['a homeowner of most jobs', 'few jobs hold asks the index of texts', { search: 'chimney' }, ['words']],
    ['a contractor who bid on many jobs', 'many jobs hold scans them', { ...CLOSED, search: 'roof' }, ['pkey']],
    [
      'a contractor who bid on many jobs',
      'few jobs hold asks the index of texts',
      { ...CLOSED, search: 'chimney' },
      ['words'],
    ],
    ['a contractor who bid on few jobs', 'few jobs hold scans them', { ...CLOSED, search: 'chimney' }, ['pkey']],
  ])('of the jobs of %s for what %s', async (who, _, filter, indexes) => {
    const viewer = VIEWERS.find(([name]) => name === who)?.[1];
    expect(await indexesRead(filter, 20, viewer)).toEqual(indexes.map((name) => `job_search_${name}`));
  });

  it('of the open jobs reads no job that was awarded, however many of these have the text', async () => {
    const filter = { search: 'blizzard' };
    const [, contractor] = VIEWERS.at(-1)!;
    const { rows, total } = await listJobs(db, contractor, filter, { size: 20, withTotal: true });
    expect([rows, (await total()).count]).toEqual([[], 0]);
    const indexes = ['open_job_search_newest', 'open_job_search_words'];
    expect(await indexesRead(filter, 20, contractor)).toEqual(indexes);
  });

  it('searches for the first page once, and counts what it has found', async () => {
    await listJobs(db, admin, { search: 'roof' }, { size: 20, withTotal: true });
    expect(sent?.text.match(/with sample as/g)).toHaveLength(1);
  });

  it('that finds fewer matches than the newest jobs promised abandons the scan, and finds the oldest', async () => {
    const filter = { search: 'chimney' };
    const { rows, total } = await listJobs(db, admin, filter, { size: 3 });
    expect([rows.map(({ description }) => description), (await total()).count]).toEqual([
      Array(3).fill('A chimney.'),
      5,
    ]);
    expect(await indexesRead(filter, 3)).toEqual(['job_search_newest', 'job_search_words']);
  });
});
