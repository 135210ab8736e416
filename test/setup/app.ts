/** Runs a real server with its own database, and people who call it. Each test file opens its own. */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import postgres, { type Sql } from 'postgres';
import { readConfig, type Config } from '../../src/app/config.js';
import { TIMEOUTS, type Timeouts } from '../../src/platform/service-limits.js';
import { createSecondConnectionCheck } from './database/second-connection.js';
import { createLog } from '../../src/platform/telemetry/log.js';
import { openMatching } from '../../src/market/operations/searches/matching-loop.js';
import { openQueue } from '../../src/platform/queue/queue.js';
import { prepareSchema } from '../../src/app/prepare-schema.js';
import { openServices } from '../../src/app/services.js';
import { ensureAdmin } from '../../src/market/operations/admins/admins.js';
import type { Services } from '../../src/market/operations/services.js';
import { isBearer } from '../../src/market/rules/viewer.js';
import { createAccessTokens } from '../../src/platform/security/access-token.js';
import type { QuotaName } from '../../src/platform/caller-limits.js';
import { startServer } from '../../src/app/server.js';
import { directly, type Connection, type DatabaseHooks } from '../../src/platform/db/database.js';
import { taskKinds } from '../../src/app/task-kinds.js';
import { openNotificationEmails } from '../../src/market/mail/notification-emails.js';
import { openWebhooks } from '../../src/market/webhooks/webhooks.js';
import type { QuotaLimits, QuotaTable } from '../../src/platform/quotas/quota-table.js';
import { createQuotas, type Quotas } from '../../src/platform/quotas/quotas.js';
import { addressOf } from '../story/addresses.js';
import type { Answer, GraphqlAnswer, Json } from '../story/answer.js';
import { expectAsDescribed, expectAsDocumented } from '../story/documented.js';
import { LONG_TIMEOUTS } from './long-timeouts.js';
import { freshDatabase, type FreshDatabase } from './postgres.js';

export type { Answer, GraphqlAnswer, Json };

export interface TestApp {
  readonly url: string;
  readonly services: Services;
  readonly database: FreshDatabase;
  /** A direct connection to the database, to read rows, move time, and try forbidden changes. */
  readonly sql: Sql;
  readonly logged: string[];
  /** Queues and sends emails now, instead of at the next poll, up to a second later. */
  sendEmails(): void;
  /** The SQL statements since the last call. */
  statements(): string[];
  /** Opens another server on the same services, with its own timeouts or quotas. Returns its URL. */
  another(timeouts?: Partial<Timeouts>, quotas?: QuotaChanges): Promise<{ url: string; quotas: Quotas }>;
  /** Reads the value that /metrics reports for this name and these labels, or 0 if it reports none yet. */
  metric(name: string): Promise<number>;
  /** Throws if the response doesn't match the OpenAPI document. */
  rest(method: string, path: string, options?: CallOptions): Promise<Answer<Json>>;
  graphql(query: string, options?: CallOptions & { variables?: object }): Promise<GraphqlAnswer>;
  close(): Promise<void>;
}

/**
 * The server looks up sessions now and then, and an admin's session on every call. All other statements are the call's
 * own.
 */
export const isLookUpOfSession = (statement: string) => statement.includes('/* selectActiveSession */');

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  /** Calls from this caller's address instead of 127.0.0.1, on its own connection. */
  from?: number | undefined;
}

export const ADMIN = { email: 'ada.admin@example.test', password: 'ada keeps the house' };

type QuotaChanges = Partial<Record<QuotaName, Partial<QuotaLimits>>>;

export interface AppOptions {
  sameDatabaseAs?: Pick<TestApp, 'database'>;
  /** Settings that environment variables can't express, such as a Redis on a socket. */
  settings?: Partial<Config>;
  quotas?: QuotaChanges;
  /** For tests that may run longer than an access token lasts. */
  tokensLast?: boolean;
  /** False if the test compares events with saved searches itself. */
  isMatching?: boolean;
  /** Reaches the database through something else, such as a proxy. */
  through?: (database: FreshDatabase['connection']) => Connection | Promise<Connection>;
}

function withQuotas(table: QuotaTable, changes: QuotaChanges): QuotaTable {
  return Object.fromEntries(
    Object.entries(table).map(([name, share]) => [name, { ...share, ...changes[name as QuotaName] }]),
  ) as QuotaTable;
}

export const JWT_SECRET = 'a secret that only tests know, 32 bytes';
export const MAILBOX_SECRET = 'the_mailbox_of_the_tests';

/**
 * The same process sends and reads the requests. On a busy machine, one may take more than ten seconds. A connection
 * that the server closes as idle may be about to send the next request, which then fails.
 */
const PATIENT = { ...TIMEOUTS, headMs: 100_000, requestMs: 300_000, idleMs: 600_000, webSocketInitMs: 100_000 };

export async function openTestApp(
  env: Record<string, string> = {},
  {
    sameDatabaseAs,
    settings,
    quotas = {},
    tokensLast = false,
    isMatching = true,
    through = (straight) => straight,
  }: AppOptions = {},
): Promise<TestApp> {
  const database = sameDatabaseAs?.database ?? (await freshDatabase());
  const read = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    BCRYPT_COST: '4',
    RATE_LIMITS: 'off',
    JWT_SECRET,
    MAILBOX_SECRET,
    ...env,
  });
  const config = { ...read, quotas: withQuotas(read.quotas, quotas), ...settings };
  const sql = postgres({ ...database.connection, max: 2, fetch_types: false, onnotice: () => {} });
  const logged: string[] = [];
  const log = createLog(config.LOG_LEVEL, {
    destination: new Writable({ write: (line, _, done) => (logged.push(String(line)), done()) }),
  });
  let sent: string[] = [];
  const secondConnections: Error[] = [];
  const hooks: DatabaseHooks = {
    onStatement: (text) => sent.push(text),
    watch: createSecondConnectionCheck((error) => secondConnections.push(error)),
  };
  const connection = await through(database.connection);
  await prepareSchema(config, log, directly(connection));
  const { services, close } = await openServices(config, log, connection, hooks, {
    ...LONG_TIMEOUTS,
    probeTimeoutMs: 60_000,
  });
  if (tokensLast) Object.assign(services, { accessTokens: lastingTokens(config) });
  await ensureAdmin(services, ADMIN.email, ADMIN.password);
  const queue = openQueue({ ...services, connection, kinds: taskKinds(services), timeouts: LONG_TIMEOUTS });
  const webhooks = await openWebhooks({ ...services, queue });
  const matching = isMatching ? openMatching({ ...services, queue }) : undefined;
  const notificationEmails = openNotificationEmails({ ...services, queue, digestHour: config.DIGEST_HOUR_UTC });
  const server = await startServer(services, config, PATIENT);
  services.mail.addresses.origin = config.PUBLIC_URL ?? server.url;
  const servers = [server];

  const agent = new Agent({ keepAlive: true });
  function call(method: string, path: string, { token, body, headers, from }: CallOptions): Promise<Received> {
    return send(server.url + path, {
      method,
      headers: {
        accept: '*/*',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      ...(from === undefined ? { agent } : { agent: false, localAddress: addressOf(from) }),
    });
  }

  return {
    url: server.url,
    services,
    database,
    sql,
    logged,
    sendEmails: () => {
      notificationEmails.wake();
      queue.wake();
    },
    statements: () => {
      const seen = sent;
      sent = [];
      return seen;
    },
    another: async (timeouts, quotas = {}) => {
      const own = createQuotas(withQuotas(config.quotas, quotas), services.metrics);
      const one = await startServer({ ...services, quotas: own }, config, { ...PATIENT, ...timeouts });
      servers.push(one);
      return { url: one.url, quotas: own };
    },
    metric: async (name) => {
      const lines = (await (await fetch(`${server.url}/metrics`)).text()).split('\n');
      const metric = name.replace(/(_count|_sum|_bucket)?(\{.*)?$/, '');
      if (!lines.some((line) => line.startsWith(`# TYPE ${metric} `))) throw new Error(`There is no metric ${name}.`);
      return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? 0);
    },
    rest: async (method, path, options = {}) => {
      const { status, headers, text } = await call(method, path, options);
      const answer = { status, headers, body: text === '' ? undefined : (JSON.parse(text) as Json) };
      expectAsDocumented(method, path, answer);
      return answer;
    },
    graphql: async (query, { variables, ...options } = {}) => {
      const { status, headers, text } = await call('POST', '/graphql', { ...options, body: { query, variables } });
      const { data, errors, extensions } = JSON.parse(text) as GraphqlAnswer;
      expectAsDescribed(query, errors);
      return { status, headers, data, errors, extensions };
    },
    close: async () => {
      // The server would wait a moment for another request on these.
      for (const idle of Object.values(agent.freeSockets).flat()) idle?.destroy();
      await Promise.all(servers.map((one) => one.close()));
      agent.destroy();
      await webhooks.close();
      await matching?.close();
      await notificationEmails.close();
      await queue.close();
      await close();
      await sql.end({ timeout: 5 });
      if (!sameDatabaseAs) await database.drop();
      expectNoSecretIn(logged);
      if (secondConnections[0]) throw secondConnections[0];
    },
  };
}

function lastingTokens({ JWT_ISSUER: issuer, JWT_AUDIENCE: audience }: Config) {
  return createAccessTokens({ isBearer, secret: JWT_SECRET, issuer, audience, ttlSeconds: 24 * 60 * 60 });
}

interface Sent extends RequestOptions {
  readonly body: string | Uint8Array | undefined;
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Needs a third less CPU than `fetch`, which also can't choose the address to connect from. */
async function send(url: string, { body, ...options }: Sent): Promise<Received> {
  const sent = request(url, options);
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const headers = new Headers();
  for (let at = 0; at < answer.rawHeaders.length; at += 2)
    headers.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '');
  return { status: answer.statusCode ?? 0, headers, text: await text(answer) };
}

/** Access tokens, refresh tokens, API keys, webhook secrets, and password hashes, which no log may ever contain. */
const SECRETS =
  /eyJ[\w-]{10,}\.eyJ[\w-]+\.[\w-]+|rft_[0-9A-Za-z]{27}|jmk_[0-9A-Za-z]{40}|whsec_[0-9A-Za-z+/]{43}|\$2[aby]\$\d\d\$/;

function expectNoSecretIn(logged: readonly string[]): void {
  const line = logged.find((line) => SECRETS.test(line));
  if (line !== undefined) throw new Error(`The log has a secret: ${line.slice(0, 500)}`);
}
