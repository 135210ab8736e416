/** Sends a request once, through either API of one instance. Always returns an attempt, whatever happens. */
import { Agent, request as open, type IncomingHttpHeaders } from 'node:http';
import { camel, changedBy, mutationOf, operationName, restAddress, snake, type Api } from '../../../story/calls.js';
import type { Json } from '../../../setup/app.js';
import {
  isRead,
  type Answered,
  type Attempt,
  type Fields,
  type Lost,
  type Op,
  type Request,
  type WriteOp,
} from './history.js';

export interface Wire {
  send(request: Request, key: string | null, instance: number, api: Api): Promise<Attempt>;
  close(): void;
}

/** Far longer than a server may take to respond. A response this late counts as none, and the run has failed. */
const TIMEOUT_MS = 25_000;

export function openWire(urls: readonly string[]): Wire {
  const agents = urls.map((url) => ({ agent: new Agent({ keepAlive: true }), ...addressOf(url) }));
  return {
    send: async (request, key, instance, api) => {
      const sent = { instance, api };
      const to = agents[instance];
      if (!to) throw new Error(`There is no instance ${instance}.`);
      const { method, path, body } = api === 'rest' ? inRest(request) : inGraphql(request);
      const raw = await exchange(to, method, path, request.by.token, key, body);
      if ('lost' in raw) return { ...sent, ...raw };
      return { ...sent, ...(api === 'rest' ? fromRest(request.op, raw) : fromGraphql(request.op, raw)) };
    },
    close: () => {
      for (const { agent } of agents) agent.destroy();
    },
  };
}

interface Address {
  readonly agent: Agent;
  readonly hostname: string;
  readonly port: string;
}

interface Raw {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

function addressOf(url: string): { hostname: string; port: string } {
  const { hostname, port } = new URL(url);
  return { hostname, port };
}

function exchange(
  { agent, hostname, port }: Address,
  method: string,
  path: string,
  token: string,
  key: string | null,
  body: unknown,
): Promise<Raw | Lost> {
  return new Promise((resolve) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const lose = (error: Error & { code?: string }) => resolve({ lost: error.code ?? error.message });
    const headers = {
      authorization: `Bearer ${token}`,
      ...(key !== null && { 'idempotency-key': key }),
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const sent = open({ agent, hostname, port, method, path, headers, timeout: TIMEOUT_MS }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', lose);
      answer.on('end', () => {
        const whole = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: readable(whole) });
      });
    });
    sent.on('error', lose);
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.end(text);
  });
}

function readable(text: string): Json {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return { unreadable: text.slice(0, 500) };
  }
}

interface Spoken {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

function inRest({ op, job, bid, body }: Request): Spoken {
  switch (op) {
    case 'readJob':
      return { method: 'GET', path: `/v1/jobs/${job}` };
    case 'readProposal':
      return { method: 'GET', path: `/v1/jobs/${job}/dispute` };
    case 'readTokens':
      return { method: 'GET', path: '/v1/tokens' };
    case 'countJobs':
      return { method: 'GET', path: '/v1/jobs?per_page=1' };
    case 'countBids':
      return { method: 'GET', path: `/v1/jobs/${job}/bids?per_page=1` };
    case 'adjustTokens':
      return { method: 'POST', path: '/v1/tokens/adjustments', body: renamed(body, snake) };
    default:
      return { ...restAddress(op, { job, bid }), ...(body && { body: renamed(body, snake) }) };
  }
}

const JOB = 'id status version updatedAt';
const BID = 'id status amount holdId';

const READS: Readonly<Record<string, string>> = {
  readJob: `query($id: ID!) { job(id: $id) { ${JOB} } }`,
  readProposal: 'query($id: ID!) { job(id: $id) { dispute { proposal { id resolution } } } }',
  readTokens: '{ viewer { tokens { balance held available } } }',
  countJobs: '{ jobs(first: 1) { totalCount } }',
  countBids: 'query($id: ID!) { job(id: $id) { bids(first: 1) { totalCount } } }',
};

/** Each is printed from the schema once, because the same few are sent a hundred thousand times. */
const mutations = new Map<Op, string>();

function documentOf(op: Op): string {
  if (isRead(op)) return READS[op] ?? '';
  if (op === 'adjustTokens')
    return 'mutation($input: AdjustTokensInput!) { adjustTokens(input: $input) { transfer { id amount note } } }';
  const known = mutations.get(op);
  if (known !== undefined) return known;
  const selection = op === 'delete' ? 'id' : isAboutBid(op) ? BID : JOB;
  const printed = mutationOf(op, selection);
  mutations.set(op, printed);
  return printed;
}

function inGraphql({ op, job, bid, body }: Request): Spoken {
  const input = body && (typeof body.urgency === 'string' ? { ...body, urgency: body.urgency.toUpperCase() } : body);
  const variables = { id: isBidMove(op) ? bid : job, jobId: job, ...(input && { input }) };
  return { method: 'POST', path: '/graphql', body: { query: documentOf(op), variables } };
}

const BID_MOVES: readonly Op[] = ['view', 'shortlist', 'reject', 'withdraw', 'revise'];
const isBidMove = (op: Op) => BID_MOVES.includes(op);
const isAboutBid = (op: Op) => isBidMove(op) || op === 'submitBid';

function fromRest(op: Op, { status, headers, body }: Raw): Answered {
  const common = {
    status,
    replayed: headers['idempotency-replayed'] === 'true',
    saysWhen: headers['retry-after'] !== undefined,
  };
  if (status >= 400 || status === 0) return { ...common, code: body?.details?.code ?? 'NO_CODE', data: null };
  return { ...common, code: null, data: shown(op, renamed(body, camel)) };
}

function fromGraphql(op: Op, { status, headers, body }: Raw): Answered {
  const common = {
    replayed: headers['idempotency-replayed'] === 'true',
    saysWhen: headers['retry-after'] !== undefined,
  };
  const [error] = body?.errors ?? [];
  if (error) {
    const { code = 'NO_CODE', status: named = status, retryAfter } = error.extensions ?? {};
    return { ...common, status: named, code, data: null, saysWhen: common.saysWhen || retryAfter !== undefined };
  }
  if (status !== 200 || !body?.data) return { ...common, status, code: 'NO_CODE', data: null };
  const { data } = body;
  const root =
    op === 'readTokens'
      ? data.viewer.tokens
      : op === 'readJob'
        ? data.job
        : op === 'readProposal'
          ? data.job.dispute
          : op === 'countJobs'
            ? { total: data.jobs.totalCount }
            : op === 'countBids'
              ? { total: data.job.bids.totalCount }
              : changedIn(op, data);
  return { ...common, status: 200, code: null, data: shown(op, root) };
}

function changedIn(op: WriteOp, data: Json): Json {
  if (op === 'adjustTokens') return data.adjustTokens.transfer;
  const payload = data[operationName(op)];
  return op === 'publish' ? payload : payload[changedBy(op)];
}

/** The values that both APIs return, in one spelling. */
function shown(op: Op, body: Json): Fields {
  if (op === 'delete') return { gone: true };
  if (op === 'countJobs' || op === 'countBids') return { total: body.total ?? body.pagination?.total };
  if (op === 'readProposal') return picked(body.proposal ?? {}, ['id', 'resolution']);
  if (op === 'readTokens') return picked(body, ['balance', 'held', 'available']);
  if (op === 'adjustTokens') return picked(body, ['id', 'amount', 'note']);
  if (op === 'publish')
    return { ...jobShown(body.job), tokensCharged: body.tokensCharged, remainingBalance: body.remainingBalance };
  return isAboutBid(op) ? { ...picked(body, ['id', 'amount', 'holdId']), status: lower(body.status) } : jobShown(body);
}

function jobShown(job: Json): Fields {
  return { ...picked(job, ['id', 'version', 'updatedAt']), status: lower(job.status) };
}

const lower = (word: Json) => (typeof word === 'string' ? word.toLowerCase() : word);

function picked(body: Json, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, body[name] ?? null]));
}

function renamed(value: Json, spell: (name: string) => string): Json {
  if (Array.isArray(value)) return value.map((one) => renamed(one, spell));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [spell(name), renamed(inner, spell)]));
}
