/** How much CPU it takes to compare 100 publications a minute with 10,000 saved searches. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { matchNext } from '../../../src/market/store/searches/matches.js';
import { connect, named, type Database } from '../../../src/platform/db/database.js';
import { CATALOG } from '../../../src/market/rules/jobs/catalog.js';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { callRest } from '../../story/calls.js';
import { DRAFT, gather, giveTokens, type People } from '../../story/journey.js';
import { allNumbered } from '../../platform/live/positions.js';
import { printFigures } from '../figures.js';

const SEARCHES = 10_000;
const PER_PERSON = 10;
const PUBLICATIONS = 100;
/** A twentieth of a core, for a minute. */
const CPU_SECONDS_MAX = 3;

let app: TestApp;
let people: People;
let db: Database;
beforeAll(async () => {
  // The test compares the publications itself.
  app = await openTestApp({}, { isMatching: false });
  db = connect(app.database.connection, { poolSize: 1 });
  people = await gather(app);
  await giveTokens(app, people.admin, people.owner, 1_000_000);
  await app.sql`insert into users (id, email, user_type, first_name, last_name, password_hash, referral_code)
    select 'usr_' || lpad(n::text, 27, '0'), n || '@example.test', 'contractor', 'A', 'B', '-', 'S' || n
    from generate_series(1, ${SEARCHES / PER_PERSON}::int) n`;
  await app.sql`insert into contractors (id, user_id) select 'ctr_' || lpad(n::text, 27, '0'),
      'usr_' || lpad(n::text, 27, '0') from generate_series(1, ${SEARCHES / PER_PERSON}::int) n`;
});
afterAll(async () => {
  await db.close();
  await app.close();
});

const TRADES = CATALOG.categories;
const WORDS = ['roof', 'kitchen', 'leak', 'fence', 'paint', 'window', 'deck', 'boiler', 'tile', 'gutter'];
const CITIES = [
  ['Austin', 'TX', '78701', 30.27, -97.74],
  ['Dallas', 'TX', '75201', 32.78, -96.8],
  ['Chicago', 'IL', '60601', 41.88, -87.62],
  ['Seattle', 'WA', '98101', 47.61, -122.33],
  ['Denver', 'CO', '80202', 39.75, -104.99],
  ['Boston', 'MA', '02108', 42.36, -71.06],
  ['Miami', 'FL', '33130', 25.77, -80.2],
  ['Atlanta', 'GA', '30303', 33.75, -84.39],
] as const;

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

interface Search {
  readonly search: string | null;
  readonly categories: string;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

async function save(searchFor: (at: number) => Search): Promise<void> {
  const rows = Array.from({ length: SEARCHES }, (_, at) => ({ at, ...searchFor(at) }));
  await app.sql`delete from saved_searches`;
  await app.sql`insert into saved_searches (id, contractor_id, name, alert, search, categories, near_zip, within_miles,
      latitude, longitude, matches_after)
    select 'sea_' || lpad(at::text, 27, '0'), 'ctr_' || lpad((1 + at / ${PER_PERSON}::int)::text, 27, '0'), 'S',
      'daily',
      search, categories::text[], case when latitude is not null then '00000' end,
      case when latitude is not null then 25 end, latitude, longitude, 0
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as s (at int, search text, categories text,
      latitude float8, longitude float8)`;
  await app.sql`analyze saved_searches`;
}

/** The CPU that the backend of the matching has used, in seconds. Nothing else runs on its connection. */
async function cpuOfPostgres(): Promise<number> {
  const [[pid] = []] = await db.send(named('backend', 'select pg_backend_pid()'), []);
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Publishes jobs, and compares each one in a step of its own, as happens when they come one by one. */
async function match(): Promise<{ postgres: number; node: number; matches: number }> {
  const count = async () => {
    const [row] = await app.sql`select count(*)::int as count from notifications where match_alert is not null`;
    return Number(row?.count);
  };
  const [began, before] = [await cpuOfPostgres(), await count()];
  let node = 0;
  for (let at = 0; at < PUBLICATIONS; at += 1) {
    const [city, state, zip_code] = pick(CITIES, at);
    const fields = { city, state, zip_code, category: pick(TRADES, at), title: `Mend the ${pick(WORDS, at)}` };
    const { body } = await callRest(app, 'create', { by: people.owner, body: { ...DRAFT, ...fields } });
    expect((await callRest(app, 'publish', { by: people.owner, job: body.id })).status).toBe(200);
    await allNumbered(app);
    // This process does little else meanwhile, and what it does only makes the figure larger.
    const start = process.cpuUsage();
    while (await matchNext(db));
    const { user, system } = process.cpuUsage(start);
    node += (user + system) / 1e6;
  }
  return { postgres: (await cpuOfPostgres()) - began, node, matches: (await count()) - before };
}

it.each([
  [
    'nine in ten with a category or a place',
    // Of ten searches, seven have both, one has only a trade, and one has only a place.
    (at: number): Search => {
      const [isTrade, isPlace] = [at % 10 < 8, at % 10 < 7 || at % 10 === 8];
      const [, , , latitude, longitude] = pick(CITIES, Math.floor(at / 10));
      // Most contractors work elsewhere.
      const isFarAway = Math.floor(at / 10) % 5 > 0;
      return {
        search: at % 10 === 9 ? pick(WORDS, Math.floor(at / 10)) : null,
        categories: isTrade ? `{${pick(TRADES, Math.floor(at / 7))}}` : '{}',
        latitude: isPlace ? latitude - (isFarAway ? 1 : 0) : null,
        longitude: isPlace ? longitude : null,
      };
    },
  ],
  [
    'all with only text',
    // One in a hundred matches a job in ten.
    (at: number): Search => ({
      search: at % 100 === 0 ? pick(WORDS, at / 100) : `${pick(WORDS, at)} ${at}`,
      categories: '{}',
      latitude: null,
      longitude: null,
    }),
  ],
])(
  '10,000 searches, %s, are compared with 100 publications a minute',
  async (what, searchFor) => {
    await save(searchFor);
    const { postgres, node, matches } = await match();
    const seconds = postgres + node;
    const percent = (seconds / 60) * 100;
    printFigures(
      `${SEARCHES} searches, ${what}: ${postgres.toFixed(2)} s of CPU in Postgres and ${node.toFixed(2)} s in Node ` +
        `for ${PUBLICATIONS} publications with ${matches} matches, ` +
        `${percent.toFixed(1)}% of a core at ${PUBLICATIONS} a minute`,
    );
    expect(matches).toBeGreaterThan(PUBLICATIONS);
    expect(seconds).toBeLessThan(CPU_SECONDS_MAX);
  },
  600_000,
);
