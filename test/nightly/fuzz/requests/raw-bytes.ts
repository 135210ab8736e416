/** Bytes that are hardly HTTP anymore: damaged requests, and tricks that have fooled parsers. */
import { damaged, type Workshop } from './breakages.js';
import type { Dice } from '../../../setup/random/dice.js';
import { bytesOf, type Request } from './requests.js';

export function rawRequest(good: Request, workshop: Workshop): Request {
  const { dice } = workshop;
  const [name, make] = dice.pick(Object.entries(WAYS));
  return {
    kind: `raw: ${name}`,
    method: good.method,
    target: good.target,
    headers: [],
    raw: Buffer.from(make(bytesOf(good), dice)),
  };
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Inserts a line after the first one. */
function withLine(bytes: Buffer, line: string): Buffer {
  const at = bytes.indexOf('\r\n') + 2;
  return Buffer.concat([bytes.subarray(0, at), latin1(line), bytes.subarray(at)]);
}

function withFirst(bytes: Buffer, change: (first: string) => string): Buffer {
  const at = bytes.indexOf('\r\n');
  return Buffer.concat([latin1(change(bytes.subarray(0, at).toString('latin1'))), bytes.subarray(at)]);
}

const LENGTHS = ['0', '1', '-1', '+1', '1e3', '0x10', '99999999999999999999', '', '1, 1', '2147483648', '300000'];
const HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n';

const WAYS: Readonly<Record<string, (bytes: Buffer, dice: Dice) => Buffer>> = {
  bytes: (bytes, dice) => damaged(bytes, dice),
  'head only': (bytes, dice) => bytes.subarray(0, dice.int(0, bytes.indexOf('\r\n\r\n') + 4)),
  'cut short': (bytes, dice) => bytes.subarray(0, dice.int(0, bytes.length)),
  twice: (bytes) => Buffer.concat([bytes, bytes]),
  many: (bytes, dice) =>
    Buffer.concat(
      Array<Buffer>(dice.int(2, 10)).fill(latin1('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')).concat(bytes),
    ),
  'rest behind it': (bytes, dice) => Buffer.concat([bytes, damaged(bytes, dice)]),
  'first line': (bytes, dice) =>
    withFirst(bytes, (first) =>
      dice.pick([
        first.replace('HTTP/1.1', 'HTTP/1.0'),
        first.replace('HTTP/1.1', 'HTTP/2.0'),
        first.replace('HTTP/1.1', 'HTTP/9.9'),
        first.replace('HTTP/1.1', 'HTTP/1.'),
        first.replace(' HTTP/1.1', ''),
        first.toLowerCase(),
        first.replaceAll(' ', '\t'),
        first.replaceAll(' ', '  '),
        ` ${first}`,
        `\r\n\r\n${first}`,
        first.replace(/ \S+ /, ' * '),
        first.replace(/ \S+ /, ' http://elsewhere/v1/jobs '),
        first.replace(/ \S+ /, ' localhost:80 '),
        first.replace(/^\w+/, 'CONNECT'),
        first.replace(/^\w+/, 'X'.repeat(5_000)),
        first.replace(/ \S+ /, ` /${'a'.repeat(dice.pick([8_000, 16_500, 40_000]))} `),
        first.replace(/ \S+ /, ' /v1/jobs?search=\xff\xfe '),
        first.replace(/ \S+ /, ' /v1/jobs/\x00 '),
        first.replace(/ \S+ /, ' //v1/jobs '),
        first.replace(/ \S+ /, ' ?page=1 '),
        'PRI * HTTP/2.0',
      ]),
    ),
  length: (bytes, dice) => withLine(bytes, `Content-Length: ${dice.pick(LENGTHS)}\r\n`),
  chunks: (_bytes, dice) => {
    const chunks = dice.pick([
      '2\r\n{}\r\n0\r\n\r\n',
      '2;ext=1\r\n{}\r\n0\r\n\r\n',
      'z\r\n',
      '-1\r\n',
      'ffffffffffffffff\r\n{}',
      '2\r\n{}',
      '2\r\n{}\r\n0\r\nX: y\r\n\r\n',
      '2\n{}\n0\n\n',
      `2;${'e'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
      `${'1\r\n \r\n'.repeat(5_000)}0\r\n\r\n`,
      `20000\r\n${' '.repeat(0x20000)}\r\n0\r\n\r\n`,
      '02\r\n{}\r\n00\r\n\r\n',
    ]);
    const encoding = dice.pick([
      'chunked',
      'chunked',
      'Chunked',
      'gzip, chunked',
      'chunked, identity',
      'identity',
      'xchunked',
      'chunked, chunked',
    ]);
    const both = dice.percent(20) ? 'Content-Length: 2\r\n' : '';
    return latin1(
      `POST ${dice.pick(['/v1/auth/login', '/graphql', '/v1/nowhere'])} ` +
        `HTTP/1.1\r\n${HEAD}${both}Transfer-Encoding: ${encoding}\r\n\r\n${chunks}`,
    );
  },
  'header line': (bytes, dice) =>
    withLine(
      bytes,
      dice.pick([
        'Host: other\r\n',
        'X\r\n',
        ': y\r\n',
        'X : y\r\n',
        'X: a\r\n folded\r\n',
        'X: \x00\r\n',
        'X: \x7f\xff\r\n',
        'X: a\n',
        'X: a\rY: b\r\n',
        '\r\n',
        ` ${HEAD}`,
        `X: ${'a'.repeat(dice.pick([8_000, 16_300, 17_000, 70_000]))}\r\n`,
        'X: y\r\n'.repeat(dice.pick([50, 1_500, 2_500])),
        'Expect: 100-continue\r\n',
        'Expect: a miracle\r\n',
        'Upgrade: websocket\r\nConnection: Upgrade\r\n',
        'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n',
        'Connection: close\r\n',
        'Connection: keep-alive, close, x\r\n',
        'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n',
        'Cookie: a=b\r\nCookie: c=d\r\n',
        'Content-Type: text/plain\r\nContent-Type: application/json\r\n',
        'Idempotency-Key: a\r\nIdempotency-Key: b\r\n',
        'If-Match: "1"\r\nIf-Match: "2"\r\n',
        'X-Forwarded-For: a, b\r\nX-Forwarded-For: \xff\r\n',
        '__proto__: x\r\n',
        'constructor: x\r\n',
        'Trailer: X\r\n',
        'Te: trailers\r\n',
      ]),
    ),
  'bare line feeds': (bytes) => latin1(bytes.toString('latin1').replaceAll('\r\n', '\n')),
  'another protocol': (_bytes, dice) =>
    dice.pick([
      latin1('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
      latin1('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      latin1('EHLO a\r\n'),
      latin1('\x00\x00\x00\x08\x04\xd2\x16\x2f'),
      latin1('*1\r\n$4\r\nPING\r\n'),
      Buffer.alloc(0),
      Buffer.alloc(20_000, 0),
    ]),
  noise: (_bytes, dice) => Buffer.from(Array.from({ length: dice.int(1, 2_000) }, () => dice.int(0, 255))),
};
