/**
 * Deliberately broken requests, with their expected results: an error with a status and a code, or a connection that
 * closes without a response.
 */
import { head, post } from './raw-connection.js';

export interface BrokenRequest {
  readonly what: string;
  readonly bytes: string | Uint8Array;
  /** If omitted, the connection closes without a response. */
  readonly refused?: readonly [status: number, code: string];
  /** True if the connection must close, because nobody can tell where the next request starts. */
  readonly closes: boolean;
}

const MALFORMED = [400, 'MALFORMED_REQUEST'] as const;
const INVALID = [400, 'VALIDATION_FAILED'] as const;
const TOO_LARGE = [413, 'PAYLOAD_TOO_LARGE'] as const;
const WRONG_TYPE = [415, 'UNSUPPORTED_MEDIA_TYPE'] as const;
const NO_METHOD = [405, 'METHOD_NOT_ALLOWED'] as const;
const NOTHING_THERE = [404, 'NOT_FOUND'] as const;
const NOT_SIGNED_IN = [401, 'UNAUTHENTICATED'] as const;

const unreadable = (
  what: string,
  bytes: string | Uint8Array,
  refused: BrokenRequest['refused'] = MALFORMED,
): BrokenRequest => ({ what, bytes, refused, closes: true });
const refused = (what: string, bytes: string | Uint8Array, refusal: BrokenRequest['refused']): BrokenRequest => ({
  what,
  bytes,
  refused: refusal,
  closes: false,
});

/** A login with these headers and this body, sent exactly as given. */
const logIn = (headers: readonly string[], body = '{}') =>
  head('POST', '/v1/auth/login', ['Content-Type: application/json', ...headers]) + body;
const chunked = (body: string) => logIn(['Transfer-Encoding: chunked'], body);
const ME = ['GET', '/v1/me'] as const;

export const BROKEN_HEADS: readonly BrokenRequest[] = [
  unreadable('two lengths', logIn(['Content-Length: 2', 'Content-Length: 3'])),
  unreadable('the same length twice', logIn(['Content-Length: 2', 'Content-Length: 2'])),
  unreadable('a list of lengths', logIn(['Content-Length: 2, 2'])),
  unreadable(
    'a length, then chunks',
    logIn(['Content-Length: 2', 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'),
  ),
  unreadable(
    'chunks, then a length',
    logIn(['Transfer-Encoding: chunked', 'Content-Length: 2'], '2\r\n{}\r\n0\r\n\r\n'),
  ),
  unreadable('a negative length', logIn(['Content-Length: -1'])),
  unreadable('a length with a plus', logIn(['Content-Length: +2'])),
  unreadable('a hexadecimal length', logIn(['Content-Length: 0x2'])),
  unreadable('a length of 26 digits', logIn([`Content-Length: ${'9'.repeat(26)}`])),
  unreadable('a length of an exabyte', logIn([`Content-Length: 1${'0'.repeat(18)}`]), TOO_LARGE),
  unreadable('chunks whose length is no number', chunked('zz\r\n{}\r\n0\r\n\r\n')),
  unreadable('a chunk longer than any number', chunked(`${'f'.repeat(18)}\r\n{}\r\n0\r\n\r\n`)),
  unreadable('a chunk longer than it says', chunked('2\r\n{}X0\r\n\r\n')),
  unreadable('a chunk with a long extension', chunked(`2;${'a'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`), TOO_LARGE),
  unreadable('20,000 trailers', chunked(`2\r\n{}\r\n0\r\n${'A: b\r\n'.repeat(20_000)}\r\n`), TOO_LARGE),
  unreadable('a transfer coding that nobody undoes', logIn(['Transfer-Encoding: gzip'])),
  unreadable('chunks within gzip', logIn(['Transfer-Encoding: chunked, gzip'])),
  unreadable('chunks by another name', logIn(['Transfer-Encoding: xchunked'], '2\r\n{}\r\n0\r\n\r\n')),
  unreadable('a header on two lines', head(...ME, ['X-A: a\r\n b'])),
  unreadable('a header’s name with a space', head(...ME, ['X-A : a'])),
  unreadable('a header with NUL', head(...ME, ['X-A: a\0b'])),
  unreadable('a header with a bare CR, and another behind it', head(...ME, ['X-A: a\rX-B: b'])),
  unreadable('lines that end in LF alone', 'GET /v1/me HTTP/1.1\nHost: market.test\n\n'),
  unreadable('a head of 20 KB', head(...ME, [`X-A: ${'a'.repeat(20_000)}`]), TOO_LARGE),
  unreadable(
    '201 headers',
    head(
      ...ME,
      Array.from({ length: 200 }, () => 'a:'),
    ),
    TOO_LARGE,
  ),
  unreadable(
    '2,001 headers, so that the proxy’s own is dropped',
    head(...ME, [...Array.from({ length: 2_000 }, () => 'a:'), 'X-Forwarded-For: 192.0.2.1']),
    TOO_LARGE,
  ),
  unreadable(
    '20,000 headers',
    head(
      ...ME,
      Array.from({ length: 20_000 }, () => 'a:'),
    ),
    TOO_LARGE,
  ),
  unreadable('an address of 20 KB', head('GET', `/${'a'.repeat(20_000)}`), TOO_LARGE),
  unreadable('an address in Latin-1', Buffer.from(head('GET', '/v1/jobs?search=\xff\xfe'), 'latin1')),
  unreadable('no Host', 'GET /v1/me HTTP/1.1\r\n\r\n'),
  unreadable('a Host that is a path', 'GET /v1/me HTTP/1.1\r\nHost: market.test/admin\r\n\r\n'),
  unreadable('a Host of two words', 'GET /v1/me HTTP/1.1\r\nHost: market.test elsewhere.test\r\n\r\n'),
  unreadable('a Host with a user', 'GET /v1/me HTTP/1.1\r\nHost: someone@market.test\r\n\r\n'),
  unreadable('two Hosts', head(...ME, ['Host: elsewhere.test'])),
  unreadable('two tokens', head(...ME, ['Authorization: Bearer a', 'Authorization: Bearer b'])),
  unreadable('two content types', logIn(['Content-Type: text/plain', 'Content-Length: 2'])),
  unreadable('HTTP/0.9', 'GET /v1/me\r\n\r\n'),
  unreadable('HTTP/1.9', head(...ME, [], '1.9')),
  unreadable('HTTP/2.0 in words', head(...ME, [], '2.0')),
  unreadable('HTTP/2 as it begins', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  unreadable('TLS', Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3)),
  unreadable('SSH', 'SSH-2.0-OpenSSH_9.2\r\n'),
  unreadable('nothing but zeros', new Uint8Array(1_000)),
  unreadable('a method that nobody knows', head('FETCH', '/v1/me')),
  unreadable('a body that is compressed on its way', logIn(['Transfer-Encoding: gzip, chunked'])),
  unreadable('an expectation of wonders', logIn(['Expect: wonders', 'Content-Length: 2'])),
  unreadable(
    'a body of 20 MB, announced politely',
    head('POST', '/v1/auth/login', [
      'Expect: 100-continue',
      'Content-Type: application/json',
      'Content-Length: 20000000',
    ]),
    TOO_LARGE,
  ),
  { what: 'CONNECT to somewhere else', bytes: head('CONNECT', 'elsewhere.test:443'), closes: true },
  refused('TRACE', head('TRACE', '/v1/me', ['Cookie: a=b']), NO_METHOD),
  refused('PROPFIND', head('PROPFIND', '/v1/me'), NO_METHOD),
  refused('OPTIONS for everything', head('OPTIONS', '*'), NOTHING_THERE),
  refused('another host, as if by a proxy', head('GET', 'http://elsewhere.test/etc/passwd'), NOTHING_THERE),
  refused('a way out of the folder', head('GET', '/v1/docs/../../package.json'), NOTHING_THERE),
  refused('a hidden way out of the folder', head('GET', '/v1/docs/%2e%2e/%2e%2e/package.json'), NOTHING_THERE),
  refused(
    'an upgrade to WebSocket',
    head(...ME, [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ]),
    NOT_SIGNED_IN,
  ),
  refused(
    'an upgrade to HTTP/2',
    head(...ME, ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA']),
    NOT_SIGNED_IN,
  ),
  refused(
    'a line break in the request’s id',
    head(...ME, ['X-Request-Id: abcdefgh%0d%0aSet-Cookie:%20a=b']),
    NOT_SIGNED_IN,
  ),
  refused(
    'trailers that say who is calling',
    head('POST', '/v1/auth/logout', ['Transfer-Encoding: chunked']) + '0\r\nAuthorization: Bearer a\r\n\r\n',
    NOT_SIGNED_IN,
  ),
];

const job = (body: string | Uint8Array, ...headers: string[]) => post('/v1/jobs', body, headers);
const draft = (fields: string) => job(`{"title":"Mend it","description":"It is broken.",${fields}}`);
const bytesOf = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** Each is sent by a user who may post jobs. None may create one. */
export const brokenBodies = (token: string): readonly BrokenRequest[] => {
  const bearer = `Authorization: Bearer ${token}`;
  const signed = (bytes: Buffer) =>
    Buffer.concat([
      bytes.subarray(0, bytes.indexOf('\r\n') + 2),
      Buffer.from(`${bearer}\r\n`),
      bytes.subarray(bytes.indexOf('\r\n') + 2),
    ]);
  const one = (what: string, bytes: Buffer, refusal: BrokenRequest['refused'] = INVALID) => ({
    what,
    bytes: signed(bytes),
    refused: refusal,
    closes: false,
  });
  const list = (query: string) => Buffer.from(head('GET', `/v1/jobs?${query}`));
  return [
    one('said to be gzip', job('{}', 'Content-Encoding: gzip'), WRONG_TYPE),
    one(
      'said to be gzip, and really so',
      job(
        Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0),
        'Content-Encoding: gzip',
      ),
      WRONG_TYPE,
    ),
    one(
      'in UTF-16',
      Buffer.concat([
        Buffer.from(head('POST', '/v1/jobs', ['Content-Type: application/json; charset=utf-16', 'Content-Length: 4'])),
        Buffer.of(0x7b, 0, 0x7d, 0),
      ]),
      WRONG_TYPE,
    ),
    one(
      'a form',
      Buffer.from(
        head('POST', '/v1/jobs', ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 3']) + 'a=b',
      ),
      WRONG_TYPE,
    ),
    one('invalid UTF-8', job(bytesOf('{"title":"', 0xff, '","description":"x"}')), MALFORMED),
    one('UTF-8 of half a character', job(bytesOf('{"title":"', 0xed, 0xa0, 0x80, '","description":"x"}')), MALFORMED),
    one('an overlong slash', job(bytesOf('{"title":"', 0xc0, 0xaf, '","description":"x"}')), MALFORMED),
    one('the same name twice', job('{"title":"Mend it","title":"Break it","description":"x"}'), MALFORMED),
    one(
      'the same name twice, once in disguise',
      job('{"title":"Mend it","t\\u0069tle":"Break it","description":"x"}'),
      MALFORMED,
    ),
    one('the same name twice, deeper down', post('/v1/auth/login', '{"a":{"b":1,"b":2}}'), MALFORMED),
    one('__proto__', draft('"__proto__":{"status":"open"}')),
    one('constructor.prototype', draft('"constructor":{"prototype":{"status":"open"}}')),
    one('toString', draft('"toString":"open"')),
    one('a budget beyond every number', draft('"budget_min":1e999')),
    one('a budget below every number', draft('"budget_max":-1e999')),
    one('a budget beyond the column', draft('"budget_max":10000000000')),
    one('a budget of 400 digits', draft(`"budget_max":${'9'.repeat(400)}`)),
    one('a budget below zero', draft('"budget_min":-0.01')),
    one('a budget of a thousandth', draft('"budget_min":0.001')),
    one('a budget that is a text', draft('"budget_min":"100"')),
    one('a budget of NaN', draft('"budget_min":NaN'), MALFORMED),
    one('a title with NUL', job('{"title":"a\\u0000b","description":"x"}')),
    one('a title with half a character', job('{"title":"a\\ud800b","description":"x"}')),
    one('a title with the other half', job('{"title":"\\udc00","description":"x"}')),
    one('a title of nothing but spaces', job('{"title":" \\u3000\\t","description":"x"}')),
    one('a title of 60 KB', job(`{"title":"${'a'.repeat(60_000)}","description":"x"}`)),
    one('a day that is none', draft('"desired_start_date":"2026-02-30"')),
    one('a day in the year 275761', draft('"desired_start_date":"+275761-01-01"')),
    one('128 levels', job(`{"title":${deep(128)},"description":"x"}`), MALFORMED),
    one('30,000 levels', job(`{"title":${deep(30_000)},"description":"x"}`), MALFORMED),
    one('a title that is an object', job('{"title":{"$ne":null},"description":"x"}')),
    one('129 KB of spaces', job(' '.repeat(129 * 1024)), TOO_LARGE),
    one('a page beyond every number', list(`page=${'9'.repeat(400)}`)),
    one('a page below one', list('page=0')),
    one('a page in words', list('page=1e3')),
    one('a page of 101', list('per_page=101')),
    one('two pages', list('page=1&page=2')),
    one('a search with NUL', list('search=%00')),
    one('a cursor of someone’s own', list('after=%0d%0aX-Injected:%201')),
    one('a name that no query has', list('status%5B%24ne%5D=draft')),
    one('an id with NUL', Buffer.from(head('GET', '/v1/jobs/%00')), NOTHING_THERE),
    one('an id with a broken escape', Buffer.from(head('GET', '/v1/jobs/%zz')), NOTHING_THERE),
  ];
};
