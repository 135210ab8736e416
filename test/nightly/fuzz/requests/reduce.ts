/** Reduces a failing request: leaves out part after part, as long as it still fails. */
import type { Request } from './requests.js';

const TRIES_MAX = 120;

export async function reduced(request: Request, stillFails: (smaller: Request) => Promise<boolean>): Promise<Request> {
  let smallest = request;
  let tries = 0;
  for (let found = true; found;) {
    found = false;
    for (const candidate of smallerThan(smallest)) {
      if ((tries += 1) > TRIES_MAX) return smallest;
      if (!(await stillFails(candidate))) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(request: Request): Generator<Request> {
  const { raw, body, headers, target } = request;
  if (raw) {
    for (const cut of cuts(raw)) yield { ...request, raw: cut };
    return;
  }
  const [path = '', search] = target.split(/\?(.*)/s);
  if (search !== undefined) yield { ...request, target: path };
  for (const part of search?.split('&') ?? [])
    yield { ...request, target: target.replace(part, '').replace(/[?&]$/, '') };
  for (const header of headers) yield { ...request, headers: headers.filter((one) => one !== header) };
  if (!body) return;
  yield { ...request, body: undefined };
  for (const smaller of withoutNames(body)) yield { ...request, body: smaller };
  for (const cut of cuts(body)) yield { ...request, body: cut };
}

/** Leaves out the first half, the second half, then quarters, then eighths. */
function* cuts(bytes: Buffer): Generator<Buffer> {
  for (
    let size = Math.ceil(bytes.length / 2);
    size >= Math.max(1, Math.ceil(bytes.length / 16));
    size = Math.floor(size / 2)
  ) {
    for (let at = 0; at < bytes.length; at += size)
      yield Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + size)]);
  }
}

function* withoutNames(body: Buffer): Generator<Buffer> {
  let fields: unknown;
  try {
    fields = JSON.parse(body.toString());
  } catch {
    return;
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return;
  for (const name of Object.keys(fields))
    yield Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name))));
}
