/** Each connection's unsent responses. There is at most one, unless the client sends requests ahead. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const underWay = new WeakMap<Socket, Set<ServerResponse>>();

const NONE: ReadonlySet<ServerResponse> = new Set();

/** In the order in which they will be sent. */
export function answersUnderWay(socket: Socket): ReadonlySet<ServerResponse> {
  return underWay.get(socket) ?? NONE;
}

export function beginAnswer(response: ServerResponse): void {
  const { socket } = response.req;
  const others = underWay.get(socket) ?? new Set();
  underWay.set(socket, others.add(response));
  response.once('close', () => others.delete(response));
}
