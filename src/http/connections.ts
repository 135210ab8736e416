/**
 * Connections as a shared good: how many one address may hold, which are closed where all are taken, and that requests
 * sent ahead on a connection are answered one after another (RFC 9112, 9.3.2), while its socket is not read beyond its
 * share of them.
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
  /** The one under way was sent ahead, or has been followed by others. */
  hasSentAhead: boolean;
  /** As of when the last request began, or was answered with none behind it: what was read since belongs to another. */
  bytesRead: number;
  /** Nothing more of it is read; it closes behind its last answer. */
  isRefused: boolean;
  /** A body in chunks, each of which may have one byte, is read when somebody wants it. */
  holdsChunks: boolean;
  /** Of one that became a WebSocket: whether it would miss nothing if it closed. */
  isIdle: (() => boolean) | undefined;
}

/** Events of a socket, by which whoever reads a body in chunks says that they want it, and that they do not. */
export const BODY_AWAITED = 'body awaited';
export const TOO_MANY_CHUNKS = 'too many chunks';

/** To find those to close takes a look at all, and so it is worth several. */
const CLOSED_AT_ONCE = 100;

/** Of the requests that were sent ahead, so many are begun at once. */
const BEGUN_IN_TURN_MAX = 32;

/**
 * Sockets are read again once their address has so much less ahead: to look at all of them at each answer costs too
 * much.
 */
const READ_AGAIN_BELOW = 3 / 4;

export interface SharedConnections {
  /** Answers the requests of each connection one after another. */
  inOrder(answer: Answer): Answer;
  /**
   * Lets a connection become something else, which still counts as one and is read as it comes. False where requests
   * are under way on it: what follows them cannot be distinguished from their answers.
   */
  upgrade(socket: Socket, isIdle: () => boolean): boolean;
  /** Closes those on which nothing was ever sent. */
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
  /** Addresses that have sent as much ahead as they may. */
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
   * Whoever sends several requests and says that no more comes still reads; whoever does so while one is under way has
   * mostly left.
   */
  function leave({ socket, underWay, hasSentAhead }: Connection): void {
    if (!underWay || hasSentAhead) return;
    underWay.destroy();
    socket.end();
  }

  /**
   * Those that have sent half a request or nothing go before those that only wait for their next one; of each, the
   * oldest of the address that has most.
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
    // Thousands that are refused at once would else be answered in one turn of the loop.
    if (begunInTurn <= BEGUN_IN_TURN_MAX) return next.begin();
    setImmediate(() => {
      if (!connection.socket.destroyed) next.begin();
    });
  }

  /** Sockets that were not read because of these requests are read again. */
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

/** Node itself would drop every request whose caller says that no more comes. */
function leaveEndsToSockets(server: Server & { httpAllowHalfOpen?: boolean }): void {
  server.httpAllowHalfOpen = true;
}

/** For each request that a hang-up cuts off Node makes an error; its stack, which nobody reads, is most of the cost. */
function closeWithoutStacks(socket: Socket): void {
  socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0));
  socket.once('close', () => (Error.stackTraceLimit = STACK_TRACE_LIMIT));
}

const { stackTraceLimit: STACK_TRACE_LIMIT } = Error;
