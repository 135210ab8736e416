/** One address for whichever server is the primary, like a DNS name or a virtual IP that operators move. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface MovingAddress {
  readonly port: number;
  /** Simulates the loss of the machine behind it. From then on, nothing responds and nothing closes. */
  lose(): void;
  /** New connections go there. Lost connections stay lost. */
  moveTo(port: number): void;
  close(): void;
}

export async function openMovingAddress(to: number): Promise<MovingAddress> {
  const sockets = new Set<Socket>();
  let current: { readonly port: number; isLost: boolean } = { port: to, isLost: false };
  const server = createServer((outer) => {
    sockets.add(outer);
    outer.on('error', () => {}).on('close', () => sockets.delete(outer));
    const target = current;
    if (target.isLost) return;
    const inner = connect(target.port, '127.0.0.1');
    outer.pipe(inner).on('error', () => {});
    inner.pipe(outer, { end: false });
    inner.on('close', () => target.isLost || outer.destroy());
    outer.on('close', () => inner.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    lose: () => void (current.isLost = true),
    moveTo: (port) => void (current = { port, isLost: false }),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
