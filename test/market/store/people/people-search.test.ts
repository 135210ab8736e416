/**
 * Any search of contractors or users finds and counts what a check of every row finds. The people are random, from a
 * seed. There are enough that some counts scan the list, others use the index, and some scans end too early.
 */
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Viewer } from '../../../../src/market/rules/viewer.js';
import { connect, type Database } from '../../../../src/platform/db/database.js';
import { listContractors } from '../../../../src/market/store/people/contractor-lists.js';
import { listUsers } from '../../../../src/market/store/people/user-lists.js';
import { diceOf } from '../../../setup/random/dice.js';
import { freshDatabase, type FreshDatabase } from '../../../setup/postgres.js';

const SEED = 20_261_128;
const CONTRACTORS = 4_000;
const HOMEOWNERS = 400;
const EXACT_TOTAL_MAX = 10_000;
const EXACT_SEARCH_TOTAL_MAX = 1_000;

/** Strings to search for, and where a contractor's text has them. The newest contractors have the highest numbers. */
const TEXTS = {
  everywhere: 'true',
  'in half': 'n % 2 = 0',
  'in a fifth': 'n % 5 = 0',
  'in few': 'n % 600 = 7',
  // The first looks common, and the second looks rare.
  'in the newest': 'n > 3900',
  'in all but the newest': 'n <= 3800',
} as const;
const SEARCHED = [...Object.keys(TEXTS), 'IN HALF', 'in', 'e', '_', '%', 'nowhere at all'];
const SIZES = [3, 20, 100];
const SIGNED_IN = { userId: 'usr_', sessionId: 'ses_', contractorId: null } as const;
const VIEWERS: readonly Viewer[] = [
  { ...SIGNED_IN, role: 'homeowner', homeownerId: 'hmw_' },
  { ...SIGNED_IN, role: 'admin', homeownerId: null },
];

let database: FreshDatabase;
let sql: Sql;
let db: Database;

beforeAll(async () => {
  database = await freshDatabase();
  sql = postgres({ ...database.connection, max: 1, fetch_types: false, onnotice: () => {} });
  db = connect(database.connection, { poolSize: 1 });
  const texts = Object.entries(TEXTS).map(([text, where]) => `case when ${where} then ', ${text}' end`);
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 27, '0')`;
  const people = `generate_series(1, ${CONTRACTORS + HOMEOWNERS}) n`;
  const created = `timestamptz '2030-01-01' + (n / 3) * interval '1 minute'`;
  await sql.unsafe(`
    insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code, email_verified,
        suspended_at, created_at)
      select ${id('usr')}, 'n' || n || '@example.test', case when n <= ${CONTRACTORS} then 'contractor' else 'homeowner'
        end::user_type, 'Some', concat('Body', ${texts.join(', ')}), 'x', 'R' || n, n % 3 = 0,
        case when n % 11 = 0 then now() end, ${created}
      from ${people};
    insert into contractors (id, user_id, bio, specialties, service_areas, verified, rating_count, rating_sum,
        completed_jobs)
      select ${id('ctr')}, ${id('usr')}, concat('Text', ${texts.join(', ')}),
        case when n % 4 = 0 then '{Roofing}' else '{plumbing}' end::text[], '{Austin}', n % 7 = 0, n % 5,
        n % 5 * 3, n % 9
      from ${people} where n <= ${CONTRACTORS};
    `);
  await sql`vacuum (analyze)`;
});
afterAll(async () => {
  await db.close();
  await sql.end({ timeout: 5 });
  await database.drop();
});

const contains = (columns: string, text: string | null) =>
  text === null ? 'true' : `position(lower('${text}') in lower(${columns})) > 0`;
const isWhether = (column: string, value: boolean | null) => (value === null ? 'true' : `${column} is ${value}`);

async function idsOf(query: string): Promise<string[]> {
  return (await sql.unsafe<{ id: string }[]>(query)).map(({ id }) => id);
}

function totalOf({ length }: readonly string[], isSearch: boolean) {
  const exactMax = isSearch ? EXACT_SEARCH_TOTAL_MAX : EXACT_TOTAL_MAX;
  return { count: Math.min(length, exactMax), isCapped: length > exactMax };
}

describe.each(VIEWERS)('a search of contractors by a $role', (viewer) => {
  const ORDERS = {
    newest: 'c.created_at desc, c.id desc',
    best_rated: 'c.rating_rank desc, c.rating_count desc, c.id desc',
    most_completed: 'c.completed_jobs desc, c.rating_rank desc, c.rating_count desc, c.id desc',
  };

  it.each(Object.keys(ORDERS) as (keyof typeof ORDERS)[])(
    'finds and counts the same as a check of all, %s',
    async (order) => {
      const dice = diceOf(SEED + order.length);
      for (let time = 0; time < 40; time += 1) {
        const search = dice.percent(90) ? dice.pick(SEARCHED) : null;
        const verified = dice.percent(30) ? dice.percent(50) : null;
        const specialty = dice.percent(20) ? 'roofing' : null;
        const expected = await idsOf(`select c.id from contractors c join users u on u.id = c.user_id
        where ${contains(`c.person_name || chr(1) || c.bio`, search)} and ${isWhether('c.verified', verified)}
          and ${specialty === null ? 'true' : `'Roofing' = any(c.specialties)`}
          and ${viewer.role === 'admin' ? 'true' : 'u.suspended_at is null'} order by ${ORDERS[order]}`);
        const size = dice.pick(SIZES);
        const offset = dice.percent(50) ? 0 : size * dice.int(0, 12);
        const request = { size, offset, withTotal: dice.percent(50) };
        const { rows, total } = await listContractors(db, viewer, { search, specialty, verified }, order, request);
        const label = JSON.stringify({ search, specialty, verified, ...request });
        expect(
          rows.map(({ contractor }) => contractor.id),
          label,
        ).toEqual(expected.slice(offset, offset + size));
        expect(await total(), label).toEqual(totalOf(expected, search !== null));
      }
    },
  );
});

it('a search of users finds and counts the same as a check of all', async () => {
  const dice = diceOf(SEED);
  for (let time = 0; time < 60; time += 1) {
    const search = dice.percent(90) ? dice.pick([...SEARCHED, '@example.test', 'n39']) : null;
    const verified = dice.percent(20) ? dice.percent(50) : null;
    const suspended = dice.percent(20) ? dice.percent(50) : null;
    const emailVerified = dice.percent(20) ? dice.percent(50) : null;
    const userType = dice.percent(20) ? dice.pick(['homeowner', 'contractor'] as const) : null;
    const expected = await idsOf(`select u.id from users u left join contractors c on c.user_id = u.id
      where ${contains(`u.first_name || ' ' || u.last_name || chr(1) || u.email`, search)}
        and ${isWhether('c.verified', verified)} and ${isWhether('(u.suspended_at is not null)', suspended)}
        and ${isWhether('u.email_verified', emailVerified)}
        and ${userType === null ? 'true' : `u.user_type = '${userType}'`} order by u.created_at desc, u.id desc`);
    const size = dice.pick(SIZES);
    const offset = dice.percent(50) ? 0 : size * dice.int(0, 12);
    const request = { size, offset, withTotal: dice.percent(50) };
    const filter = { search, verified, suspended, emailVerified, userType };
    const { rows, total } = await listUsers(db, filter, request);
    const label = JSON.stringify({ ...filter, ...request });
    expect(
      rows.map(({ id }) => id),
      label,
    ).toEqual(expected.slice(offset, offset + size));
    expect(await total(), label).toEqual(totalOf(expected, search !== null));
  }
});
