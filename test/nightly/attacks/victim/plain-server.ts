/**
 * A plain HTTP server that nobody attacks, in a separate process. If it is slow too, the machine had no time for
 * either, and nothing was measured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setNiceness } from './niceness.js';

export interface PlainServer {
  readonly port: number;
  close(): void;
}

const PROGRAM = `
  const server = require('node:http').createServer((_, response) => response.end('well'));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export async function openPlainServer(): Promise<PlainServer> {
  const child = spawn(process.execPath, ['--eval', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  setNiceness(child.pid, -10);
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(printed.toString()), close: () => void child.kill() };
}
