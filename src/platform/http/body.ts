/** Reads request bodies. A body must be complete, within the size limit, and in UTF-8. */
import type { IncomingMessage } from 'node:http';
import { refuse } from '../errors.js';
import { BODY_CHUNKS, DISCARDED_BODY, JSON_DEPTH_MAX, JSON_NAMES_MAX } from '../caller-limits.js';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the body directly if all of it has arrived. A small body usually arrives with the head. */
export function readBody(request: IncomingMessage, maxBytes: number): Buffer | Promise<Buffer> {
  const announced = announcedBytes(request);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', { message: 'The body must be sent without Content-Encoding.' });
  }
  const hasArrived = request.complete && !isChunked(request) && request.readableLength === announced;
  return hasArrived ? copyOf(request.read()) : collect(request, maxBytes);
}

const announcedBytes = ({ headers }: IncomingMessage) => Number(headers['content-length'] ?? 0);
const isChunked = ({ headers }: IncomingMessage) => headers['transfer-encoding'] !== undefined;

/** Copies a small body, which would otherwise keep its 64 KB read buffer alive. */
function copyOf(read: Buffer | null): Buffer {
  return read === null ? Buffer.alloc(0) : Buffer.from(read);
}

function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Copies all chunks into one buffer, for the same reason as `copyOf`.
    let body: Buffer = Buffer.alloc(0);
    let bytes = 0;
    let chunks = 0;
    // Every request eventually emits 'close'. Only an incomplete one gets an error.
    const onCut = () => void (request.complete || reject(cutShort()));
    const onData = (chunk: Buffer) => {
      chunks += 1;
      if (bytes + chunk.length > maxBytes) return reject(tooLarge(maxBytes));
      if (chunks > BODY_CHUNKS.smallMax + bytes / BODY_CHUNKS.bytesMin) {
        request.off('data', onData);
        request.pause(); // Reading the remaining chunks would cost as much as accepting them.
        return reject(tooManyChunks());
      }
      if (bytes + chunk.length > body.length) body = grown(body, bytes + chunk.length, maxBytes);
      bytes += chunk.copy(body, bytes);
    };
    request.on('data', onData);
    request.once('end', () => resolve(body.subarray(0, bytes)));
    request.once('close', onCut);
    request.once('error', onCut);
  });
}

export function hasMoreToRead(request: IncomingMessage): boolean {
  return !request.complete && (isChunked(request) || announcedBytes(request) > 0);
}

/** Reads and discards a body. Gives up if it's too large, too slow, or in tiny chunks. */
export function discardBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.isPaused() || request.destroyed) return resolve();
    let bytes = 0;
    const timeout = setTimeout(resolve, DISCARDED_BODY.msMax);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARDED_BODY.bytesMax) resolve();
    });
    for (const event of ['end', 'close'])
      request.once(event, () => {
        clearTimeout(timeout);
        resolve();
      });
  });
}

function grown(body: Buffer, bytesMin: number, bytesMax: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(bytesMin, Math.min(2 * bytesMin, bytesMax)));
  body.copy(larger);
  return larger;
}

function tooManyChunks() {
  return refuse('PAYLOAD_TOO_LARGE', {
    message: `The body has too many chunks. Send chunks of at least ${BODY_CHUNKS.bytesMin} bytes.`,
  });
}

function cutShort() {
  return refuse('MALFORMED_REQUEST', { message: 'The body is incomplete.' });
}

/** An empty body counts as an empty object. */
export function parseJson(body: Buffer, contentType: string | undefined): unknown {
  if (body.length === 0) return {};
  if (!isJson(contentType)) throw refuse('UNSUPPORTED_MEDIA_TYPE');
  let text: string;
  try {
    text = strictUtf8.decode(body);
  } catch {
    throw refuse('MALFORMED_REQUEST', { message: 'The body is not valid UTF-8.' });
  }
  return parseText(text, 'body');
}

/** Undefined if the parameter is missing or empty. */
export function jsonInUrl(parameters: URLSearchParams, name: string): unknown {
  const text = parameters.get(name);
  return text ? parseText(text, `value of \`${name}\``) : undefined;
}

export function parseText(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('MALFORMED_REQUEST', { message: `The ${what} is not valid JSON.` });
  }
  const { depth, names, repeatedName } = shapeOfJson(text);
  // Deeper values would overflow the stack of the recursive code that handles them next.
  if (depth > JSON_DEPTH_MAX)
    throw refuse('MALFORMED_REQUEST', { message: `The ${what} is nested more than ${JSON_DEPTH_MAX} levels deep.` });
  if (names > JSON_NAMES_MAX)
    throw refuse('MALFORMED_REQUEST', { message: `An object in the ${what} has more than ${JSON_NAMES_MAX} keys.` });
  if (repeatedName !== undefined)
    throw refuse('MALFORMED_REQUEST', {
      message: `The ${what} has the key ${JSON.stringify(repeatedName.slice(0, 60))} twice in one object.`,
    });
  return value;
}

/** Matches the media type part by part. One regular expression would backtrack over thousands of spaces. */
export function isJson(contentType = ''): boolean {
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim());
  return (
    /^application\/(json|[\w.+-]+\+json)$/i.test(type) &&
    parameters.every((parameter) => parameter === '' || /^charset\s*=\s*"?utf-?8"?$/i.test(parameter))
  );
}

function tooLarge(maxBytes: number) {
  return refuse('PAYLOAD_TOO_LARGE', { message: `The body must be at most ${maxBytes / 1024} KB.` });
}

/** Facts about JSON text that JSON.parse doesn't report. If a name repeats, a proxy may have read the other value. */

export interface JsonShape {
  readonly depth: number;
  /** The number of names in the largest object. */
  readonly names: number;
  readonly repeatedName: string | undefined;
}

/** The text is valid JSON, so this only tells strings and brackets apart. */
export function shapeOfJson(text: string): JsonShape {
  const open: (Set<string> | undefined)[] = [];
  let depth = 0;
  let mostNames = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case OBJECT:
      case ARRAY:
        open.push(text.charCodeAt(at) === OBJECT ? new Set() : undefined);
        depth = Math.max(depth, open.length);
        break;
      case OBJECT_END:
      case ARRAY_END:
        open.pop();
        break;
      case QUOTE: {
        const end = endOfString(text, at);
        const names = open.at(-1);
        if (names && isName(text, end)) {
          const name: string = JSON.parse(text.slice(at, end));
          if (names.has(name)) return { depth, names: mostNames, repeatedName: name };
          names.add(name);
          mostNames = Math.max(mostNames, names.size);
        }
        at = end - 1;
      }
    }
  }
  return { depth, names: mostNames, repeatedName: undefined };
}

const [OBJECT, OBJECT_END, ARRAY, ARRAY_END, QUOTE, BACKSLASH, COLON] = ['{', '}', '[', ']', '"', '\\', ':'].map(
  (sign) => sign.charCodeAt(0),
);

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** In valid JSON, a string before a colon is a name. Any other string is a value. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (/\s/.test(text.charAt(at))) at += 1;
  return text.charCodeAt(at) === COLON;
}
