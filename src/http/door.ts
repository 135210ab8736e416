/**
 * Who stands at the door: the system takes up connections before we do, and we take few from it in each turn of the event loop, mostly one. So a whole
 * turn without any says that nobody is left there. How long the others have to wait there nobody tells us; a scout of ours in their line does.
 */
import { connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

export interface Door {
  /** How long newcomers have to wait at the door, as far as a scout has seen. */
  readonly waitMs: number;
  /** Settles when nobody is left at the door, or after so long. */
  whenEmpty(withinMs: number): Promise<void>;
}

/** No line is worth a scout before it has lasted so long, nor two scouts within that time. */
const SCOUT_EVERY_MS = 50;

export function watchDoor(server: Server): Door {
  let came = 0;
  let isFollowed = false;
  let scout: Scout | undefined;
  let waitedMs = 0;

  server.on('connection', (socket) => {
    if (scout?.is(socket)) {
      waitedMs = scout.waitMs();
      scout.callBack();
      socket.destroy();
      return;
    }
    came += 1;
    if (!isFollowed) void followLine();
  });

  async function followLine(): Promise<void> {
    isFollowed = true;
    let quietSinceMs = performance.now();
    while (await someoneComes()) {
      if (!server.listening || scout?.isThere() || performance.now() - quietSinceMs < SCOUT_EVERY_MS) continue;
      quietSinceMs = performance.now();
      scout = sendScout(server.address() as AddressInfo);
    }
    scout?.callBack();
    scout = undefined;
    waitedMs = 0;
    isFollowed = false;
  }

  async function someoneComes(): Promise<boolean> {
    const before = came;
    await turn(); // The rest of this one,
    await turn(); // and a whole one.
    return came > before;
  }

  return {
    get waitMs() {
      return Math.max(waitedMs, scout?.isThere() ? scout.waitMs() : 0);
    },
    async whenEmpty(withinMs) {
      const deadlineMs = performance.now() + withinMs;
      while ((await someoneComes()) && performance.now() < deadlineMs);
    },
  };
}

interface Scout {
  /** Whether this, at the door, is the scout; once it is back, its port may be somebody else's. */
  is(socket: Socket): boolean;
  /** Whether it still stands in the line. */
  isThere(): boolean;
  waitMs(): number;
  callBack(): void;
}

function sendScout({ address, port }: AddressInfo): Scout {
  const sentMs = performance.now();
  const socket = connect({ host: address, port });
  // Where it does not get through nobody else does, or every line is taken: both are dealt with elsewhere.
  socket.on('error', () => {});
  return {
    is: ({ remoteAddress, remotePort }) => !socket.destroyed && remotePort === socket.localPort && remoteAddress === socket.localAddress,
    isThere: () => !socket.destroyed,
    waitMs: () => performance.now() - sentMs,
    callBack: () => socket.destroy(),
  };
}
