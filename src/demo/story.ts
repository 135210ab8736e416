/** Plays the demonstration's town through REST, as its people would: jobs in every state, by a seed. */
import { z } from 'zod';
import { isIn, JOB_STATES } from '../rules/states.js';
import { ADMIN, CONTRACTORS, HOMEOWNERS, LAST_WORD, PASSWORD, WAYS, WORKS, type Step } from './town.js';

interface Person {
  readonly name: string;
  readonly token: string;
  readonly userId: string;
  readonly profileId?: string | undefined;
}

/** A job, and its people as far as they are known. */
interface Led {
  readonly id: string;
  readonly owner: Person;
  readonly contractor?: Person;
}

type Answer = Record<string, unknown> & { id: string };

/** There is one job in each state, and so many more open ones. */
const MORE_OPEN_JOBS = 6;
const TOKENS_FOR_EACH = 500;

/** Whether a user of the town can log in already: then the whole town is there. */
export async function isThere(url: string): Promise<boolean> {
  const [{ email }] = HOMEOWNERS;
  const response = await send(url, 'POST', '/v1/auth/login', undefined, { email, password: PASSWORD });
  return response.status === 200;
}

export async function play(url: string, seed: number, onStep: (what: string) => void): Promise<void> {
  const chance = chanceOf(seed);
  const call = async (by: Person | undefined, method: string, path: string, body?: object): Promise<Answer> => {
    const response = await send(url, method, path, by?.token, body);
    const answer = (await response.json()) as Answer;
    if (!response.ok) throw new Error(`${method} ${path} was refused: ${JSON.stringify(answer)}`);
    return answer;
  };

  onStep('People sign up');
  const admin = personOf(ADMIN.name, await call(undefined, 'POST', '/v1/auth/login', credentialsOf(ADMIN)));
  const homeowners = await inOrder(HOMEOWNERS, async ({ name, last, city, state, zip, ...who }) => {
    const session = await call(undefined, 'POST', '/v1/auth/signup/homeowner', signUp(name, last, who.email));
    const person = personOf(name, session);
    const address = { address_line1: `${chance(90) + 10} Oak Lane`, city, state, zip_code: zip, country: 'US' };
    await call(person, 'PUT', '/v1/me', { homeowner: address });
    return { ...person, address };
  });
  const contractors = await inOrder(CONTRACTORS, async ({ name, last, company, trades, areas, email }) => {
    const body = { ...signUp(name, last, email), company_name: company };
    const person = personOf(name, await call(undefined, 'POST', '/v1/auth/signup/contractor', body));
    await call(person, 'PUT', '/v1/me', {
      contractor: { specialties: trades, service_areas: areas, bio: `${company}, since 1998.` },
    });
    return person;
  });
  for (const { userId } of [...homeowners, ...contractors])
    await call(admin, 'POST', '/v1/tokens/adjustments', {
      user_id: userId,
      amount: TOKENS_FOR_EACH,
      reason: 'A gift of the town',
    });
  await call(admin, 'POST', `/v1/contractors/${contractors[0]?.profileId}/verify`);

  const among = <T>(some: readonly T[]): T => some[chance(some.length)] as T;

  async function draft() {
    const { title, category, about, price } = among(WORKS);
    const owner = among(homeowners);
    const job = await call(owner, 'POST', '/v1/jobs', {
      title,
      category,
      description: `${about} Please call before you come.`,
      urgency: among(['standard', 'standard', 'priority', 'urgent']),
      budget_min: Math.round(price * 0.8),
      budget_max: Math.round(price * 1.3),
      ...owner.address,
    });
    return { owner, id: job.id, price };
  }

  async function openJob() {
    const { owner, id, price } = await draft();
    await call(owner, 'POST', `/v1/jobs/${id}/publish`);
    const bids: { id: string; by: Person }[] = [];
    for (const by of contractors.filter(() => chance(4) > 0))
      bids.push({ by, id: (await call(by, 'POST', `/v1/jobs/${id}/bids`, offer(price))).id });
    return { owner, id, bids, price };
  }

  const offer = (price: number) => ({
    amount: Math.round(price * (0.85 + chance(30) / 100)),
    estimated_duration_days: chance(10) + 1,
    message: among(['I can come on Monday.', 'Material is included.', 'I have done three of these this year.']),
    guaranteed_view: chance(4) === 0,
  });

  async function awardedJob() {
    const { owner, id, bids, price } = await openJob();
    const by = among(contractors);
    const bid = bids[0] ?? { by, id: (await call(by, 'POST', `/v1/jobs/${id}/bids`, offer(price))).id };
    await call(owner, 'POST', `/v1/jobs/${id}/award`, { bid_id: bid.id });
    return { owner, id, contractor: bid.by };
  }

  async function lead({ owner, id, contractor }: Led, way: readonly Step[]) {
    const people = { owner, contractor, admin };
    for (const step of way) await call(people[step.by], 'POST', `/v1/jobs/${id}/${step.path}`, step.body);
  }

  for (const state of JOB_STATES) {
    onStep(`Jobs that are “${state.replaceAll('_', ' ')}”`);
    if (isIn('unpublished', state)) await lead(await draft(), WAYS[state]);
    else if (isIn('bidding', state)) await lead(await openJob(), WAYS[state]);
    else await lead(await awardedJob(), WAYS[state]);
  }
  onStep('More open jobs');
  for (let more = 0; more < MORE_OPEN_JOBS; more += 1) await openJob();
  onStep('A job on which the admin had the last word');
  await lead(await awardedJob(), LAST_WORD);
}

function signUp(name: string, last: string, email: string) {
  return { email, password: PASSWORD, first_name: name, last_name: last, phone: '+1 512 555 0100' };
}

function credentialsOf({ email, password }: typeof ADMIN) {
  return { email, password };
}

const SESSION = z.object({
  token: z.string(),
  user: z.object({ id: z.string() }),
  contractor: z.object({ id: z.string() }).optional(),
});

function personOf(name: string, session: Answer): Person {
  const { token, user, contractor } = SESSION.parse(session);
  return { name, token, userId: user.id, profileId: contractor?.id };
}

function send(url: string, method: string, path: string, token: string | undefined, body: object | undefined) {
  return fetch(`${url}${path}`, {
    method,
    headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function inOrder<T, R>(some: readonly T[], make: (one: T) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  for (const one of some) made.push(await make(one));
  return made;
}

/** Whole numbers from nought to below a limit, the same ones for the same seed (mulberry32). */
function chanceOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
