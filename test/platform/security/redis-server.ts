/** A real Redis for one test. It listens on a socket in a temporary folder and stores nothing. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from './until.js';

export interface RedisServer {
  readonly socket: string;
  /** Starts Redis. An earlier one that is frozen keeps running, but the new one takes over its address. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Stops responding, but keeps connections open. */
  freeze(): void;
  thaw(): void;
  command(name: string, ...words: string[]): Promise<unknown>;
  remove(): Promise<void>;
}

/** With a port, Redis also listens on that port of this machine. */
export function createRedisServer(port = '0'): RedisServer {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const socket = join(folder, 's');
  let servers: ChildProcess[] = [];

  async function start(): Promise<void> {
    rmSync(socket, { force: true });
    const settings = ['--port', port, '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', folder];
    servers.push(spawn('redis-server', settings, { stdio: 'ignore' }));
    await until(() => existsSync(socket));
  }

  async function kill(): Promise<void> {
    const ended = servers.map((server) => once(server, 'exit'));
    for (const server of servers) server.kill('SIGKILL');
    servers = [];
    await Promise.all(ended);
  }

  async function command(name: string, ...words: string[]): Promise<unknown> {
    const client = new Redis(socket);
    try {
      return await client.call(name, ...words);
    } finally {
      client.disconnect();
    }
  }

  return {
    socket,
    command,
    start,
    kill,
    freeze: () => void servers.at(-1)?.kill('SIGSTOP'),
    thaw: () => void servers.at(-1)?.kill('SIGCONT'),
    remove: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
