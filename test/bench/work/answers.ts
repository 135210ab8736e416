/**
 * Same questions, same answers. Before any timing, every server gets the same calls, and its responses and rows are
 * compared with the floor's.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from 'postgres';
import { asPostgraphileSays, backFromPostgraphile } from '../rivals/postgraphile-documents.js';
import { addJobs, type Market } from '../../../src/market/store/seed/seed.js';
import { seededId } from '../market/market.js';
import type { RunningServer, ServerName } from '../servers.js';
import { asRequest, type Asked, type Work } from './works.js';

/** The equivalent request, if this server has its own schema. */
export function inItsWords(server: ServerName, asked: Asked): Asked {
  return server === 'postgraphile' ? asPostgraphileSays(asked) : asked;
}

const READS_COMPARED = 12;

/** Returns the first row that is still unused. */
export async function compareAnswers(
  sql: Sql,
  market: Market,
  works: readonly Work[],
  servers: readonly RunningServer[],
  firstRow: number,
): Promise<number> {
  let row = firstRow;
  for (const work of works) {
    const taking = servers.filter((server) => takesPart(server.name, work));
    const said = new Map<ServerName, unknown[]>();
    for (const server of taking) {
      const answers: unknown[] = [];
      if (work.kind === 'read')
        for (let n = 0; n < READS_COMPARED; n += 1) answers.push(await ask(server, work.ask(market, n, n)));
      else {
        // Rows at the same position in the seed's cycles, so prices, owners' figures, and guaranteed bids are alike.
        const rows = row + (LIKE - (row % LIKE)) + STAKED;
        if (work.stock) await addJobs(sql, market, { from: rows, count: 1, ...work.stock });
        const before = await figures(sql, work, rows);
        answers.push(withoutNews(await ask(server, work.ask(market, rows, 0))), await written(sql, work, rows, before));
        row = rows + 1;
      }
      said.set(server.name, answers);
    }
    const floor = said.get('floor') ?? said.get('product');
    for (const [name, answers] of said) {
      const difference = firstDifference(answers, floor);
      if (difference) throw new Error(`${name} and the floor differ in “${work.name}” at ${difference}`);
    }
  }
  return row;
}

/**
 * The first path where the two differ, with both values. Undefined if they are the same. The order of names doesn't
 * matter.
 */
function firstDifference(one: unknown, other: unknown, path = ''): string | undefined {
  if (isDeepStrictEqual(one, other)) return undefined;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return `${path}: ${JSON.stringify(one)}, not ${JSON.stringify(other)}`;
  const [ours, theirs] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return names
    .map((name) => firstDifference(ours[name], theirs[name], `${path}.${name}`))
    .find((difference) => difference !== undefined);
}

/** A multiple of all the seed's cycles, such as three urgencies and ten for guaranteed bids. */
const LIKE = 3_000;
/**
 * The position in the cycles where the fourth bid is a guaranteed one. Awarding the job to the third bid releases its
 * hold.
 */
const STAKED = 6;

export function takesPart(server: ServerName, work: Work): boolean {
  return server === 'product' || work.rivals.includes(server);
}

async function ask(server: RunningServer, asked: Asked): Promise<unknown> {
  const theirs = inItsWords(server.name, asked);
  const answer = await fetch(`http://127.0.0.1:${server.port}${theirs.path}`, asRequest(theirs));
  const text = await answer.text();
  const body = JSON.parse(text, server.name === 'product' ? withTypesAsKept : undefined) as {
    data?: unknown;
    errors?: unknown;
  };
  if (answer.status >= 300 || body.errors)
    throw new Error(
      `${server.name} refused ${asked.body?.operationName ?? asked.path}: ${answer.status} ${text.slice(0, 2_000)}`,
    );
  if (asked.path !== '/graphql') return body;
  return server.name === 'postgraphile' ? backFromPostgraphile(asked, body.data) : body.data;
}

/** The rivals return event types as the database stores them. The product's schema has an enum. */
function withTypesAsKept(name: string, value: unknown): unknown {
  return name === 'type' && typeof value === 'string' ? value.toLowerCase().replace('_', '.') : value;
}

const NEWS = /^(?:id|updatedAt|createdAt|token|refreshToken|remainingBalance|email)$/;

/** For values that are new or differ between people, only the kind is compared. */
function withoutNews(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutNews(one));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutNews(inner, key)]));
  if (!NEWS.test(name)) return value;
  if (typeof value !== 'string') return typeof value;
  if (name.endsWith('At')) return Number.isNaN(Date.parse(value)) ? `no moment: ${value}` : 'a moment';
  if (/token$/i.test(name)) return /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(value) ? 'a JWT' : 'a token';
  return value.replaceAll(/\d\w{10,}/g, '…').replaceAll(/\d+/g, '#');
}

/** The balances of everyone involved in the row, before the call. */
async function figures(sql: Sql, work: Work, row: number): Promise<unknown> {
  if (!work.stock) return undefined;
  return sql.unsafe(BALANCES, [seededId('job', row)]);
}

const PEOPLE = `select h.user_id from jobs j join homeowners h on h.id = j.homeowner_id where j.id = $1
  union select c.user_id from bids b join contractors c on c.id = b.contractor_id where b.job_id = $1`;
const BALANCES = `select user_id, balance, held from token_balances where user_id in (${PEOPLE}) order by user_id`;

/** The job, its events, bids, and holds, and the balance changes. Identifiers and times are left out. */
async function written(sql: Sql, work: Work, row: number, before: unknown): Promise<unknown> {
  if (!work.stock) return undefined;
  const id = seededId('job', row);
  const job = await sql.unsafe(
    `select status, version, event_count, bid_count, live_bid_count, bids_ever, most_tokens_paid,
      highest_budget_min is not null as base, completion_date_at_check_in,
       (select at from (select id, row_number() over (order by created_at) as at from bids where job_id = $1) b
         where b.id = awarded_bid_id) as awarded,
       updated_at > created_at as touched from jobs where id = $1`,
    [id],
  );
  const events = await sql.unsafe(
    `select sequence, type, from_status, to_status, actor_id is not null as actor, bidder_id is not null as ` +
      `bidder, data - 'bidId' as data, data ? 'bidId' as bid from events where job_id = $1 order by sequence`,
    [id],
  );
  const bids = await sql.unsafe(
    'select status, guaranteed_view, updated_at > created_at as touched from bids where job_id = $1 order by ' +
      'created_at',
    [id],
  );
  const held = await sql.unsafe(
    'select status, amount, count(*)::int from holds where job_id = $1 group by 1, 2 order by 1, 2',
    [id],
  );
  const paid = await sql.unsafe(
    'select amount, reason, from_account = user_id as from_them, to_account from token_transfers where job_id = ' +
      '$1 order by created_at',
    [id],
  );
  const now = await sql.unsafe(BALANCES, [id]);
  const was = new Map(
    (before as { user_id: string; balance: number; held: number }[]).map((one) => [one.user_id, one]),
  );
  const changes = now.map(({ user_id: who, balance, held }) =>
    [balance - (was.get(who)?.balance ?? balance), held - (was.get(who)?.held ?? held)].join(' '),
  );
  return [[...job], [...events], [...bids], [...held], [...paid], changes.toSorted()];
}
