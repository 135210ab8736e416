/** Lists, searches, and counts in a market too large to scan. They must find the same rows as a scan of every row. */
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededId } from '../bench/market/market.js';
import { openListener, type Who } from '../bench/work/queries.js';
import { busyContractor, busyHomeowner, seedUnevenMarket, SMALL_TOWN, WORDS } from '../bench/market/uneven-market.js';
import type { Market } from '../../src/market/store/seed/seed.js';
import { freshDatabase, type FreshDatabase } from '../setup/postgres.js';

/** More rows than are ever counted, so even a count reads only some of them. */
const SIZE = { jobs: 32_000, bids: 64_000, people: 24_000 };
const EXACT_TOTAL_MAX = 10_000;
const EXACT_SEARCH_TOTAL_MAX = 1_000;

let database: FreshDatabase;
let sql: Sql;
let market: Market;
let listener: Awaited<ReturnType<typeof openListener>>;

beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres({ ...database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  market = await seedUnevenMarket(sql, SIZE, 'no password');
  listener = await openListener(database.connection, sql, market);
});
afterAll(async () => {
  await listener.close();
  await sql.end({ timeout: 5 });
  await database.drop();
});

const SEES: Partial<Record<Who, (market: Market) => string>> = {
  'new contractor': () => `j.status = 'open'`,
  'busy contractor': (of) =>
    `(j.status = 'open' or exists (select from bids b where b.job_id = j.id
      and b.contractor_id = '${seededId('ctr', busyContractor(of))}'))`,
  'busy homeowner': (of) => `j.homeowner_id = '${seededId('hmw', busyHomeowner(of))}'`,
  admin: () => 'true',
};

const description = (word: string) => `(j.title ilike '%${word}%' or j.description ilike '%${word}%')`;

const SPARSE_IN_TRADES = `search: "${WORDS.sparse}", categories: ["roofing", "thatching", "painting"], budgetMin: 700`;
const NEAR_SMALL_TOWN = `near: { zipCode: "${SMALL_TOWN.zipCode}", withinMiles: 25 }`;

/** A filter in GraphQL, and the same in SQL. */
const FILTERS: Readonly<Record<string, string>> = {
  '': 'true',
  'status: OPEN': `j.status = 'open'`,
  'status: COMPLETED': `j.status = 'completed'`,
  'category: "roofing", urgency: URGENT': `j.category = 'roofing' and j.urgency = 'urgent'`,
  'category: "thatching"': `j.category = 'thatching'`,
  'categories: ["roofing", "thatching", "tiling"]': `j.category in ('roofing', 'tiling')`,
  'categories: ["thatching", "glazing"], urgency: URGENT': 'false',
  'budgetMin: 500, budgetMax: 600': '500 <= j.budget_max and j.budget_min <= 600',
  'budgetMax: 170': 'j.budget_min <= 170',
  'budgetMin: 899.51': 'j.budget_max >= 899.51',
  'budgetMin: 0, budgetMax: 149.99': 'false',
  'budgetMin: 850, categories: ["roofing", "plumbing"], status: OPEN': `j.budget_max >= 850 and j.status = 'open'
    and j.category in ('roofing', 'plumbing')`,
  ...Object.fromEntries(
    Object.values(WORDS).flatMap((word) => [
      [`search: "${word}"`, description(word)],
      [`search: "${word}", status: COMPLETED`, `${description(word)} and j.status = 'completed'`],
      [
        `search: "${word}", status: OPEN, category: "roofing"`,
        `${description(word)} and j.status = 'open' and j.category = 'roofing'`,
      ],
    ]),
  ),
  [SPARSE_IN_TRADES]: `${description(WORDS.sparse)} and j.category in ('roofing', 'painting') and j.budget_max >= 700`,
  [NEAR_SMALL_TOWN]: `j.city = '${SMALL_TOWN.city}'`,
  [`search: "${WORDS.common}", ${NEAR_SMALL_TOWN}`]: `j.city = '${SMALL_TOWN.city}' and ${description(WORDS.common)}`,
  'near: { zipCode: "78704", withinMiles: 25 }': `j.city <> '${SMALL_TOWN.city}'`,
};

interface Listed {
  data: { jobs: { totalCount: number; nodes: { id: string }[]; pageInfo: { endCursor: string | null } } };
}

describe.each(Object.keys(SEES) as Who[])('the list of the %s', (who) => {
  it.each(Object.keys(FILTERS))('{%s} is what a check of every job finds', async (filter) => {
    const narrowed = filter === '' ? '' : `filter: { ${filter} }, `;
    const page = async (after: string) =>
      (
        (await listener.ask(who, {
          graphql: `{ jobs(${narrowed}first: 20${after}) { totalCount nodes { id } pageInfo { endCursor } } }`,
        })) as Listed
      ).data.jobs;
    const where = `${SEES[who]?.(market)} and ${FILTERS[filter]}`;
    const expected = await sql.unsafe<{ id: string }[]>(
      `select j.id from jobs j where ${where} order by j.created_at desc, j.id desc limit 40`,
    );
    const [counted] = await sql.unsafe<{ count: number }[]>(`select count(*)::int as count from jobs j where ${where}`);

    const first = await page('');
    const second = first.pageInfo.endCursor === null ? undefined : await page(`, after: "${first.pageInfo.endCursor}"`);
    expect([...first.nodes, ...(second?.nodes ?? [])].map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    const exactMax = /search|near/.test(filter) ? EXACT_SEARCH_TOTAL_MAX : EXACT_TOTAL_MAX;
    expect(first.totalCount).toBe(Math.min(counted?.count ?? 0, exactMax));
  });
});

/** An order in GraphQL with its filter, the same in SQL, and whether only admins may use it. */
const ORDERED: readonly (readonly [list: string, where: string, order: string, isForAdmins?: true])[] = [
  ['orderBy: HIGHEST_BUDGET', 'true', 'j.budget_max desc nulls last, j.id desc'],
  [
    'orderBy: HIGHEST_BUDGET, filter: { status: OPEN, category: "roofing" }',
    `j.status = 'open' and j.category = 'roofing'`,
    'j.budget_max desc nulls last, j.id desc',
  ],
  [
    'orderBy: HIGHEST_BUDGET, filter: { budgetMax: 600, categories: ["roofing", "tiling"] }',
    `j.budget_min <= 600 and j.category in ('roofing', 'tiling')`,
    'j.budget_max desc nulls last, j.id desc',
  ],
  [
    'orderBy: RECENTLY_UPDATED, filter: { budgetMin: 500, budgetMax: 520, categories: ["roofing", "tiling"] }',
    `j.budget_max >= 500 and j.budget_min <= 520 and j.category in ('roofing', 'tiling')`,
    'j.updated_at desc, j.id desc',
  ],
  [
    `orderBy: HIGHEST_BUDGET, filter: { search: "${WORDS.sparse}" }`,
    description(WORDS.sparse),
    'j.budget_max desc nulls last, j.id desc',
  ],
  // All of one town's jobs are equally far away, and all others are too far.
  [`orderBy: NEAREST, filter: { ${NEAR_SMALL_TOWN} }`, `j.city = '${SMALL_TOWN.city}'`, 'j.id desc'],
  ['orderBy: LONGEST_UNCHANGED', 'true', 'j.status_changed_at, j.id', true],
  [
    'orderBy: LONGEST_UNCHANGED, filter: { statuses: [IN_REVIEW, AWARDED] }',
    `j.status in ('in_review', 'awarded')`,
    'j.status_changed_at, j.id',
    true,
  ],
];

describe.each(Object.keys(SEES) as Who[])('the list of the %s in an order', (who) => {
  const lists = ORDERED.filter(([, , , isForAdmins]) => who === 'admin' || !isForAdmins).map(
    ([list, where, order]) => [list, where, order] as const,
  );
  it.each(lists)('(%s) is what a check of every job finds, from both ends', async (list, where, order) => {
    const page = async (size: string) =>
      (
        (await listener.ask(who, {
          graphql: `{ jobs(${list}, ${size}) { totalCount nodes { id } pageInfo { endCursor } } }`,
        })) as Listed
      ).data.jobs;
    const all = (
      await sql.unsafe<{ id: string }[]>(
        `select j.id from jobs j where ${SEES[who]?.(market)} and ${where} order by ${order}`,
      )
    ).map(({ id }) => id);
    const first = await page('first: 20');
    const second = first.pageInfo.endCursor ? await page(`first: 20, after: "${first.pageInfo.endCursor}"`) : undefined;
    expect([...first.nodes, ...(second?.nodes ?? [])].map(({ id }) => id)).toEqual(all.slice(0, 40));
    expect((await page('last: 20')).nodes.map(({ id }) => id)).toEqual(all.slice(-20));
    const exactMax = /search|near/.test(list) ? EXACT_SEARCH_TOTAL_MAX : EXACT_TOTAL_MAX;
    expect(first.totalCount).toBe(Math.min(all.length, exactMax));
  });
});

/** A query of the list by page number in REST, and the same in SQL. */
const NUMBERED: Readonly<Record<string, string>> = {
  'page=3': 'true',
  'page=40': 'true',
  'page=3&status=open': `j.status = 'open'`,
  'page=3&status=completed': `j.status = 'completed'`,
  'page=3&category=roofing': `j.category = 'roofing'`,
  'page=3&categories=roofing,tiling': `j.category in ('roofing', 'tiling')`,
  'page=3&budget_min=800': 'j.budget_max >= 800',
  [`page=3&search=${WORDS.common}`]: description(WORDS.common),
  [`page=3&search=${WORDS.sparse}`]: description(WORDS.sparse),
  [`page=150&search=${WORDS.common}`]: description(WORDS.common),
};

describe.each(Object.keys(SEES) as Who[])('the list of the %s by page number', (who) => {
  it.each(Object.keys(NUMBERED))('%s is what a check of every job finds', async (query) => {
    const { data } = (await listener.ask(who, { rest: `/v1/jobs?${query}&per_page=10` })) as { data: { id: string }[] };
    const page = Number(/page=(\d+)/.exec(query)?.[1]);
    const expected = await sql.unsafe<{ id: string }[]>(
      `select j.id from jobs j where ${SEES[who]?.(market)} and ${NUMBERED[query]} order by j.created_at desc,
        j.id desc limit 10 offset ${(page - 1) * 10}`,
    );
    expect(data.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  });
});
