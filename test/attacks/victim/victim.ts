/** A homeowner who goes about their business while somebody attacks, an operator who looks whether the server is alive, and what both had to wait. */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpCall, type HttpAnswer, type HttpCall } from './http-call.js';
import type { Person } from './people.js';

export interface Experience {
  /** The slowest of each kind, in milliseconds. */
  readonly readMs: number;
  readonly publishMs: number;
  readonly logInMs: number;
  readonly healthMs: number;
  /** How many calls there were: too few, and nothing was measured. */
  readonly reads: number;
  readonly publications: number;
  /** Whatever was not answered as on any other day, as `GET /v1/me: 503`. */
  readonly refused: readonly string[];
}

export interface Victim {
  /** One of the jobs they have published, which contractors can bid on. */
  readonly openJobId: string;
  /** Lives on until the attack is over. */
  live(attack: Promise<unknown>): Promise<Experience>;
}

const DRAFTS = 14;
const READ_EVERY_MS = 40;
const WRITE_EVERY_MS = 250;
const HEALTH_EVERY_MS = 50;
/** The attack has begun by then. */
const LOGS_IN_AFTER_MS = 700;

const JOB = {
  title: 'Repair the kitchen sink', description: 'It drips day and night.', category: 'plumbing', urgency: 'standard',
  address_line1: '1 Oak Lane', city: 'Austin', state: 'TX', zip_code: '78704',
};
const JOBS_PAGE = '{ viewer { tokens { available } } jobs(first: 20) { totalCount nodes { id title status bidCount availableActions { action allowed } } } }';

export async function prepareVictim(port: number, address: string, person: Person): Promise<Victim> {
  const call = (path: string, more: Partial<HttpCall> = {}) => httpCall({ port, address, token: person.token, path, ...more });
  const created = await Promise.all(Array.from({ length: DRAFTS }, () => call('/v1/jobs', { method: 'POST', body: JOB })));
  const [open = '', ...drafts] = created.map((answer) => idIn(answer, 201));
  const published = await call(`/v1/jobs/${open}/publish`, { method: 'POST' });
  if (published.status !== 200) throw new Error(`The victim could not be prepared: ${published.status} ${published.text}`);

  return {
    openJobId: open,
    live: async (attack) => {
      let isOver = false;
      const over = attack.finally(() => (isOver = true)).catch(() => {});
      const idle = new Agent({ keepAlive: true });
      const refused: string[] = [];
      const seen: Record<'read' | 'publish' | 'logIn' | 'health', number[]> = { read: [], publish: [], logIn: [], health: [] };
      const note = async (kind: keyof typeof seen, name: string, answering: Promise<HttpAnswer>) => {
        const { status, ms, text } = await answering;
        seen[kind].push(ms);
        if (status !== 200 || text.includes('"errors":[')) refused.push(`${name}: ${status} ${text.slice(0, 150)}`);
      };

      const reads = [
        () => note('read', 'GET /v1/me', call('/v1/me', { agent: idle })),
        () => note('read', 'POST /graphql', call('/graphql', { method: 'POST', body: { query: JOBS_PAGE } })),
        () => note('read', 'GET /v1/jobs', call('/v1/jobs', { agent: idle })),
      ];
      const writes = [
        () => {
          const draft = drafts.pop();
          return draft === undefined ? Promise.resolve() : note('publish', 'publish', call(`/v1/jobs/${draft}/publish`, { method: 'POST', agent: idle }));
        },
        () => note('publish', 'PUT job', call(`/v1/jobs/${open}`, { method: 'PUT', body: { requirements: `Bring a ladder, at ${Date.now()}.` } })),
      ];
      const until = async (everyMs: number, work: readonly (() => Promise<void>)[]) => {
        for (let at = 0; !isOver; at += 1) {
          const pause = sleep(everyMs);
          await work[at % work.length]?.();
          await Promise.race([pause, over]);
        }
      };
      const { email, password } = person;
      const logIn = async () => {
        await sleep(LOGS_IN_AFTER_MS);
        await note('logIn', 'log-in', httpCall({ port, address, method: 'POST', path: '/v1/auth/login', body: { email, password } }));
      };
      const waitOnOneConnection = async () => {
        const connection = await openIdleConnection(port, address);
        await over;
        if (!connection.isOpen()) refused.push('a connection that waited between two requests was closed');
        connection.close();
      };
      const health = () => note('health', '/healthz', httpCall({ port, path: '/healthz' }));

      await Promise.all([until(READ_EVERY_MS, reads), until(WRITE_EVERY_MS, writes), until(HEALTH_EVERY_MS, [health]), logIn(), waitOnOneConnection()]);
      idle.destroy();
      const slowest = (all: readonly number[]) => Math.round(Math.max(0, ...all));
      return {
        readMs: slowest(seen.read), publishMs: slowest(seen.publish), logInMs: slowest(seen.logIn), healthMs: slowest(seen.health),
        reads: seen.read.length, publications: seen.publish.length, refused,
      };
    },
  };
}

/** As browsers and proxies keep them: one request was answered, and the next one is yet to come. */
async function openIdleConnection(port: number, localAddress: string): Promise<{ isOpen(): boolean; close(): void }> {
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  let isOpen = true;
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => {}).once('close', () => {
      isOpen = false;
      resolve();
    });
  });
  socket.write('GET / HTTP/1.1\r\nHost: victim.test\r\n\r\n');
  await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed]);
  return { isOpen: () => isOpen, close: () => void socket.destroy() };
}

export function idIn({ status, text }: HttpAnswer, expected: number): string {
  if (status !== expected) throw new Error(`What an attack needs could not be prepared: ${status} ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}
