/**
 * The setting of the attacks: apps with and without limits, and two markets whose people have nothing to do with each
 * other. It also puts outcomes into words.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { openTestApp, type Answer, type GraphqlAnswer, type Json, type TestApp } from '../setup/app.js';
import { editProfile, gather, giveTokens, givenJob, type GivenJob, type People } from '../story/journey.js';

export interface Attack {
  readonly name: string;
  /** The list that names the attack. */
  readonly source: string;
  /** What the attacker finds out, in one line. */
  readonly outcome: string;
  run(ground: Ground): Promise<string>;
}

export interface Market {
  readonly people: People;
  readonly draft: GivenJob;
  readonly open: GivenJob;
  readonly disputed: GivenJob;
  /** Identifiers that only this market's own people should ever see. */
  readonly ids: Readonly<Record<'hold' | 'event' | 'session' | 'transfer', string>>;
}

export interface Ground {
  /** Without rate limits, so only the rules stop an attacker. */
  readonly app: TestApp;
  /** Small rate limits, behind one trusted proxy that reports client addresses. */
  readonly limited: TestApp;
  /** Small rate limits, and no trusted proxy. */
  readonly unproxied: TestApp;
  readonly production: TestApp;
  readonly ours: Market;
  readonly theirs: Market;
  readonly trap: Trap;
  close(): Promise<void>;
}

/** A port of this machine that no server should connect to, whatever it's told. */
interface Trap {
  readonly url: string;
  visits(): number;
}

export const BUDGET = 4;
const SMALL = {
  RATE_LIMITS: 'on',
  RATE_LIMIT_READ: String(BUDGET),
  RATE_LIMIT_WRITE: String(BUDGET),
  RATE_LIMIT_LOG_IN_PER_ACCOUNT_AND_ADDRESS: String(BUDGET),
  RATE_LIMIT_LOG_IN_FAILURES_PER_ACCOUNT: String(2 * BUDGET),
  RATE_LIMIT_REFRESH: String(BUDGET),
  RATE_LIMIT_INVALID_TOKEN: String(BUDGET),
};

export async function openGround(): Promise<Ground> {
  const [app, limited, unproxied, production] = await Promise.all([
    openTestApp(),
    openTestApp({ ...SMALL, TRUST_PROXY_HOPS: '1', RATE_LIMIT_LOG_IN_PER_ADDRESS: String(2 * BUDGET) }),
    openTestApp({ ...SMALL, TRUST_PROXY_HOPS: '0', RATE_LIMIT_LOG_IN_PER_ADDRESS: '100000' }),
    openTestApp({ NODE_ENV: 'production', BCRYPT_COST: '10' }),
  ]);
  const [ours, theirs] = [await openMarket(app), await openMarket(app)];
  const { trap, closeTrap } = await openTrap();
  return {
    app,
    limited,
    unproxied,
    production,
    ours,
    theirs,
    trap,
    close: async () => {
      await Promise.all([app, limited, unproxied, production].map((one) => one.close()));
      await closeTrap();
    },
  };
}

async function openTrap(): Promise<{ trap: Trap; closeTrap(): Promise<unknown> }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    trap: { url: `http://127.0.0.1:${port}/`, visits: () => visits },
    closeTrap: () => once(server.close(), 'close'),
  };
}

async function openMarket(app: TestApp): Promise<Market> {
  const people = await gather(app);
  for (const who of ['awardee', 'bidder', 'stranger'] as const) await giveTokens(app, people.admin, people[who], 100);
  await editProfile(app, people.owner, {
    user: { phone: '+1 512 555 0100' },
    homeowner: { address_line1: '12 Oak Lane', address_line2: 'Apt 3', zip_code: '78701' },
  });
  await editProfile(app, people.bidder, {
    user: { phone: '+1 512 555 0101' },
    contractor: { license_number: 'TX-1', insurance_policy_number: 'P-1' },
  });
  const offers = { bidder: { guaranteed_view: true } };
  const fields = { address_line2: 'Apt 3' };
  const [draft, open, disputed] = [
    await givenJob(app, 'draft', people),
    await givenJob(app, 'open', people, { offers, fields }),
    await givenJob(app, 'disputed', people),
  ];
  const one = async (query: PromiseLike<readonly { id?: unknown }[]>) => String((await query)[0]?.id);
  return {
    people,
    draft,
    open,
    disputed,
    ids: {
      hold: await one(app.sql`select hold_id as id from bids where id = ${open.bids.bidder}`),
      event: await one(app.sql`select id from events where job_id = ${disputed.id} limit 1`),
      session: await one(app.sql`select id from sessions where user_id = ${people.owner.userId}`),
      transfer: await one(app.sql`select id from token_transfers where user_id = ${people.owner.userId} limit 1`),
    },
  };
}

/** The outcome of a call, in one form for both APIs. For a success, only the status. */
export function outcomeOf(answer: Answer<Json> | GraphqlAnswer): string {
  if ('body' in answer)
    return answer.status < 400
      ? String(answer.status)
      : `${answer.status} ${answer.body.details?.code ?? answer.body.errors?.[0]?.extensions.code}`;
  const error = answer.errors?.[0]?.extensions;
  return error ? `${error.status} ${error.code}` : String(answer.status);
}

/** Every distinct outcome of the calls. */
export async function alike(calls: readonly Promise<Answer<Json> | GraphqlAnswer>[]): Promise<string> {
  return [...new Set((await Promise.all(calls)).map(outcomeOf))].toSorted().join(', ');
}

/** How many of the calls, made one after another, pass the limits. */
export async function passed(calls: readonly (() => Promise<Answer<Json> | GraphqlAnswer>)[]): Promise<string> {
  const all: string[] = [];
  for (const call of calls) all.push(outcomeOf(await call()));
  return `${all.filter((one) => one !== '429 RATE_LIMITED').length} of ${all.length} pass`;
}
