/**
 * Serves the pages for people and their files from memory. Each file is compressed once per encoding, on its first
 * request. Browsers revalidate it each time, so a page always matches its scripts.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { refuse } from '../../errors.js';
import type { Exchange } from '../exchange.js';
import { allowPageScripts } from '../browser-headers.js';

export interface PageFile {
  readonly contentType: string;
  /** True if caches must not store the file at all. */
  readonly isPrivate?: boolean;
  /** Reads the file. Called once per encoding, so the plain text isn't kept. */
  read(): Promise<string | Buffer>;
}

export interface Pages {
  handles(path: string): boolean;
  send(exchange: Exchange): Promise<void>;
}

/** The files by path. Several paths may share a file. */
export function openPages(files: Readonly<Record<string, PageFile>>): Pages {
  const pages = new Map(Object.entries(files));
  const kept = new Map<PageFile, Forms>();

  async function send(exchange: Exchange): Promise<void> {
    const file = pages.get(exchange.path);
    if (!file) throw refuse('NOT_FOUND', { message: `There is nothing at ${exchange.path.slice(0, 200)}.` });
    exchange.route = `GET ${exchange.path}`;
    requireReading(exchange);
    const forms = kept.get(file) ?? new Map<Coding, Promise<Form>>();
    kept.set(file, forms);
    answer(exchange, file, await formOf(forms, file, bestCoding(exchange.header('accept-encoding'))));
  }

  return { handles: (path) => pages.has(path), send };
}

type Coding = 'br' | 'gzip' | 'identity';
type Forms = Map<Coding, Promise<Form>>;

interface Form {
  readonly coding: Coding;
  readonly tag: string;
  readonly bytes: Buffer;
}

function answer(exchange: Exchange, { contentType, isPrivate = false }: PageFile, { coding, tag, bytes }: Form): void {
  const { response } = exchange;
  allowPageScripts(exchange);
  if (isPrivate) response.setHeader('Cache-Control', 'no-store');
  response.setHeader('ETag', tag);
  // The playground and the API share a path, and the Accept header decides between them.
  response.appendHeader('Vary', 'Accept, Accept-Encoding');
  if (exchange.clientHas(tag)) return exchange.sendNothing(304);
  if (coding !== 'identity') response.setHeader('Content-Encoding', coding);
  exchange.send(200, contentType, bytes);
}

function requireReading(exchange: Exchange): void {
  if (exchange.method === 'GET' || exchange.method === 'HEAD') return;
  throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: ['GET', 'HEAD'] } });
}

/** Returns the file in one encoding. Simultaneous requests share the work, and a failure isn't cached. */
function formOf(forms: Forms, file: PageFile, coding: Coding): Promise<Form> {
  const begun = forms.get(coding);
  if (begun) return begun;
  const form = makeForm(file, coding);
  forms.set(coding, form);
  form.catch(() => forms.delete(coding));
  return form;
}

async function makeForm(file: PageFile, coding: Coding): Promise<Form> {
  const plain = Buffer.from(await file.read());
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { coding, tag: `"${hash}-${coding}"`, bytes: await CODERS[coding](plain) };
}

const compressGzip = promisify<Buffer, { level: number }, Buffer>(gzip);
const compressBrotli = promisify<Buffer, { params: Record<number, number> }, Buffer>(brotliCompress);

/**
 * Compressing GraphiQL's 5 MB takes a tenth of a second. The best brotli level would take ten seconds to save another
 * tenth.
 */
const CODERS: Readonly<Record<Coding, (plain: Buffer) => Promise<Buffer>>> = {
  br: (plain) =>
    compressBrotli(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    }),
  gzip: (plain) => compressGzip(plain, { level: 6 }),
  identity: async (plain) => plain,
};

/** Chooses the smallest encoding that the browser accepts. `q=0` rejects an encoding. */
function bestCoding(accepted = ''): Coding {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .map((item) => item.replaceAll(/\s/g, ''))
      .filter((item) => !/;q=0(\.0*)?$/.test(item))
      .map((item) => item.split(';')[0]),
  );
  return taken.has('br') ? 'br' : taken.has('gzip') ? 'gzip' : 'identity';
}
