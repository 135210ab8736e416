/** How `deploy/haproxy.cfg` finds the primary and the replicas. The three machines are simulated. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import { needs } from '../setup/needs.js';
import { until } from '../platform/security/until.js';
import { freeAddress, startProxy } from './proxy.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Machine {
  role: 'primary' | 'replica' | 'down';
  /** How many bytes it's behind the primary. */
  behind: number;
  readonly postgres: string;
}

/** Simulates a PostgreSQL that sends its name to each client, and its Patroni. Patroni's port is always the same. */
async function openMachine(name: string, address: string, patroniPort: number): Promise<Machine> {
  const sockets = new Set<Socket>();
  const postgres = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).write(name);
  }).listen(0, address);
  await once(postgres, 'listening');
  const machine: Machine = {
    role: 'replica',
    behind: 0,
    postgres: `${address}:${(postgres.address() as AddressInfo).port}`,
  };
  const patroni = createHttpServer(({ url }, response) => {
    const { pathname, searchParams } = new URL(url ?? '', 'http://patroni');
    const isBehind = machine.behind > (searchParams.get('lag') === '1MB' ? 2 ** 20 : Infinity);
    response.writeHead(pathname === `/${machine.role}` && !isBehind ? 200 : 503).end();
  }).listen(patroniPort, address);
  await once(patroni, 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    postgres.close();
    patroni.close();
  });
  return machine;
}

/** Opens a session. `name` is the machine that it's connected to, or undefined if HAProxy closes the session. */
async function openSession(address: string) {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host).on('error', () => {});
  closing.push(() => socket.destroy());
  const closed = once(socket, 'close');
  const name = await Promise.race([
    once(socket, 'data').then(([bytes]) => String(bytes)),
    closed.then(() => undefined),
  ]);
  return { name, closed };
}

needs('haproxy').it(
  'HAProxy finds the primary and the replicas, and closes sessions with a former primary',
  async () => {
    const [primary, replicas, patroni] = [await freeAddress(), await freeAddress(), await freeAddress()];
    const [, patroniPort = ''] = patroni.split(':');
    const addresses = ['127.0.2.1', '127.0.2.2', '127.0.2.3'];
    const [one, two, three] = await Promise.all(
      addresses.map((address, at) => openMachine(`db${at + 1}`, address, Number(patroniPort))),
    );
    if (!one || !two || !three) throw new Error('There are three machines.');
    one.role = 'primary';
    const proxy = await startProxy([await freeAddress()], {
      POSTGRES_1: one.postgres,
      POSTGRES_2: two.postgres,
      POSTGRES_3: three.postgres,
      PATRONI_PORT: patroniPort,
      PRIMARY_BIND: primary,
      REPLICA_BIND: replicas,
    });
    closing.push(() => proxy.stop());
    /** The machines that six new sessions are connected to. */
    const namesAt = async (address: string) => {
      const names = new Set<string | undefined>();
      for (let n = 0; n < 6; n += 1) names.add((await openSession(address)).name);
      return [...names].sort().join(' ');
    };
    const untilNamesAre = (address: string, names: string) => until(async () => (await namesAt(address)) === names);

    await untilNamesAre(primary, 'db1');
    await untilNamesAre(replicas, 'db2 db3');
    const session = await openSession(primary);
    expect(session.name).toBe('db1');

    one.role = 'down';
    two.role = 'primary';
    await session.closed;
    await untilNamesAre(primary, 'db2');
    await untilNamesAre(replicas, 'db3');

    three.behind = 2 ** 20 + 1;
    await untilNamesAre(replicas, 'db2');

    two.role = 'down';
    await untilNamesAre(primary, '');
    await untilNamesAre(replicas, '');
    three.behind = 0;
    await untilNamesAre(replicas, 'db3');
  },
);
