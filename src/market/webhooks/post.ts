/**
 * Sends one request to a webhook. The endpoint may be slow, send an endless response, or have a name with a private
 * address. So requests end after ten seconds, only a response's start is read, and redirects aren't followed.
 */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { TASKS, WEBHOOKS } from '../rules/market-limits.js';
import { cut } from '../../platform/errors.js';
import { withEitherSignal } from '../../platform/queue/either-signal.js';
import { NOT_PUBLIC, type AddressRules } from '../../platform/security/public-addresses.js';

export interface WebhookMessage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `error` is null if the endpoint accepted the request. */
export interface Outcome {
  readonly responseStatus: number | null;
  readonly response: string | null;
  readonly error: string | null;
}

/** Never throws. */
export type Post = (message: WebhookMessage, stop: AbortSignal) => Promise<Outcome | 'stopped'>;

interface PosterSettings {
  readonly addresses: AddressRules;
  readonly timeoutMs?: number;
  /** Certificates to trust instead of the system's. */
  readonly ca?: string;
}

/** Keeps a few unused connections per endpoint for a short while. */
const AGENT_OPTIONS = { keepAlive: true, maxFreeSockets: TASKS.webhook.slotsPerKey, timeout: 5_000 };

export function createPoster({ addresses, timeoutMs = WEBHOOKS.attemptMs, ca }: PosterSettings): Post {
  const lookup = addresses.lookup && { lookup: addresses.lookup };
  const http = new HttpAgent({ ...AGENT_OPTIONS, ...lookup });
  const https = new HttpsAgent({ ...AGENT_OPTIONS, ...lookup, ...(ca !== undefined && { ca }) });

  function send({ url, headers, body }: WebhookMessage, signal: AbortSignal): Promise<Answer> {
    const options = { method: 'POST', headers, signal, maxHeaderSize: WEBHOOKS.answerHeaderBytes };
    return new Promise((resolve, reject) => {
      const request =
        new URL(url).protocol === 'https:'
          ? httpsRequest(url, { ...options, agent: https })
          : httpRequest(url, { ...options, agent: http });
      let isAnswered = false;
      const fail = (error: NodeJS.ErrnoException) => {
        if (!isAnswered) reject(Object.assign(error, { wasReused: request.reusedSocket }));
      };
      request.on('error', fail);
      // If the endpoint switches to another protocol unasked, Node closes the connection without an error event.
      request.on('close', () => fail(Object.assign(new Error('Closed.'), { code: 'ECLOSED' })));
      request.on('response', (response) => {
        isAnswered = true;
        void firstBytes(response).then((bytes) => resolve({ status: response.statusCode ?? 0, text: asText(bytes) }));
      });
      request.end(body);
    });
  }

  return async (message, stop) => {
    const problem = addresses.problemWith(message.url);
    if (problem) return failure(`The URL ${problem}.`);
    const deadline = AbortSignal.timeout(timeoutMs);
    const attempt = (signal: AbortSignal) => retryOnStaleConnection(() => send(message, signal));
    try {
      return outcomeOf(await withEitherSignal(deadline, stop, attempt));
    } catch (error) {
      if (stop.aborted && !deadline.aborted) return 'stopped';
      return failure(deadline.aborted ? `There was no response within ${timeoutMs / 1000} seconds.` : reasonOf(error));
    }
  };
}

interface Answer {
  readonly status: number;
  readonly text: string | null;
}

/** The endpoint may close an idle connection just as it's reused. */
async function retryOnStaleConnection(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const { code, wasReused } = error as NodeJS.ErrnoException & { wasReused?: boolean };
      if (!wasReused || (code !== 'ECONNRESET' && code !== 'EPIPE')) throw error;
    }
  }
}

/** Cuts off a response above the time or size limit, and closes its connection. */
function firstBytes(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= WEBHOOKS.answerBytes) response.destroy();
    });
    // Only the status decides the outcome, so a cut-off body doesn't matter.
    response.on('error', () => {});
    response.on('close', () => resolve(Buffer.concat(chunks)));
  });
}

/** Postgres can't store NUL characters. */
function asText(bytes: Buffer): string | null {
  const text = bytes.subarray(0, 4 * WEBHOOKS.answerCharacters).toString();
  return text === '' ? null : cut(text.replaceAll('\0', '\uFFFD'), WEBHOOKS.answerCharacters);
}

function outcomeOf({ status, text }: Answer): Outcome {
  return { responseStatus: status, response: text, error: errorOf(status) };
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400
    ? `The endpoint returned the redirect ${status}. We don’t follow redirects. Set the endpoint’s final URL.`
    : `The endpoint returned the status ${status}. An event counts as received only with a status from 200 to ` +
        '299.';
}

function failure(error: string): Outcome {
  return { responseStatus: null, response: null, error: cut(error, WEBHOOKS.errorCharacters) };
}

/** Our own words, because the error's message would reveal addresses in the private network. */
const REASONS: Readonly<Record<string, string>> = {
  [NOT_PUBLIC]: 'The host name points to an IP address that isn’t public.',
  ENOTFOUND: 'The host name doesn’t exist.',
  ENODATA: 'The host name has no IP address.',
  EAI_AGAIN: 'The host name couldn’t be looked up.',
  ETIMEOUT: 'Looking up the host name took too long.',
  ESERVFAIL: 'The host name couldn’t be looked up.',
  ECONNREFUSED: 'The connection was refused.',
  ECLOSED: 'The connection was closed before a response arrived.',
  ECONNRESET: 'The connection was closed before a response arrived.',
  EHOSTUNREACH: 'The host can’t be reached.',
  ENETUNREACH: 'The host can’t be reached.',
  ETIMEDOUT: 'Connecting took too long.',
  HPE_HEADER_OVERFLOW: 'The response had too many headers.',
};

function reasonOf(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  if (REASONS[code]) return REASONS[code];
  if (code.startsWith('HPE_')) return `The response wasn’t valid HTTP (${code}).`;
  return /CERT|SELF_SIGNED|TLS|SSL|ISSUER|SIGNATURE/.test(code)
    ? `The connection isn’t secure (${code}).`
    : `The request failed (${code}).`;
}
