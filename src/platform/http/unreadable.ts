/** Responds to requests that can't be parsed or don't arrive in time, and closes their connections. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Refusal, refuse } from '../errors.js';
import { answersUnderWay } from './answers-under-way.js';
import { newRequestId } from './requests.js';

export function answerUnreadable(
  server: Server,
  headBytesMax: number,
  bodyOf: (refusal: Refusal, requestId: string) => object,
): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const underWay = [...answersUnderWay(socket)];
    const last = underWay.at(-1);
    // A complete request before the bad input still gets its response, which is the connection's last.
    if (last?.req.complete && !last.headersSent) return void last.setHeader('Connection', 'close');
    // During or before another response, the client would read this refusal as part of it.
    if (!socket.writable || underWay.length > 1 || last?.headersSent) return void socket.destroy();
    const requestId = newRequestId(undefined);
    const refusal = refusalOf(error.code, headBytesMax);
    const body = JSON.stringify(bodyOf(refusal, requestId));
    socket.end(`${headOf(refusal.status, Buffer.byteLength(body), requestId)}\r\n\r\n${body}`);
    // The client may keep sending instead of reading the response.
    socket.setTimeout(CLOSE_TIMEOUT_MS, () => socket.destroy());
  });
}

const CLOSE_TIMEOUT_MS = 1_000;

function refusalOf(code: string | undefined, headBytesMax: number): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return refuse('PAYLOAD_TOO_LARGE', {
      message: `The request’s headers must be at most ${headBytesMax / 1024} KB in total.`,
    });
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return refuse('PAYLOAD_TOO_LARGE', { message: 'The chunk extensions are too long.' });
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return refuse('MALFORMED_REQUEST', { message: 'The request took too long to arrive.' });
  return refuse('MALFORMED_REQUEST', { message: 'This is not a valid HTTP request.' });
}

const REASONS: Readonly<Record<number, string>> = { 400: 'Bad Request', 413: 'Payload Too Large' };

function headOf(status: number, bytes: number, requestId: string): string {
  return [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Refused'}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${bytes}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
  ].join('\r\n');
}
