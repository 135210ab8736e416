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

it('asks a server on an IPv6 address', async () => {
  const folder = temporaryFolder('curl');
  closing.push(() => folder.remove());
  const asked = join(folder.path, 'asked');
  writeFileSync(join(folder.path, 'curl'), `#!/bin/sh\nfor url; do :; done\necho "$url" >${asked}\n`, { mode: 0o755 });
  await promisify(execFile)(SCRIPT, ['4001'], { env: { PATH: `${folder.path}:${process.env.PATH}`, HOST: 'fd00::1' } });
  expect(readFileSync(asked, 'utf8')).toBe('http://[fd00::1]:4001/healthz\n');
});

const DEPLOY = join(import.meta.dirname, '../../deploy');
const unit = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');

it('has a unit that runs it from the release folder for the port in the unit’s name', () => {
  expect(unit('marketplace-watch@.service')).toContain('ExecStart=/srv/marketplace/deploy/kill-if-frozen %i\n');
  expect(unit('marketplace@.service')).toContain('WorkingDirectory=/srv/marketplace\n');
});

it('has a timer that repeats it as often, and kills a frozen server as soon, as the operator’s guide says', () => {
  const timer = Object.fromEntries(
    [...unit('marketplace-watch@.timer').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  // Without `Unit`, a timer starts the service with its own name.
  expect(timer).toEqual({
    Description: expect.any(String),
    // `OnUnitInactiveSec` counts from the end of a run, so something else must start the first run.
    OnActiveSec: expect.stringMatching(/^\d+$/),
    OnUnitInactiveSec: expect.stringMatching(/^\d+$/),
    AccuracySec: expect.stringMatching(/^\d+$/),
    WantedBy: 'timers.target',
  });
  const [, probes = 0, probeSeconds = 0] =
    /-lt (\d) \];[^]+--max-time (\d+) /.exec(readFileSync(SCRIPT, 'utf8'))?.map(Number) ?? [];
  expect([timer.OnUnitInactiveSec, probes, probeSeconds]).toEqual(['5', 3, 3]);
  const guide = readFileSync(join(DEPLOY, '../docs/operating.md'), 'utf8');
  expect(guide).toContain(
    'checks `/healthz` every five seconds. If three checks in a row get no response within 3 seconds,',
  );
  const [, promisedSeconds] = /^ *This takes at most (\d+) seconds\./m.exec(guide) ?? [];
  // The timer may be late by `AccuracySec`.
  const killedAfterSeconds = Number(timer.OnUnitInactiveSec) + Number(timer.AccuracySec) + probes * probeSeconds;
  expect(killedAfterSeconds).toBeLessThanOrEqual(Number(promisedSeconds));
  // Otherwise, systemd would end the script before its last probe.
  const [, limitSeconds] = /^TimeoutStartSec=(\d+)$/m.exec(unit('marketplace-watch@.service')) ?? [];
  expect(Number(limitSeconds)).toBeGreaterThan(probes * probeSeconds);
});
