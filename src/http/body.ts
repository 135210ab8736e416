/** Reading what was sent: never more than the limit, never anything but UTF-8, never half of it. */
import type { IncomingMessage } from 'node:http';
import { refuse } from '../rules/errors.js';
import { shapeOfJson } from './json-shape.js';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', { message: 'The body must be sent without Content-Encoding.' });
  }
  return collect(request, maxBytes);
}

/** Leaves the connection whole when the body is too long, so that the refusal still arrives; what comes after is let go. */
function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Every request closes in the end; an error is made for those that had not ended before.
    const onCut = () => void (request.complete || reject(cutShort()));
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else reject(tooLarge(maxBytes));
    });
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('close', onCut);
    request.once('error', onCut);
  });
}

function cutShort() {
  return refuse('MALFORMED_REQUEST', { message: 'The body ended before it was whole.' });
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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse('MALFORMED_REQUEST', { message: 'The body is not valid JSON.' });
  }
  const { depth, repeatedName } = shapeOfJson(text);
  // What reads it further calls itself for each level, and would run out of stack.
  if (depth > DEPTH_MAX) throw refuse('MALFORMED_REQUEST', { message: `The body is nested more than ${DEPTH_MAX} levels deep.` });
  if (repeatedName !== undefined) throw refuse('MALFORMED_REQUEST', { message: `The body names ${JSON.stringify(repeatedName.slice(0, 60))} twice in one object.` });
  return value;
}

const DEPTH_MAX = 32;

export function isJson(contentType: string | undefined): boolean {
  return /^\s*application\/(json|[\w.+-]+\+json)\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i.test(contentType ?? '');
}

function tooLarge(maxBytes: number) {
  return refuse('PAYLOAD_TOO_LARGE', { message: `The body must be at most ${maxBytes / 1024} KB.` });
}
