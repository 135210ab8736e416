/**
 * A homeowner who does their usual work during an attack, and an operator who checks that the server is alive. Measures
 * how long each had to wait.
 */
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpCall, type HttpAnswer, type HttpCall } from './http-call.js';
import type { Person } from './people.js';

export interface Experience {
  /** The slowest call of each kind, in milliseconds. */
  readonly readMs: number;
  readonly publishMs: number;
  readonly logInMs: number;
  readonly healthMs: number;
  /** The slowest response from a plain server that nobody attacks. */
  readonly plainMs: number;
  /** The number of calls. If there aren't enough, nothing was measured. */
  readonly reads: number;
  readonly publications: number;
  /** Every unusual response, as `GET /v1/me: 503`. */
  readonly refused: readonly string[];
}

export interface Victim {
  /** One of their published jobs, which contractors can bid on. */
  readonly openJobId: string;
  /** Continues until the attack is over. */
  live(attack: Promise<unknown>): Promise<Experience>;
}

const DRAFTS = 14;
const READ_EVERY_MS = 40;
const WRITE_EVERY_MS = 250;
const HEALTH_EVERY_MS = 50;
const READY_EVERY_MS = 300;
/** By then, the attack has started. */
const LOGS_IN_AFTER_MS = 700;

const JOB = {
  title: 'Repair the kitchen sink',
  description: 'It drips day and night.',
  category: 'plumbing',
  urgency: 'standard',
  address_line1: '1 Oak Lane',
  city: 'Austin',
  state: 'TX',
  zip_code: '78704',
};
const JOBS_PAGE = `{
  viewer { tokens { available } }
  jobs(first: 20) { totalCount nodes { id title status bidCount availableActions { action allowed } } }
}`;

export interface Ports {
  readonly port: number;
  readonly plainPort: number;
}

export async function prepareVictim({ port, plainPort }: Ports, address: string, person: Person): Promise<Victim> {
  const call: Call = (path, more = {}) => httpCall({ port, address, token: person.token, path, ...more });
  const created = await Promise.all(
    Array.from({ length: DRAFTS }, () => call('/v1/jobs', { method: 'POST', body: JOB })),
  );
  const [open = '', ...drafts] = created.map((answer) => idIn(answer, 201));
  const published = await call(`/v1/jobs/${open}/publish`, { method: 'POST' });
  if (published.status !== 200)
    throw new Error(`The victim could not be prepared: ${published.status} ${published.text}`);

  return {
    openJobId: open,
    live: async (attack) => {
      let isOver = false;
      const over = attack.finally(() => (isOver = true)).catch(() => {});
      const agent = new Agent({ keepAlive: true });
      const notes = takeNotes();
      const again = async (everyMs: number, work: readonly (() => Promise<void>)[]) => {
        for (let at = 0; !isOver; at += 1) {
          const pause = sleep(everyMs);
          await work[at % work.length]?.();
          await Promise.race([pause, over]);
        }
      };
      await Promise.all([
        again(READ_EVERY_MS, readsOf(notes, call, agent)),
        again(WRITE_EVERY_MS, writesOf(notes, call, agent, { open, drafts })),
        again(HEALTH_EVERY_MS, [() => notes.add('health', '/healthz', httpCall({ port, path: '/healthz' }))]),
        again(HEALTH_EVERY_MS, [() => notes.add('plain', 'a plain server', httpCall({ port: plainPort, path: '/' }))]),
        // A load balancer that uses it would send all clients away. How long it takes doesn't matter.
        again(READY_EVERY_MS, [() => notes.add('ready', '/readyz', httpCall({ port, path: '/readyz' }))]),
        logIn(notes, call, person),
        waitOnOneConnection(notes, { port, localAddress: address }, over),
      ]);
      agent.destroy();
      return notes.sum();
    },
  };
}

type Call = (path: string, more?: Partial<HttpCall>) => Promise<HttpAnswer>;
type Kind = 'read' | 'publish' | 'logIn' | 'health' | 'plain' | 'ready';

interface Notes {
  add(kind: Kind, name: string, answering: Promise<HttpAnswer>): Promise<void>;
  refusal(what: string): void;
  sum(): Experience;
}

function takeNotes(): Notes {
  const seen: Record<Kind, number[]> = { read: [], publish: [], logIn: [], health: [], plain: [], ready: [] };
  const refused: string[] = [];
  const slowest = (kind: Kind) => Math.round(Math.max(0, ...seen[kind]));
  return {
    add: async (kind, name, answering) => {
      const { status, ms, text } = await answering;
      seen[kind].push(ms);
      if (status !== 200 || text.includes('"errors":[')) refused.push(`${name}: ${status} ${text.slice(0, 150)}`);
    },
    refusal: (what) => void refused.push(what),
    sum: () => ({
      readMs: slowest('read'),
      publishMs: slowest('publish'),
      logInMs: slowest('logIn'),
      healthMs: slowest('health'),
      plainMs: slowest('plain'),
      reads: seen.read.length,
      publications: seen.publish.length,
      refused,
    }),
  };
}

/** Over a persistent connection, and over a new one each time. */
function readsOf(notes: Notes, call: Call, agent: Agent) {
  return [
    () => notes.add('read', 'GET /v1/me', call('/v1/me', { agent })),
    () => notes.add('read', 'POST /graphql', call('/graphql', { method: 'POST', body: { query: JOBS_PAGE } })),
    () => notes.add('read', 'GET /v1/jobs', call('/v1/jobs', { agent })),
  ];
}

function writesOf(notes: Notes, call: Call, agent: Agent, { open, drafts }: { open: string; drafts: string[] }) {
  const publish = async () => {
    const draft = drafts.pop();
    if (draft === undefined) return;
    await notes.add('publish', 'publish', call(`/v1/jobs/${draft}/publish`, { method: 'POST', agent }));
  };
  const edit = () => {
    const body = { requirements: `Bring a ladder, at ${Date.now()}.` };
    return notes.add('publish', 'PUT job', call(`/v1/jobs/${open}`, { method: 'PUT', body }));
  };
  return [publish, edit];
}

/** Once, because a user can't log in often. */
async function logIn(notes: Notes, call: Call, { email, password }: Person): Promise<void> {
  await sleep(LOGS_IN_AFTER_MS);
  await notes.add('logIn', 'login', call('/v1/auth/login', { method: 'POST', body: { email, password } }));
}

/** Like browsers and proxies, keeps a connection open after a response, before the next request. */
async function waitOnOneConnection(
  notes: Notes,
  { port, localAddress }: { port: number; localAddress: string },
  over: Promise<unknown>,
): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => {});
  const closed = once(socket, 'close').catch(() => {});
  socket.write('GET / HTTP/1.1\r\nHost: victim.test\r\n\r\n');
  await Promise.race([once(socket, 'data').catch(() => {}), closed, over]);
  await over;
  if (socket.destroyed) notes.refusal('a connection that waited between two requests was closed');
  socket.destroy();
}

export function idIn({ status, text }: HttpAnswer, expected: number): string {
  if (status !== expected) throw new Error(`What an attack needs could not be prepared: ${status} ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}
