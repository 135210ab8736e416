/**
 * Limits connections: how many one address may hold, and which are closed when all are taken. Pipelined requests of a
 * connection are answered one after another (RFC 9112, 9.3.2), and its socket is not read while it has more of them
 * than its share.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { GiveBack } from '../shares/share.js';
import type { Shares } from '../shares/shares.js';
import { leaveReadingToSockets, readInTurn } from './reading.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly giveBack: GiveBack;
  underWay: IncomingMessage | undefined;
  /** Requests that wait for those before them. */
  readonly ahead: { begin(): void; giveBack: GiveBack }[];
  /** The request under way was pipelined, or others were pipelined behind it. */
  hasSentAhead: boolean;
  /**
   * The socket's count when the last request began, or was answered with none behind it: later bytes are of another
   * request.
   */
  bytesRead: number;
  /** Nothing more is read from it; it closes after its last answer. */
  isRefused: boolean;
  /** A chunked body, whose chunks may have one byte each, is read only when a handler reads it. */
  holdsChunks: boolean;
  /** Set once the connection is a WebSocket: whether it has no stream, so that it can be closed without loss. */
  isIdle: (() => boolean) | undefined;
}

/** Events of a socket, by which the reader of a chunked body asks for the body, and refuses it. */
export const BODY_AWAITED = 'body awaited';
export const TOO_MANY_CHUNKS = 'too many chunks';

/** Finding the connections to close looks at all of them, so that several are closed each time. */
const CLOSED_AT_ONCE = 100;

/** At most so many pipelined requests are begun in one turn of the event loop. */
const BEGUN_IN_TURN_MAX = 32;

/**
 * Sockets are read again once their address has so much fewer pipelined requests: to look at all of them at each answer
 * costs too much.
 */
const READ_AGAIN_BELOW = 3 / 4;

export interface SharedConnections {
  /** Answers the requests of each connection one after another. */
  inOrder(answer: Answer): Answer;
  /**
   * Hands a connection over to another protocol; it still counts as one, and is then read without limit. False where
   * requests are under way on it: a client could not tell their answers from what follows them.
   */
  upgrade(socket: Socket, isIdle: () => boolean): boolean;
  /** Closes the connections on which no client ever sent anything. */
  closeUnused(): void;
}

export function shareConnections(
  server: Server,
  shares: Shares,
  addressOf: (socket: Socket) => string,
  onFull: (closed: number) => void,
  mayOthersGoOn: () => boolean,
): SharedConnections {
  const open = new Map<Socket, Connection>();
  let begunInTurn = 0;
  const {
    connections: { total = Infinity },
    requestsAhead: { perConnection = Infinity, perAddress = Infinity },
  } = shares.limits;
  /** Addresses that have as many pipelined requests as they may. */
  const full = new Set<string>();
  const reading = readInTurn<Connection>(
    ({ isRefused, holdsChunks, ahead, address }) =>
      !isRefused && !holdsChunks && ahead.length < perConnection && !full.has(address),
    ({ socket, underWay, ahead, bytesRead }) =>
      !underWay && ahead.length === 0 && socket.readableLength === 0 && socket.bytesRead === bytesRead,
    mayOthersGoOn,
  );

  leaveReadingToSockets(server);
  leaveEndsToSockets(server);

  server.on('connection', (socket: Socket) => {
    if (open.size >= total) closeSome();
    const address = addressOf(socket);
    const giveBack = tryToTake(address);
    if (!giveBack) return void socket.destroy();
    const connection: Connection = {
      socket,
      address,
      giveBack,
      underWay: undefined,
      ahead: [],
      hasSentAhead: false,
      bytesRead: 0,
      isRefused: false,
      holdsChunks: false,
      isIdle: undefined,
    };
    open.set(socket, connection);
    closeWithoutStacks(socket);
    socket.once('close', () => forget(connection));
    socket.once('end', () => leave(connection));
    socket.on(BODY_AWAITED, () => {
      connection.holdsChunks = false;
      // Node reads on by itself only for a body that is not whole yet.
      reading.resume(connection);
    });
    socket.on(TOO_MANY_CHUNKS, () => {
      connection.isRefused = true;
      socket.pause();
    });
    reading.add(connection);
  });

  function tryToTake(address: string): GiveBack | undefined {
    try {
      return shares.connections.take({ address });
    } catch {
      return undefined;
    }
  }

  function forget(connection: Connection): void {
    open.delete(connection.socket);
    reading.remove(connection);
    connection.giveBack();
    giveBackAhead(connection, connection.ahead.splice(0));
  }

  /**
   * A client that pipelines requests and then half-closes the connection still reads the answers. A client that
   * half-closes it while a single request is under way has mostly left.
   */
  function leave({ socket, underWay, hasSentAhead }: Connection): void {
    if (!underWay || hasSentAhead) return;
    underWay.destroy();
    socket.end();
  }

  /**
   * Connections with half a request or none yet are closed before those that are idle between requests; of each kind,
   * the oldest ones of the address that has most.
   */
  function closeSome(): void {
    const all = [...open.values()];
    const halfSent = all.filter(({ socket, underWay, bytesRead, isIdle }) => {
      if (isIdle) return false;
      return underWay ? !underWay.complete : bytesRead === 0 || socket.bytesRead > bytesRead;
    });
    const waiting = ({ underWay, isIdle }: Connection) => (isIdle ? isIdle() : !underWay);
    const some = halfSent.length > 0 ? halfSent : all.filter(waiting);
    const largest = shares.connections.largest();
    const ofLargest = some.filter(({ address }) => address === largest);
    const closed = (ofLargest.length > 0 ? ofLargest : some).slice(0, CLOSED_AT_ONCE);
    for (const connection of closed) {
      connection.socket.destroy();
      forget(connection);
    }
    onFull(closed.length);
  }

  function begin(connection: Connection, answer: Answer, request: IncomingMessage, response: ServerResponse): void {
    connection.underWay = request;
    connection.bytesRead = connection.socket.bytesRead;
    response.once('close', () => {
      if (connection.socket.destroyed) return;
      if (connection.holdsChunks) {
        connection.holdsChunks = false;
        reading.resume(connection);
      }
      if (connection.ahead.length > 0) return beginNext(connection);
      connection.underWay = undefined;
      connection.hasSentAhead = false;
      // The body came behind the head.
      connection.bytesRead = connection.socket.bytesRead;
    });
    answer(request, response);
  }

  function beginNext(connection: Connection): void {
    const next = connection.ahead.shift();
    if (!next) return;
    giveBackAhead(connection, [next]);
    if (begunInTurn === 0) setImmediate(() => void (begunInTurn = 0));
    begunInTurn += 1;
    // Thousands of requests refused at once would otherwise be answered in one turn of the event loop.
    if (begunInTurn <= BEGUN_IN_TURN_MAX) return next.begin();
    setImmediate(() => {
      if (!connection.socket.destroyed) next.begin();
    });
  }

  /** Resumes the sockets that were not read because of these requests. */
  function giveBackAhead(connection: Connection, requests: Connection['ahead']): void {
    const { address } = connection;
    for (const { giveBack } of requests) giveBack();
    if (full.has(address) && shares.requestsAhead.inUse(address) < READ_AGAIN_BELOW * perAddress) {
      full.delete(address);
      reading.resumeAll(address);
    } else reading.resume(connection);
  }

  function queue(connection: Connection, begin: () => void): void {
    const { socket, address, ahead } = connection;
    connection.hasSentAhead = true;
    ahead.push({ begin, giveBack: shares.requestsAhead.take({ address }) });
    if (ahead.length >= perConnection) socket.pause();
    if (shares.requestsAhead.inUse(address) < perAddress || full.has(address)) return;
    full.add(address);
    reading.pauseAll(address);
  }

  return {
    upgrade(socket, isIdle) {
      const connection = open.get(socket);
      if (!connection || connection.underWay || connection.ahead.length > 0) return false;
      connection.isIdle = isIdle;
      reading.remove(connection);
      return true;
    },
    closeUnused() {
      for (const { socket } of open.values()) if (socket.bytesRead === 0) socket.destroy();
    },
    inOrder: (answer) => (request, response) => {
      const connection = open.get(request.socket);
      if (!connection) return;
      if (request.headers['transfer-encoding'] !== undefined) {
        connection.holdsChunks = true;
        connection.socket.pause();
      }
      if (connection.underWay || connection.ahead.length > 0)
        queue(connection, () => begin(connection, answer, request, response));
      else begin(connection, answer, request, response);
    },
  };
}

/** Without this Node would drop every request whose client half-closes the connection. */
function leaveEndsToSockets(server: Server & { httpAllowHalfOpen?: boolean }): void {
  server.httpAllowHalfOpen = true;
}

/**
 * Node makes an error for each request that a closed connection aborts; most of its cost is the stack, which is not
 * used.
 */
function closeWithoutStacks(socket: Socket): void {
  socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0));
  socket.once('close', () => (Error.stackTraceLimit = STACK_TRACE_LIMIT));
}

const { stackTraceLimit: STACK_TRACE_LIMIT } = Error;
