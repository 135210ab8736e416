/**
 * The pages that this server makes for people, and the files that they load. They are answered from memory, and
 * compressed once in each encoding, when it is first asked for. A browser revalidates them each time and gets 304, so
 * that a page and its scripts never differ.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { refuse } from '../../errors.js';
import type { Exchange } from '../exchange.js';
import { allowPageScripts } from '../policy.js';

export interface PageFile {
  readonly contentType: string;
  /** Whether no cache may keep it, not even to ask whether it is still the same. */
  readonly isPrivate?: boolean;
  /** Is called once for each form that is asked for, so that what it reads need not be kept as well. */
  read(): Promise<string | Buffer>;
}

export interface Pages {
  handles(path: string): boolean;
  send(exchange: Exchange): Promise<void>;
}

/** Files by their path. A path may be given twice, as the address of the same file. */
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
  // The playground shares its address with the API: what is sent depends on what was asked for.
  response.appendHeader('Vary', 'Accept, Accept-Encoding');
  if (exchange.clientHas(tag)) return exchange.sendNothing(304);
  if (coding !== 'identity') response.setHeader('Content-Encoding', coding);
  exchange.send(200, contentType, bytes);
}

function requireReading(exchange: Exchange): void {
  if (exchange.method === 'GET' || exchange.method === 'HEAD') return;
  throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: ['GET', 'HEAD'] } });
}

/** Two requests at the same time share the work; work that failed is not kept. */
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
 * GraphiQL's 5 MB take a tenth of a second at these levels; the best brotli saves a tenth of the size and takes ten
 * seconds.
 */
const CODERS: Readonly<Record<Coding, (plain: Buffer) => Promise<Buffer>>> = {
  br: (plain) =>
    compressBrotli(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
    }),
  gzip: (plain) => compressGzip(plain, { level: 6 }),
  identity: async (plain) => plain,
};

/** The smallest encoding that the browser accepts; one with `q=0` it does not accept. */
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
