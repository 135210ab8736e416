/** A real HAProxy in front of test servers, with the configuration that operators run. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { until } from '../platform/security/until.js';

export const CONFIGURATION = join(import.meta.dirname, '../../deploy/haproxy.cfg');

export interface Proxy {
  readonly url: string;
  /** The URL of its own metrics. */
  readonly metricsUrl: string;
  /** Its log so far. */
  readonly output: () => string;
  stop(): Promise<void>;
}

/** For servers in the tests' own process, which doesn't answer checks while it's busy as a client. */
export const PATIENT = { CHECK_WITHIN: '100s' };

/** `servers` are addresses such as `127.0.0.1:4000`. Resolves once clients can connect. */
export async function startProxy(servers: readonly string[], env: Record<string, string> = {}): Promise<Proxy> {
  const [bind, metrics] = [env.BIND ?? (await freeAddress()), env.METRICS_BIND ?? (await freeAddress())];
  const names = servers.map((server, at) => [`SERVER_${at + 1}`, server] as const);
  const haproxy = spawn('haproxy', ['-f', CONFIGURATION], {
    env: { PATH: process.env.PATH, BIND: bind, METRICS_BIND: metrics, ...Object.fromEntries(names), ...env },
  });
  let output = '';
  for (const stream of [haproxy.stdout, haproxy.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(haproxy, 'exit');
  const url = `http://${bind}`;
  await until(async () => {
    if (haproxy.exitCode !== null) throw new Error(`HAProxy has ended: ${output}`);
    return fetch(`${url}/metrics`, { redirect: 'manual' }).then(
      () => true,
      () => false,
    );
  });
  return {
    url,
    metricsUrl: `http://${metrics}/metrics`,
    output: () => output,
    stop: async () => {
      haproxy.kill('SIGTERM');
      await ended;
    },
  };
}

/** Writes a file with a self-signed certificate for this machine, valid for a day, and its key. */
export function writeCertificate(file: string): void {
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-keyout', file, '-out', `${file}.crt`];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...names, ...files], {
    stdio: 'ignore',
  });
  appendFileSync(file, readFileSync(`${file}.crt`));
}

/** The ports that this process has already given to someone. */
const given = new Set<number>();

/**
 * An address that nothing listens on. The system gives its own ports, from 32768 on, to any connection and server, so
 * one of those could be taken before it's used.
 */
export async function freeAddress(): Promise<string> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return `127.0.0.1:${port}`;
  }
}
