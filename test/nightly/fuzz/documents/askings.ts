/** A document's sender and variables: the ones that it was written with, or others that fit less well. */
import { createHmac } from 'node:crypto';
import { newId } from '../../../../src/market/store/new-id.js';
import { join } from '../../../story/cast.js';
import { JWT_SECRET, type TestApp } from '../../../setup/app.js';
import type { Dice } from '../../../setup/random/dice.js';
import { changedAt, isFields, jsonText, placesIn, Verbatim } from '../requests/json-text.js';
import { JSON_TEXTS, NAMES } from '../requests/odd.js';
import { EVERYBODY, type Stock } from '../requests/stock.js';
import { operationsIn } from './sites.js';
import type { Varied } from './variations.js';

export interface Asking {
  readonly token: string | undefined;
  /** JSON values, some of them already as text. */
  readonly variables: unknown;
  readonly operationName: unknown;
  /** True if some fields fail that normally wouldn't. */
  readonly someFail: boolean;
}

/** The kinds of invalid tokens that a caller may send. */
export interface BadTokens {
  readonly expired: string;
  readonly ended: string;
}

export async function openBadTokens(app: TestApp): Promise<BadTokens> {
  const { token } = await join(app, 'homeowner', 'Elsewhere');
  await app.rest('POST', '/v1/auth/logout', { token });
  return { ended: token, expired: expiredLike(token) };
}

function expiredLike(token: string): string {
  const [header = '', payload = ''] = token.split('.');
  const claims: object = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const changed = Buffer.from(JSON.stringify({ ...claims, exp: Math.floor(Date.now() / 1_000) - 60 })).toString(
    'base64url',
  );
  return `${header}.${changed}.${createHmac('sha256', JWT_SECRET).update(`${header}.${changed}`).digest('base64url')}`;
}

export interface Askers {
  readonly stock: Stock;
  readonly bad: BadTokens;
}

/**
 * Mutations that a dry run can't undo and that others would notice. Only callers who aren't allowed to run them send
 * them.
 */
const KEPT = ['logOut', 'endSession', 'createApiKey', 'createWebhookEndpoint'];

/** `meant` is the token of the person that the document was written for. */
export function asking(
  { document, variables }: Varied,
  meant: string | undefined,
  { stock, bad }: Askers,
  dice: Dice,
): Asking {
  const names = operationsIn(document).flatMap(({ name }) => (name ? [name.value] : []));
  const nobody = [undefined, bad.expired, bad.ended];
  const others = [...EVERYBODY.map((who) => stock.token(who)), ...nobody, 'nonsense'];
  const text = JSON.stringify(document);
  const mayBeAnybody = !KEPT.some((mutation) => text.includes(`"${mutation}"`));
  const token =
    dice.percent(60) && (mayBeAnybody || nobody.includes(meant)) ? meant : dice.pick(mayBeAnybody ? others : nobody);
  const isNamed = names.length > 1 ? dice.percent(95) : dice.percent(40);
  const rarely = dice.percent(2) ? dice.pick<unknown>(['Nobody', '', '__proto__', 5, null]) : undefined;
  const operationName = rarely ?? (isNamed && names.length > 0 ? dice.pick(names) : undefined);
  return { token, variables: sent(variables, dice), operationName, someFail: dice.percent(25) };
}

function sent(fitting: Varied['variables'], dice: Dice): unknown {
  const flipped = Object.fromEntries(
    Object.entries(fitting).map(([name, value]) => [name, typeof value === 'boolean' ? dice.percent(50) : value]),
  );
  const count = dice.weighted([
    [60, 0],
    [30, 1],
    [10, 2],
  ]);
  let variables: unknown = flipped;
  for (let time = 0; time < count; time += 1) variables = changed(variables, dice);
  return dice.percent(1) ? dice.pick<unknown>([null, [], 'x', 5, undefined]) : variables;
}

/** Values of every kind, which fit a place in a document only by chance. */
const VALUES: readonly unknown[] = [
  null,
  null,
  '',
  'nonsense',
  'x'.repeat(201),
  0,
  -1,
  1,
  2,
  101,
  2.5,
  '2',
  1e100,
  2 ** 31,
  true,
  'true',
  [],
  ['x'],
  [null],
  [['x']],
  {},
  { unknown: 1 },
  { first: 1 },
  'OPEN',
  'open',
  'STANDARD',
  'job_000000000000000000000000000',
  '2030-01-01',
  '\0',
  { zipCode: '78701', withinMiles: 5 },
  { zipCode: 78701 },
];

/** Valid and invalid page sizes. An invalid one makes the list null, or its nearest nullable parent. */
const LENGTHS: readonly unknown[] = [0, -1, 101, 1, 2, null];

function changed(variables: unknown, dice: Dice): unknown {
  const places = placesIn(variables);
  const numbers = places.filter((place) => typeof valueAt(variables, place) === 'number');
  if (numbers.length > 0 && dice.percent(50)) return changedAt(variables, dice.pick(numbers), () => dice.pick(LENGTHS));
  const make = dice.weighted<() => unknown>([
    [30, () => changedAt(variables, dice.pick(places), () => dice.pick(VALUES))],
    [15, () => changedAt(variables, dice.pick(places), () => undefined)],
    [10, () => changedAt(variables, dice.pick(places), (old) => (Array.isArray(old) ? old[0] : [old]))],
    [
      10,
      () =>
        changedAt(variables, dice.pick(places), (old) =>
          isFields(old) ? { ...old, [dice.pick(['unknown', 'id', 'constructor'])]: 1 } : jsonText(old),
        ),
    ],
    [10, () => changedAt(variables, dice.pick(places), () => newId(dice.pick(['job', 'bid', 'user'])))],
    [10, () => changedAt(variables, dice.pick(places), () => new Verbatim(dice.pick(JSON_TEXTS)))],
    [10, () => ({ ...(isFields(variables) && variables), [dice.pick(NAMES)]: dice.pick(VALUES) })],
  ]);
  return places.length === 0 ? { ...(isFields(variables) && variables), [dice.pick(NAMES)]: 1 } : make();
}

function valueAt(value: unknown, place: readonly string[]): unknown {
  return place.reduce((inner: unknown, name) => (isFields(inner) ? inner[name] : undefined), value);
}
