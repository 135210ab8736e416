/** `deploy/kill-if-frozen` on real processes. A fake `systemctl` records its arguments and kills the process. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { needs } from '../setup/needs.js';
import { temporaryFolder } from '../setup/temporary-folder.js';
import { freeAddress } from './proxy.js';

const SCRIPT = join(import.meta.dirname, '../../deploy/kill-if-frozen');
const SERVER = `
  const server = require('node:http').createServer((_, answer) => answer.end('ok'));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function startServer(): Promise<{ server: ChildProcess; port: string; ended: Promise<unknown[]> }> {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  closing.push(() => server.kill('SIGKILL'));
  const ended = once(server, 'exit');
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  return { server, port: String(port).trim(), ended };
}

/** The arguments of `systemctl`, if it was called. */
async function runScript(port: string, pid: number | undefined): Promise<string | undefined> {
  const folder = temporaryFolder('systemctl');
  closing.push(() => folder.remove());
  const told = join(folder.path, 'told');
  writeFileSync(join(folder.path, 'systemctl'), `#!/bin/sh\necho "$@" >${told}\nkill -KILL ${pid}\n`, { mode: 0o755 });
  await promisify(execFile)(SCRIPT, [port], { env: { PATH: `${folder.path}:${process.env.PATH}` } });
  return existsSync(told) ? readFileSync(told, 'utf8') : undefined;
}

needs('curl').describe('the check for frozen servers', () => {
  it('kills a server that was stopped (SIGSTOP)', async () => {
    const { server, port, ended } = await startServer();
    server.kill('SIGSTOP');
    expect(await runScript(port, server.pid)).toBe(
      `kill --kill-who=main --signal=SIGKILL marketplace@${port}.service\n`,
    );
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  it('does nothing to a server that responds', async () => {
    const { server, port } = await startServer();
    expect(await runScript(port, server.pid)).toBeUndefined();
    expect(server.exitCode).toBeNull();
  });

  it('does nothing to a starting server that doesn’t listen yet', async () => {
    const [, port = ''] = (await freeAddress()).split(':');
    expect(await runScript(port, undefined)).toBeUndefined();
  });
});

it('has a unit that runs it from the release folder, and a timer for the same port', () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');
  expect(read('marketplace-watch@.service')).toContain('ExecStart=/srv/marketplace/deploy/kill-if-frozen %i\n');
  expect(read('marketplace@.service')).toContain('WorkingDirectory=/srv/marketplace\n');
});
