/** One of two real servers behind HAProxy is frozen (SIGSTOP): it accepts connections, but never responds. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { patientUrl, signUp } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { ownDatabase, type OwnDatabase } from '../app/own-database.js';
import { startServer } from '../app/processes.js';
import { until } from '../platform/security/until.js';
import { needs } from '../setup/needs.js';
import { CONFIGURATION, PATIENT, startProxy, type Proxy } from './proxy.js';

const FROZEN = 'one';
const OTHER = 'two';

let project: Clone;
let database: OwnDatabase;
const proxies: Proxy[] = [];
beforeAll(async () => {
  project = clone();
  database = await ownDatabase();
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
  await database.drop();
  project.remove();
});

const start = () =>
  startServer(project, {
    DATABASE_URL: patientUrl(database.url),
    DATA_DIR: project.dataFolder(),
    JWT_SECRET: 'a secret that every instance shares',
    TRUST_PROXY_HOPS: '1',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
  });

interface Write {
  readonly status: number;
  /** What HAProxy logged: the server that got the call, and how the call ended. */
  readonly server: string;
  readonly end: string;
}

async function write({ url, output }: Proxy, token: string): Promise<Write> {
  const id = randomUUID();
  const answer = await fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify({ title: 'Sink', description: 'It drips.' }),
  });
  await answer.text();
  const line = new RegExp(`^${id} \\S+ \\S+ rest/(\\S+) \\S+ ${answer.status} \\d+ (\\S+) `, 'm');
  await until(() => line.test(output()));
  const [, server = '', end = ''] = line.exec(output()) ?? [];
  return { status: answer.status, server, end };
}

const is = (status: number, server: string) => (one: Write) => one.status === status && one.server === server;

async function metricsOf({ metricsUrl }: Proxy): Promise<string> {
  return (await fetch(metricsUrl)).text();
}

/** Before a server's first check succeeds, one failed check is enough to take it out. */
async function isChecked(proxy: Proxy, server: string): Promise<boolean> {
  const metrics = await metricsOf(proxy);
  return metrics.includes(`haproxy_server_check_status{proxy="rest",server="${server}",state="L7OK"} 1\n`);
}

async function isDown(proxy: Proxy, server: string): Promise<boolean> {
  const metrics = await metricsOf(proxy);
  return ['rest', 'alive'].every((backend) =>
    metrics.includes(`haproxy_server_status{proxy="${backend}",server="${server}",state="DOWN"} 1\n`),
  );
}

needs('haproxy').it(
  'Hanna’s writes get a 504 from a frozen server, then all reach the other one, until the frozen one is back',
  async () => {
    const [frozen, other] = [start(), start()];
    const hosts = [new URL(await frozen.url).host, new URL(await other.url).host];
    const { token } = await signUp(await other.url, 'hanna@example.test');
    const open = async (env: Record<string, string>) => {
      const proxy = await startProxy(hosts, env);
      proxies.push(proxy);
      return proxy;
    };
    // Its checks take too long to find out, so the frozen server gets calls however slow this machine is.
    const unaware = await open({ ...PATIENT, ANSWER_WITHIN: '2s' });
    const aware = await open({ CHECK_WITHIN: '2s', ANSWER_WITHIN: '2s' });
    for (const proxy of [unaware, aware]) await until(() => isChecked(proxy, FROZEN));
    process.kill(frozen.pid, 'SIGSTOP');
    try {
      const writes: Write[] = [];
      await until(async () => {
        writes.push(...(await Promise.all(Array.from({ length: 6 }, () => write(unaware, token)))));
        return writes.some(({ server }) => server === FROZEN) && writes.some(is(201, OTHER));
      });
      // sH: the server didn't respond in time.
      for (const held of writes.filter(({ server }) => server === FROZEN))
        expect(held).toEqual({ status: 504, server: FROZEN, end: 'sH' });

      await until(() => isDown(aware, FROZEN));
      const later: Write[] = [];
      await until(async () => later.push(await write(aware, token)) > 0 && later.filter(is(201, OTHER)).length === 6);
      expect(later.filter(({ server }) => server.startsWith(FROZEN))).toEqual([]);
      process.kill(frozen.pid, 'SIGCONT');
      await until(async () => is(201, FROZEN)(await write(aware, token)));
    } finally {
      process.kill(frozen.pid, 'SIGCONT');
    }
  },
);

it('by default, HAProxy ends a call that a frozen server holds after at most 30 seconds', () => {
  const [, seconds] =
    /^ {2}timeout server "\$\{ANSWER_WITHIN-(\d+)s\}"$/m.exec(readFileSync(CONFIGURATION, 'utf8')) ?? [];
  expect(Number(seconds)).toBeLessThanOrEqual(30);
});
