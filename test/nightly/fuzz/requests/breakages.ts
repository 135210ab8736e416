/** Ways to break a valid request, each as a row in a table: its values, text, bytes, headers, or address. */
import { gzipSync } from 'node:zlib';
import type { Dice } from '../../../setup/random/dice.js';
import { percentEncoded, setHeader, type Draft } from './draft.js';
import { changedAt, isFields, jsonText, placesIn, Verbatim, withField } from './json-text.js';
import type { Oddities } from './odd.js';
import { EVERYBODY, type Stock } from './stock.js';

export interface Workshop {
  readonly dice: Dice;
  readonly odd: Oddities;
  readonly stock: Stock;
}

type Breakage = (draft: Draft, workshop: Workshop) => void;
type Table = readonly (readonly [weight: number, name: string, breakage: Breakage])[];

/** The body is still JSON, but has a wrong value. */
export const VALUE_BREAKAGES: Table = [
  [30, 'odd value', oddValue],
  [12, 'missing', (draft, { dice }) => void (draft.json = dropped(draft.json, dice))],
  [
    12,
    'unknown name',
    (draft, { dice, odd }) => void (draft.json = withField(draft.json, odd.name(dice), new Verbatim(odd.json(dice)))),
  ],
  [6, 'not an object', (draft, { dice, odd }) => void (draft.json = new Verbatim(odd.json(dice)))],
  [6, 'repeated name', repeatedName],
];

/** The body's headers, or others, are wrong. */
export const ENVELOPE_BREAKAGES: Table = [
  [8, 'bytes', (draft, { dice }) => void (draft.bytes = damaged(bodyOf(draft), dice))],
  [
    4,
    'invalid UTF-8',
    (draft, { dice }) => void (draft.bytes = inserted(bodyOf(draft), Buffer.from(dice.pick(NOT_UTF8), 'latin1'), dice)),
  ],
  [
    4,
    'cut short',
    (draft, { dice }) => void (draft.bytes = bodyOf(draft).subarray(0, dice.int(0, bodyOf(draft).length))),
  ],
  [4, 'deep', (draft, { dice }) => void (draft.bytes = Buffer.from(deep(dice)))],
  [
    1,
    'long',
    (draft, { dice }) =>
      void (draft.bytes = Buffer.alloc(
        dice.pick([65_536, 65_537, 70_000, 131_073, 300_000]),
        dice.pick([' ', '[', 'x']),
      )),
  ],
  [
    4,
    'content type',
    (draft, { dice, odd }) =>
      setHeader(draft, 'Content-Type', dice.pick([...CONTENT_TYPES, odd.header(dice), undefined])),
  ],
  [3, 'encoding', (draft, { dice }) => encoded(draft, dice)],
  [3, 'no body', (draft) => void (draft.bytes = Buffer.alloc(0))],
  [
    4,
    'other encoding of text',
    (draft, { dice }) =>
      void (draft.bytes = Buffer.from(jsonText(draft.json ?? {}), dice.pick(['utf16le', 'latin1', 'base64'] as const))),
  ],
  [4, 'byte order mark', (draft) => void (draft.bytes = Buffer.concat([Buffer.from('﻿'), bodyOf(draft)]))],
];

/** The caller, method, address, or headers are wrong. */
export const ADDRESS_BREAKAGES: Table = [
  [10, 'someone else', somebodyElse],
  [
    5,
    'bad token',
    (draft, { dice, odd, stock }) =>
      setHeader(
        draft,
        'Authorization',
        dice.pick([undefined, odd.header(dice), `Bearer ${odd.header(dice)}`, ...badTokens(stock.token('owner'))]),
      ),
  ],
  [12, 'odd header', (draft, { dice, odd }) => setHeader(draft, dice.pick(HEADER_NAMES), odd.header(dice))],
  [8, 'method', (draft, { dice }) => void (draft.method = dice.pick(METHODS))],
  [12, 'path', (draft, { dice, odd }) => void (draft.path = oddPath(draft.path, dice, odd))],
  [10, 'other id', otherId],
  [14, 'query', oddQuery],
];

/** Breaks a request at least once. The last breakage names it. */
export function spoiled(draft: Draft, tables: Table, workshop: Workshop): Draft {
  const times = workshop.dice.weighted([
    [80, 1],
    [15, 2],
    [5, 4],
  ]);
  for (let at = 0; at < times; at += 1) {
    const [, name, breakage] = workshop.dice.weighted(tables.map((row) => [row[0], row] as const));
    breakage(draft, workshop);
    draft.kind = `${draft.kind.split(':')[0]}: ${name}`;
  }
  // The request no longer has to succeed.
  delete draft.operation;
  delete draft.selected;
  return draft;
}

/** If the call would end a session, it uses a spare person's, which no other call needs. */
function somebodyElse(draft: Draft, { dice, stock }: Workshop): void {
  const endsIt = draft.path.endsWith('/logout') || jsonText(draft.json ?? null).includes('logOut');
  setHeader(draft, 'Authorization', `Bearer ${endsIt ? stock.spare(dice).token : stock.token(dice.pick(EVERYBODY))}`);
}

function oddValue(draft: Draft, { dice, odd }: Workshop): void {
  const places = placesIn(draft.json);
  const value = new Verbatim(odd.json(dice));
  if (places.length === 0) draft.json = withField(draft.json, odd.name(dice), value);
  else
    draft.json = changedAt(draft.json, dice.pick(places), (old) =>
      typeof old === 'string' && dice.percent(40) ? odd.text(dice) : value,
    );
}

function dropped(json: unknown, dice: Dice): unknown {
  const places = placesIn(json);
  return places.length === 0 ? {} : changedAt(json, dice.pick(places), () => dice.pick([undefined, null]));
}

function repeatedName(draft: Draft, { dice, odd }: Workshop): void {
  const names = isFields(draft.json) ? Object.keys(draft.json) : [];
  const name = names.length > 0 ? dice.pick(names) : odd.name(dice);
  draft.json = withField(withFieldTwice(draft.json, name), name, new Verbatim(odd.json(dice)));
}

/** Adds the name if the body doesn't have it. */
function withFieldTwice(json: unknown, name: string): unknown {
  return isFields(json) && name in json ? json : { ...(isFields(json) ? json : {}), [name]: 1 };
}

function bodyOf({ json, bytes }: Draft): Buffer {
  return bytes ?? Buffer.from(json === undefined ? '' : jsonText(json));
}

/** Flips, inserts, removes, or repeats some bytes. */
export function damaged(bytes: Buffer, dice: Dice): Buffer {
  let result = Buffer.from(bytes);
  for (
    let times = dice.weighted([
      [60, 1],
      [30, 3],
      [10, 10],
    ]);
    times > 0;
    times -= 1
  ) {
    const at = dice.int(0, result.length);
    const length = dice.int(1, 8);
    const [before, after] = [result.subarray(0, at), result.subarray(at)];
    const ways: (() => Buffer)[] = [
      () => Buffer.concat([before, Buffer.from([dice.int(0, 255)]), after]),
      () => Buffer.concat([before, after.subarray(length)]),
      () => Buffer.concat([before, after.subarray(0, length), after]),
      () => Buffer.concat([before, Buffer.from(dice.pick(SIGNS)), after.subarray(1)]),
      () => Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (1 << dice.int(0, 7))]), after.subarray(1)]),
    ];
    result = Buffer.from(dice.pick(ways)());
  }
  return result;
}

const SIGNS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\0',
  '\n',
  '\r\n',
  '0',
  '-',
  'e',
  '/',
  '\u2028',
  ' ',
  '#',
  '(',
  ')',
  '$',
  '@',
  '!',
  '"""',
  '...',
  '\\u',
];
const NOT_UTF8 = ['\xff', '\xc0\x80', '\xed\xa0\x80', '\xf4\x90\x80\x80', '\xe2\x82', '\x80', '\xfe\xff'];

function inserted(bytes: Buffer, what: Buffer, dice: Dice): Buffer {
  const at = dice.int(0, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)]);
}

function deep(dice: Dice): string {
  const levels = dice.pick([10, 31, 32, 33, 100, 1_000, 10_000, 30_000]);
  const [open, close] = dice.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"title":', '}'],
    ['[{"a":', '}]'],
  ] as const);
  return dice.percent(80)
    ? `${open.repeat(levels)}1${close.repeat(levels)}`.slice(0, 65_000)
    : open.repeat(levels).slice(0, 65_000);
}

const CONTENT_TYPES = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'application/graphql',
  'application/json;',
  'APPLICATION/JSON',
  'application/merge-patch+json',
  'application/json, text/plain',
  'application/octet-stream',
  '',
  'json',
  `application/${'a+'.repeat(2_000)}json`,
];

function encoded(draft: Draft, dice: Dice): void {
  setHeader(draft, 'Content-Encoding', dice.pick(['gzip', 'br', 'deflate', 'identity', 'gzip, gzip', 'x']));
  if (dice.percent(50)) draft.bytes = gzipSync(bodyOf(draft));
}

function badTokens(token: string): string[] {
  const [head, payload, signature] = token.split('.');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  return [
    `Bearer ${head}.${payload}.`,
    `Bearer ${none}.${payload}.`,
    `Bearer ${head}.${payload}.${signature}x`,
    `Bearer ${token} ${token}`,
    `Basic ${token}`,
    `bearer  ${token}`,
    'Bearer',
    `Bearer ${'x'.repeat(4_000)}`,
    'Bearer a.b.c',
  ];
}

const HEADER_NAMES = [
  'If-Match',
  'If-Match',
  'Idempotency-Key',
  'Idempotency-Key',
  'Dry-Run',
  'Dry-Run',
  'X-Request-Id',
  'Accept',
  'Accept-Encoding',
  'Origin',
  'X-Forwarded-For',
  'If-None-Match',
  'Range',
  'Cookie',
  'Content-Language',
  'Prefer',
  'X-HTTP-Method-Override',
  'Access-Control-Request-Method',
  'Apollo-Require-Preflight',
  'Traceparent',
  'Authorization',
  'Forwarded',
  'Connection',
  'Te',
  'X-Odd',
];

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'PURGE',
  'M-SEARCH',
];

function oddPath(path: string, dice: Dice, odd: Oddities): string {
  const at = dice.int(1, path.length);
  return dice.pick<() => string>([
    () => `${path}/`,
    () => path.replace('/', '//'),
    () => path.replace(/^\/v1/, ''),
    () => `/v1${path}`,
    () => path.toUpperCase(),
    () => `${path.slice(0, at)}${percentEncoded(path.slice(at, at + 1))}${path.slice(at + 1)}`,
    () => path.replaceAll('/', '%2F').replace('%2F', '/'),
    () => `${path.slice(0, at)}${dice.pick(PATH_PARTS)}${path.slice(at)}`,
    () => `/v1/${percentEncoded(odd.text(dice)).slice(0, 8_000)}`,
    () => dice.pick(ELSEWHERE),
    () => `${path}/${percentEncoded(odd.text(dice)).slice(0, 3_000)}`,
  ])();
}

const PATH_PARTS = [
  '%',
  '%00',
  '%zz',
  '%ff',
  '%2e%2e',
  '/../',
  '/./',
  ';a=1',
  '#',
  '%20',
  '%0d%0a',
  '%E2%82',
  '\\',
  '{id}',
  ':',
  '@',
  '*',
  '~',
  '[',
  '%25',
  '?',
  '?a=%',
  '?&&&==',
  'x'.repeat(3_000),
];
const ELSEWHERE = [
  '/',
  '/healthz',
  '/readyz',
  '/v1/openapi.json',
  '/openapi.json',
  '/v1/docs',
  '/v1/docs/',
  '/lifecycle',
  '/lifecycle/',
  '/metrics',
  '/graphql/',
  '/v1',
  '/v1/',
  '/v2/jobs',
  '/favicon.ico',
  '*',
  '/v1/jobs/__proto__',
  '/constructor',
  '/%2e%2e/etc',
];

function otherId(draft: Draft, { dice, odd, stock }: Workshop): void {
  const [found] = /[a-z]{3}_[0-9A-Za-z]{27}/.exec(draft.path) ?? [];
  const job = stock.any(dice);
  const id = dice.pick([
    job.id,
    job.bids.bidder ?? 'bid_',
    job.id.slice(0, -1),
    job.id.replace('job', 'bid'),
    job.id.toLowerCase(),
    percentEncoded(odd.text(dice)).slice(0, 3_000),
    `job_${'z'.repeat(27)}`,
  ]);
  draft.path = found ? draft.path.replace(found, id) : `${draft.path}/${id}`;
}

function oddQuery(draft: Draft, { dice, odd, stock }: Workshop): void {
  const given = draft.query.length > 0 ? dice.pick(draft.query) : undefined;
  const name =
    given?.[0] ??
    dice.pick([
      'page',
      'per_page',
      'after',
      'search',
      'status',
      'category',
      'urgency',
      'homeowner_id',
      'near',
      'query',
    ]);
  dice.pick<() => void>([
    () => draft.query.push([name, odd.text(dice).slice(0, 2_000)]),
    () => draft.query.push([odd.name(dice), odd.text(dice).slice(0, 2_000)]),
    () => draft.query.push([name, '1'], [name, '2']),
    () => draft.query.push([`${name}[]`, '1'], [`${name}[a]`, '1']),
    () =>
      draft.query.push([
        'page',
        dice.pick(['0', '-1', '1.5', '1e3', '2147483647', '2147483648', '999999999999999999999', '0x1', ' 1', '+1']),
      ]),
    () => draft.query.push(['per_page', dice.pick(['0', '101', '100', '-5', 'NaN', '1e999'])]),
    () =>
      draft.query.push([
        'after',
        damaged(
          Buffer.from(stock.cursor(dice.pick(['jobs', 'bids', 'tokenTransactions']), dice) ?? 'x'),
          dice,
        ).toString('latin1'),
      ]),
    () => draft.query.push(['after', Buffer.from(odd.json(dice)).toString('base64url').slice(0, 4_000)]),
  ])();
}
