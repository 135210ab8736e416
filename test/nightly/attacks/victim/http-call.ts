/**
 * One call from an address that the caller chooses, with its time. It never throws, because failures are part of the
 * measurement.
 */
import { request, type Agent, type IncomingHttpHeaders } from 'node:http';

export interface HttpCall {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly token?: string;
  readonly address?: string;
  /** A separate connection by default. */
  readonly agent?: Agent;
}

export interface HttpAnswer {
  /** Zero if there was no response. */
  readonly status: number;
  readonly ms: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const GIVES_UP_AFTER_MS = 8_000;

export function httpCall({
  port,
  method = 'GET',
  path,
  headers = {},
  body,
  token,
  address,
  agent,
}: HttpCall): Promise<HttpAnswer> {
  const began = performance.now();
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const answered = (status: number, text: string, headers: IncomingHttpHeaders = {}) =>
      resolve({ status, ms: performance.now() - began, headers, text });
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        agent: agent ?? false,
        localAddress: address,
        maxHeaderSize: 256 * 1024,
        signal: AbortSignal.timeout(GIVES_UP_AFTER_MS),
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => {
        let received = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
        response.once('end', () => answered(response.statusCode ?? 0, received, response.headers));
        response.once('error', (error) => answered(0, error.message));
      },
    );
    sent.once('error', (error) => answered(0, error.message));
    sent.end(text);
  });
}
