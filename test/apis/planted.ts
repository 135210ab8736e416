/**
 * A market full of unique values, each with a list of the people who can read it. The lists follow the decisions, not
 * the code.
 */
import { createHash } from 'node:crypto';
import type { JobState } from '../../src/market/rules/states.js';
import { newId } from '../../src/market/store/new-id.js';
import type { Person } from '../story/cast.js';
import type { TestApp } from '../setup/app.js';
import {
  bodyOf,
  editProfile,
  gather,
  giveTokens,
  givenJob,
  type GivenJob,
  type Journey,
  type People,
} from '../story/journey.js';
import { callRest } from '../story/calls.js';
import { isAwarded, isIn, OPERATIONS_ON_JOBS, statesAllowing } from '../story/specified.js';

export interface Secret {
  readonly what: string;
  readonly value: string;
  readonly readers: ReadonlySet<Person>;
}

export interface PlantedScene {
  readonly name: string;
  readonly state: JobState;
  readonly people: People;
  readonly job: GivenJob;
  readonly secrets: readonly Secret[];
}

type Who = keyof People;

let planted = 0;

export async function plantScene(
  app: TestApp,
  state: JobState,
  journey: Pick<Journey, 'through'> = {},
): Promise<PlantedScene> {
  planted += 1;
  const name = journey.through ? `${state} through ${journey.through}` : state;
  const people = await gather(app);
  const secrets: Secret[] = [];
  const keep = (what: string, value: string, ...readers: Who[]) => {
    secrets.push({ what: `${name}: ${what}`, value, readers: new Set(readers.map((who) => people[who])) });
    return value;
  };
  let texts = 0;
  const text = (what: string, ...readers: Who[]) => keep(what, `kept${planted}x${(texts += 1)}kept`, ...readers);
  const money = (what: string, ...readers: Who[]) =>
    Number(keep(what, `${71_000 + planted * 100 + (texts += 1)}.37`, ...readers));

  const hasAward = isAwarded(state);
  const isPublished = !isIn('unpublished', state);
  const winner: Who[] = hasAward ? ['awardee'] : [];
  const client: Who[] = hasAward ? ['owner'] : [];
  const bidders: Who[] = isPublished ? ['awardee', 'bidder'] : [];
  const onlookers: Who[] = statesAllowing('submitBid').includes(state) ? [...bidders, 'stranger'] : bidders;
  const close: Who[] = ['owner', 'admin', ...winner];

  for (const [who, ...others] of [
    ['owner', ...winner],
    ['other'],
    ['awardee', ...client],
    ['bidder'],
    ['stranger'],
  ] as const) {
    const { email, referralCode, token, refreshToken, userId } = people[who];
    keep(`email of the ${who}`, email, who, 'admin', ...others);
    keep(`referral code of the ${who}`, referralCode, who);
    keep(`access token of the ${who}`, token);
    keep(`refresh token of the ${who}`, refreshToken);
    const keyName = text(`name of the key of the ${who}`, who);
    const made = await app.rest('POST', '/v1/api-keys', { token, body: { name: keyName } });
    keep(`API key of the ${who}`, made.body.secret);
    keep(`hash of the API key of the ${who}`, createHash('sha256').update(made.body.secret).digest('base64url'));
    const webhook = await app.rest('POST', '/v1/webhooks', {
      token,
      body: { url: `https://hooks.example.com/${text(`address of the webhook of the ${who}`, who, 'admin')}` },
    });
    keep(`secret of the webhook of the ${who}`, webhook.body.secret);
    if (who !== 'owner' && who !== 'other')
      await app.rest('POST', '/v1/saved-searches', {
        token,
        body: {
          name: text(`name of the search of the ${who}`, who),
          filter: { search: text(`text of the search of the ${who}`, who) },
          alert: 'off',
        },
      });
    // A paused endpoint gets nothing. Its events wait, and the API lists them.
    await app.rest('PUT', `/v1/webhooks/${webhook.body.webhook.id}`, { token, body: { status: 'paused' } });
    const [row] = await app.sql`select password_hash from users where id = ${userId}`;
    keep(`password hash of the ${who}`, row!.password_hash);
    await app.sql`insert into purchases (id, user_id, pack, tokens, amount, currency, return_url, provider, livemode,
        session_id, checkout_url, receipt_url, expires_at)
      values (${newId('purchase')}, ${userId}, 'small', 50, 500, 'USD', ${text(`return URL of the ${who}`)}, 'stripe',
        false, ${text(`checkout of the ${who}`)}, ${text(`checkout URL of the ${who}`)},
        ${text(`receipt of the ${who}`, who, 'admin')}, now())`;
    const address = (what: string) => text(`${what} of the ${who}`, who, 'admin', ...others);
    const credential = (what: string) =>
      text(`${what} of the ${who}`, who, 'admin', ...(isPublished && who !== 'stranger' ? (['owner'] as const) : []));
    await editProfile(app, people[who], {
      user: { phone: text(`phone of the ${who}`, who, 'admin', ...others) },
      ...(who === 'owner' || who === 'other'
        ? {
            homeowner: {
              address_line1: address('street'),
              address_line2: address('flat'),
              zip_code: address('postal code'),
            },
          }
        : { contractor: { license_number: credential('licence'), insurance_policy_number: credential('policy') } }),
    });
  }
  const note = text('note on the owner’s tokens', 'owner', 'admin');
  await app.rest('POST', '/v1/tokens/adjustments', {
    token: people.admin.token,
    body: { user_id: people.owner.userId, amount: 1, reason: note },
  });
  for (const who of ['awardee', 'bidder', 'stranger'] as const) await giveTokens(app, people.admin, people[who], 1_000);

  const job = await givenJob(app, state, people, {
    ...journey,
    say: (what) => text(what, ...close, ...(ALSO_READ_BY[what] ?? [])),
    fields: {
      title: text('title', 'owner', 'admin', ...onlookers),
      description: text('description', 'owner', 'admin', ...onlookers),
      requirements: text('requirements', 'owner', 'admin', ...onlookers),
      address_line1: text('street of the job', ...close),
      address_line2: text('flat of the job', ...close),
      zip_code: text('postal code of the job', ...close),
    },
    ...(isPublished && {
      offers: {
        awardee: {
          amount: money('amount of the awardee’s bid', 'owner', 'admin', 'awardee'),
          message: text('message of the awardee’s bid', 'owner', 'admin', 'awardee'),
          payment_terms: text('terms of the awardee’s bid', 'owner', 'admin', 'awardee'),
        },
        bidder: {
          amount: money('amount of the other bid', 'owner', 'admin', 'bidder'),
          message: text('message of the other bid', 'owner', 'admin', 'bidder'),
          payment_terms: text('terms of the other bid', 'owner', 'admin', 'bidder'),
          guaranteed_view: true,
        },
      },
    }),
  });
  if (name === 'open') {
    // The earlier terms can be read only among the earlier offers.
    const terms = text('later terms of the other bid', 'owner', 'admin', 'bidder');
    const { bidder: bid } = job.bids;
    await callRest(app, 'revise', { by: people.bidder, job: job.id, bid: bid!, body: { payment_terms: terms } });
  }
  if (state === 'disputed') {
    const proposal = bodyOf('resolveDispute', (what) => text(`proposed ${what}`, ...close), null);
    await callRest(app, 'resolveDispute', { by: people.owner, job: job.id, body: proposal });
  }
  const latitude = Number(keep('latitude of the job', `31.17${planted}0059`, ...close));
  const longitude = Number(keep('longitude of the job', `-97.43${planted}0059`, ...close));
  await app.sql`update jobs set latitude = ${latitude}, longitude = ${longitude} where id = ${job.id}`;
  return { name, state, people, job, secrets };
}

/** Other people who read a step's string although they aren't close to the job now. */
const ALSO_READ_BY: Readonly<Record<string, readonly Who[]>> = {
  'review of approve': ['bidder'],
  'reason of declineAward': ['awardee'],
};

/** Every kind of ID, both of objects that these people can read and of others. */
export async function idsAround(app: TestApp, { job, people }: PlantedScene): Promise<string[]> {
  const users = Object.values(people).map(({ userId }) => userId);
  const found = await app.sql`
    select id from events where job_id = ${job.id}
    union all select id from bids where job_id = ${job.id}
    union all select hold_id from bids where job_id = ${job.id} and hold_id is not null
    union all select id from token_transfers where user_id in ${app.sql(users)}
    union all select id from purchases where user_id in ${app.sql(users)}
    union all select id from admin_actions where user_id in ${app.sql(users)}
    union all select s.id from saved_searches s join contractors c on c.id = s.contractor_id
      where c.user_id in ${app.sql(users)}
    union all select id from webhook_endpoints where user_id in ${app.sql(users)}
    union all select id from sessions where user_id in ${app.sql(users)}
    union all select id from api_keys where user_id in ${app.sql(users)}
    union all select id from reviews where job_id = ${job.id}
    union all select 'prp_' || substr(id, 5) from events where job_id = ${job.id} and type = 'job.resolution_proposed'
    union all (select d.id from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
      where w.user_id in ${app.sql(users)} limit 5)
    union all select 'vwr_' || substr(id, 5) from users where id in ${app.sql(users)}`;
  const profiles = Object.values(people)
    .map(({ profileId }) => profileId)
    .filter(Boolean);
  return [...new Set([job.id, ...users, ...profiles, ...found.map(({ id }) => String(id))])];
}

export interface Leak {
  readonly who: string;
  readonly where: string;
  readonly what: string;
}

/** Looks for secrets in every response that a person got, and remembers who has read which. */
export function createLookout(scenes: readonly PlantedScene[]) {
  const secrets = scenes.flatMap((scene) => scene.secrets);
  const contractors = new Set(scenes.flatMap(({ people }) => [people.awardee, people.bidder, people.stranger]));
  const open = new Set(
    scenes
      .filter(({ state }) => OPERATIONS_ON_JOBS.submitBid.from.includes(state))
      .flatMap((scene) =>
        scene.secrets.filter(({ readers }) => readers.has(scene.people.stranger) && readers.has(scene.people.bidder)),
      ),
  );
  const byValue = new Map(secrets.map((secret) => [secret.value, secret]));
  const leaks: Leak[] = [];
  const read = new Map<Secret, Set<Person>>();

  /** The contractor's profile shows the review of an approval to every logged-in user. */
  const reviews = new Set(secrets.filter(({ what }) => what === 'completed: review of approve'));

  const mayRead = (person: Person | null, secret: Secret) =>
    person !== null &&
    (secret.readers.has(person) || reviews.has(secret) || (open.has(secret) && contractors.has(person)));

  function check(
    person: Person | null,
    where: string,
    answer: { headers: Headers; [part: string]: unknown },
    lenient: (secret: Secret) => boolean = () => false,
  ): void {
    const { headers, ...parts } = answer;
    const whole = withCursorsOpened(JSON.stringify([parts, [...headers]]));
    for (const secret of secretsIn(whole)) {
      if (person) read.set(secret, (read.get(secret) ?? new Set()).add(person));
      if (!mayRead(person, secret) && !lenient(secret))
        leaks.push({ who: person?.name ?? 'nobody', where, what: secret.what });
    }
  }

  /**
   * Finds made-up strings anywhere. Finds other values only as whole words, because responses are long.
   */
  function secretsIn(whole: string): Set<Secret> {
    const words = new Set(
      [...whole.matchAll(/kept\d+x\d+kept/g), ...whole.matchAll(/[\w.@$/-]+/g)].map(([word]) => word),
    );
    return new Set([...words].flatMap((word) => byValue.get(word) ?? []));
  }

  /** The secrets that a person can read but never did. A test that reads too little finds nothing. */
  function overlooked(): Leak[] {
    return secrets.flatMap((secret) =>
      [...secret.readers]
        .filter((reader) => !read.get(secret)?.has(reader))
        .map(({ name }) => ({ who: name, where: 'nowhere', what: secret.what })),
    );
  }

  return { check, leaks, overlooked };
}

/** A cursor is opaque, but a curious client can decode it. */
function withCursorsOpened(text: string): string {
  const cursors = new Set(
    [...text.matchAll(/(?:[cC]ursor":\s*"|after=)([\w-]{8,})/g)].map(([, cursor]) => cursor ?? ''),
  );
  return text + [...cursors].map((cursor) => Buffer.from(cursor, 'base64url').toString()).join(' ');
}
