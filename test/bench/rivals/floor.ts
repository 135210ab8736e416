/**
 * The floor: a handwritten `node:http` server that recognizes the bench's documents by their operation names. It
 * responds with the JSON that GraphQL would return. It doesn't parse, validate, or plan anything, so every framework's
 * cost comes on top of this.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isId } from '../../../src/market/rules/ids.js';
import type { Viewer } from '../../../src/market/rules/viewer.js';
import { findViewer } from './access.js';
import { environment } from './environment.js';
import {
  actionsOn,
  award,
  bidsOn,
  checkIn,
  listOpenJobs,
  logIn,
  me,
  ownJob,
  publish,
  Refused,
  restListOpenJobs,
  restOwnJob,
  submitBid,
  timelineOf,
} from './market.js';
import { listening, observe } from './observed.js';

interface Variables {
  id: string;
  bidId: string;
  notes?: string;
  amount: number;
  message?: string;
  email: string;
  password: string;
}

const AS: Readonly<Record<string, (viewer: Viewer, variables: Variables) => Promise<object>>> = {
  OpenJobs: async (viewer) => ({ jobs: await listOpenJobs(viewer) }),
  OneJob: async (viewer, { id }) => {
    const [{ facts, ...job }, bids, timeline] = await Promise.all([
      ownJob(viewer, jobId(id)),
      bidsOn(id),
      timelineOf(id),
    ]);
    return { job: { ...job, bids, timeline, availableActions: actionsOn(viewer, facts) } };
  },
  Me: async (viewer) => ({ viewer: await me(viewer) }),
  Publish: async (viewer, { id }) => ({ publishJob: await publish(viewer, jobId(id)) }),
  Award: async (viewer, { id, bidId }) => ({ awardJob: { job: await award(viewer, jobId(id), bidId) } }),
  CheckIn: async (viewer, { id, notes }) => ({ checkInJob: { job: await checkIn(viewer, jobId(id), notes ?? null) } }),
  Bid: async (viewer, { id, amount, message }) => ({
    submitBid: { bid: await submitBid(viewer, jobId(id), amount, message ?? null) },
  }),
};

function jobId(id: string): string {
  if (!isId('job', id)) throw new Refused('NOT_FOUND', 404);
  return id;
}

createServer({ requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 65_000 }, (request, response) => {
  const url = request.url ?? '/';
  const route =
    url === '/graphql'
      ? 'POST /graphql'
      : url.startsWith('/v1/jobs/')
        ? 'GET /v1/jobs/{id}'
        : url.startsWith('/v1/jobs')
          ? 'GET /v1/jobs'
          : 'unmatched';
  observe(request, response, () => route);
  answer(request, response, url).catch((error: unknown) => {
    const { code, status } = error instanceof Refused ? error : { code: 'INTERNAL', status: 500 };
    if (!(error instanceof Refused)) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    const refusal = { errors: [{ message: code, extensions: { code } }], data: null };
    send(response, url === '/graphql' && status !== 401 ? 200 : status, refusal);
  });
}).listen(Number(environment('PORT')), '127.0.0.1', () => listening('floor', Number(environment('PORT'))));

async function answer(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  if (url === '/graphql') {
    const { operationName, variables } = JSON.parse(await bodyOf(request)) as {
      operationName: string;
      variables: Variables;
    };
    if (operationName === 'LogIn')
      return send(response, 200, { data: { logIn: await logIn(variables.email, variables.password) } });
    const work = AS[operationName];
    const viewer = await findViewer(request.headers.authorization);
    if (!viewer) throw new Refused('UNAUTHENTICATED', 401);
    if (!work) throw new Refused('NOT_FOUND', 404);
    return send(response, 200, { data: await work(viewer, variables) });
  }
  if (!url.startsWith('/v1/jobs')) return send(response, 404, {});
  const viewer = await findViewer(request.headers.authorization);
  if (!viewer) throw new Refused('UNAUTHENTICATED', 401);
  if (url.startsWith('/v1/jobs/')) {
    const job = await restOwnJob(viewer, jobId(url.slice('/v1/jobs/'.length)));
    response.setHeader('ETag', `"${job.version}"`);
    return send(response, 200, job);
  }
  const { body, next } = await restListOpenJobs();
  if (next !== undefined) response.setHeader('Link', `</v1/jobs?status=open&per_page=20&after=${next}>; rel="next"`);
  send(response, 200, body);
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}
