/** Reads the environment and CONFIG_FILE, which no other file does. One error lists every invalid variable. */
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseEnv } from 'node:util';
import addressparser from 'nodemailer/lib/addressparser';
import { z } from 'zod';
import type { DemoPeople } from '../pages/front-page.js';
import {
  BUDGETS,
  budgetWindowSeconds,
  type BudgetName,
  ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION,
} from '../market/rules/rate-limits.js';
import {
  DEADLINE_DAYS_MIN,
  DEADLINE_MODES,
  DEADLINES,
  STAKE_DEADLINE,
  STAKE_HOURS_MIN,
  type EndingState,
} from '../market/rules/jobs/deadlines.js';
import { PURCHASES } from '../market/rules/market-limits.js';
import type { TokenPack } from '../market/rules/purchases.js';
import { messageOf } from '../platform/errors.js';
import { isLoopback } from '../platform/security/address.js';
import { REPLICA } from '../platform/service-limits.js';
import { QUOTAS } from '../platform/caller-limits.js';
import { quotasOf, type QuotaTable } from '../platform/quotas/quota-table.js';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${min} to ${max}`);

const onOff = z.enum(['on', 'off'], 'must be “on” or “off”').transform((value) => value === 'on');

const address = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be a URL that starts with ${protocols.join('// or ')}//`,
    );

/** An email address, with or without a display name. */
const mailbox = z.string().transform((text, context) => {
  const [first, ...others] = addressparser(text, { flatten: true });
  if (first && others.length === 0 && z.email().safeParse(first.address).success) return first;
  context.addIssue({
    code: 'custom',
    message: 'must be an email address, such as Job Marketplace <no-reply@example.com>',
  });
  return z.NEVER;
});

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const secret = z.string().refine((value) => Buffer.byteLength(value) >= 32, 'must be at least 32 bytes long');

/** Each variable's valid values and purpose. `.env.example` and the tables in the READMEs are generated from this. */
export const VARIABLES = {
  NODE_ENV: z
    .enum(['production', 'development', 'test'], 'must be production, development, or test')
    .default('development')
    .describe('the mode: production, development, or test. Production requires JWT_SECRET and hides the playground'),
  CONFIG_FILE: z
    .string()
    .default('.env')
    .describe(
      'the path of a file with these variables. Set it in the environment. If unset, the server reads .env, if that ' +
        'file exists',
    ),
  HOST: z.string().default('127.0.0.1').describe('the address to listen on. Use 0.0.0.0 for all interfaces'),
  PORT: wholeNumber(0, 65_535).default(4000).describe('the port to listen on. Use 0 for any free port'),
  PUBLIC_URL: address('http:', 'https:')
    .refine((text) => !URL.canParse(text) || /^https?:\/\/[^/?#]+$/.test(text), 'must end with the host or port')
    .optional()
    .describe(
      'the URL that clients use, such as https://api.example. Links in emails and the REST reference point to it',
    ),
  DATA_DIR: z.string().default('.data').describe('the folder where the embedded database stores its data'),
  DATABASE_URL: address('postgres:', 'postgresql:')
    .optional()
    .describe(
      'the URL of your own PostgreSQL, version 15 or later. If unset, the server runs an embedded one. ' +
        '`?connect_timeout=30` lets a connection take longer than 5 seconds',
    ),
  DATABASE_DIRECT_URL: address('postgres:', 'postgresql:')
    .optional()
    .describe('the direct URL of PostgreSQL, if DATABASE_URL is a pooler such as PgBouncer'),
  DATABASE_REPLICA_URL: address('postgres:', 'postgresql:')
    .optional()
    .describe(
      'the URL of a replica, or of a proxy for several replicas. Reads that may be slightly stale use it. If ' +
        'DATABASE_DIRECT_URL is set, this must also be the URL of a pooler',
    ),
  DATABASE_REPLICA_LAG_MAX_SECONDS: wholeNumber(1, REPLICA.lagMaxSecondsMax)
    .default(5)
    .describe(
      'how many seconds a replica may be behind the primary. If it’s further behind, the server doesn’t read from it',
    ),
  DATABASE_POOL_SIZE: wholeNumber(1, 500).default(10).describe('the maximum number of database connections for calls'),
  DATABASE_PREPARED_STATEMENTS: onOff
    .optional()
    .describe(
      'on or off. If on, the server uses prepared statements. On by default, except behind a pooler that isn’t known ' +
        'to support them',
    ),
  MIGRATE_ON_START: onOff
    .default(true)
    .describe('on or off. If off, the server isn’t ready until you run `npm run migrate`'),
  SMTP_URL: address('smtp:', 'smtps:')
    .optional()
    .describe(
      'the mail server, such as `smtp://user:password@mail.example:587`. Without it, emails appear at /mailbox. ' +
        'In production, they aren’t sent',
    ),
  MAIL_FROM: mailbox
    .optional()
    .describe(
      'the sender of emails, such as `no-reply@example.com` or `Job Marketplace <no-reply@example.com>`. ' +
        'Required with SMTP_URL',
    ),
  MAILBOX_SECRET: z
    .string()
    .regex(/^[\w-]{16,200}$/, 'must be 16 to 200 letters, digits, hyphens, or underscores')
    .optional()
    .describe('the secret in the link to /mailbox. If unset, the server generates one and stores it in DATA_DIR'),
  APP_RESET_URL: link().describe('your app’s page for setting a new password, with `{token}` in the URL'),
  APP_VERIFY_URL: link().describe('your app’s page for confirming an email address, with `{token}` in the URL'),
  APP_JOB_URL: link('{id}', 'the job’s ID').describe(
    'your app’s page for a job, with `{id}` in the URL. Emails about a job link to it. If unset, they have no link',
  ),
  DIGEST_HOUR_UTC: wholeNumber(0, 23)
    .default(8)
    .describe('the hour at which the daily digest is sent, from 0 to 23 in UTC'),
  REQUIRE_VERIFIED_EMAIL: onOff
    .default(false)
    .describe('on or off. If on, users must confirm their email address before they can publish or bid'),
  REDIS_URL: address('redis:', 'rediss:')
    .optional()
    .describe('the URL of a Redis server that several servers use to share rate limits'),
  JWT_SECRET: secret
    .optional()
    .describe(
      'the secret for signing access tokens, at least 32 bytes. If unset outside production, the server generates ' +
        'one and stores it in DATA_DIR',
    ),
  JWT_PREVIOUS_SECRET: secret
    .optional()
    .describe('a second secret for verifying access tokens, but not for signing. Set it while you replace JWT_SECRET'),
  JWT_ISSUER: z.string().min(1).default('job-marketplace').describe('the `iss` claim of access tokens'),
  JWT_AUDIENCE: z.string().min(1).default('job-marketplace').describe('the `aud` claim of access tokens'),
  BCRYPT_COST: wholeNumber(4, 15)
    .default(12)
    .describe('the bcrypt cost factor for hashing passwords. At least 10 in production'),
  ADMIN_EMAIL: z
    .string()
    .optional()
    .describe('the email address of an admin to create at startup. Requires ADMIN_PASSWORD'),
  ADMIN_PASSWORD: z.string().optional().describe('the password of the admin in ADMIN_EMAIL'),
  CORS_ORIGINS: list()
    .refine((origins) => origins.every(isOrigin), 'must be origins such as https://app.example, separated by commas')
    .describe('origins whose pages can call the API, separated by commas'),
  CORS_HEADERS: list()
    .refine((names) => names.every(isHeaderName), 'must be header names, separated by commas')
    .describe('additional request headers that pages in CORS_ORIGINS can send, separated by commas'),
  TRUST_PROXY_HOPS: wholeNumber(0, 10)
    .default(0)
    .describe('the number of proxies in front of the server: how many X-Forwarded-For hops to trust'),
  LAME_DUCK_SECONDS: wholeNumber(0, 300)
    .default(0)
    .describe('how many seconds a stopping server keeps serving while /readyz returns 503. Use 5 behind HAProxy'),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^[rs]k_(test|live)_\w+$/, 'must start with sk_test_, sk_live_, rk_test_, or rk_live_')
    .optional()
    .describe(
      'the secret key of the Stripe account that receives payments for tokens. Requires STRIPE_WEBHOOK_SECRET. In ' +
        'production, it must be a live key',
    ),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_\S+$/, 'must start with whsec_')
    .optional()
    .describe('the signing secret of the Stripe webhook endpoint for /v1/payments/stripe'),
  STRIPE_API_URL: address('http:', 'https:')
    .optional()
    .describe('the URL of a server that replaces Stripe’s API in tests. It can’t be set in production'),
  PAYMENTS: z
    .enum(['local'], 'must be “local”')
    .optional()
    .describe(
      '“local” provides a checkout page that doesn’t charge anything. In development, it’s the default without ' +
        'STRIPE_SECRET_KEY. It requires a loopback HOST and no TRUST_PROXY_HOPS',
    ),
  CURRENCY: z
    .string()
    .refine((code) => Intl.supportedValuesOf('currency').includes(code), 'must be an ISO 4217 code, such as USD')
    .default('USD')
    .describe('the currency of all prices, budgets, and bids, as an ISO 4217 code'),
  TOKEN_PACKS: tokenPacks('small:50:500,medium:150:1200,large:500:3500').describe(
    'the packs that users can buy, as `name:tokens:price`. The price is in the unit that Stripe uses for the ' +
      'currency, such as cents',
  ),
  DEADLINES: z
    .enum(DEADLINE_MODES, `must be one of ${DEADLINE_MODES.join(', ')}`)
    .default('remind')
    .describe(
      'what the server does about deadlines: off, remind, or act. With “remind”, it reminds people. With “act”, it ' +
        'also acts when a deadline passes',
    ),
  ...deadlineVariables(),
  CLOCK: z
    .enum(['real', 'adjustable'], 'must be one of real, adjustable')
    .default('real')
    .describe('the deadline clock: real or adjustable. With “adjustable”, an admin can move it, for tests and demos'),
  RATE_LIMITS: onOff.default(true).describe('on or off. Turn rate limits off only for tests and benchmarks'),
  WEBHOOKS_ALLOW_PRIVATE: onOff
    .default(false)
    .describe('on or off. If on, webhooks can point into your own network and use plain HTTP'),
  ...budgetVariables(),
  QUOTA_REQUESTS_PER_USER: wholeNumber(1, 1_000_000)
    .default(QUOTAS.requests.perUser)
    .describe('the maximum number of requests in progress per user'),
  QUOTA_REQUESTS_PER_ADDRESS: wholeNumber(1, 1_000_000)
    .default(QUOTAS.requests.perAddress)
    .describe('the maximum number of requests in progress per IP address, such as an office’s'),
  QUOTA_STREAMS_PER_ADDRESS: wholeNumber(1, 1_000_000)
    .default(QUOTAS.streams.perAddress)
    .describe('the maximum number of streams, and of WebSockets, per IP address'),
  METRICS_TOKEN: z
    .string()
    .min(16, 'must be at least 16 characters long')
    .regex(/^[!-~]*$/, 'must be printable ASCII characters without spaces')
    .optional()
    .describe(
      'the bearer token for /metrics, at least 16 characters. Without it, only this machine can read /metrics. In ' +
        'production, nobody can',
    ),
  GRAPHQL_INTROSPECTION: onOff
    .optional()
    .describe('on or off. If on, clients can fetch the schema. On by default, except in production'),
  GRAPHQL_PLAYGROUND: onOff
    .optional()
    .describe(
      'on or off. If on, browsers get the playground at /graphql. On by default, except in production or if ' +
        'PERSISTED_DOCUMENTS is “only”',
    ),
  PERSISTED_DOCUMENTS: z
    .enum(['off', 'only'], 'must be “off” or “only”')
    .default('off')
    .describe('“off” or “only”. If “only”, GraphQL runs just the documents in PERSISTED_DOCUMENTS_FILE'),
  PERSISTED_DOCUMENTS_FILE: z
    .string()
    .optional()
    .describe(
      'the path of the list of documents, from graphql-codegen (`hashAlgorithm: sha256`) or Apollo’s ' +
        'generate-persisted-query-manifest',
    ),
  LOG_LEVEL: z
    .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
    .default('info')
    .describe('the lowest level to log: fatal, error, warn, info, debug, trace, or silent'),
} as const;

/** True for a variable that can change without a restart: the log level, the rate limits, and the quotas. */
export function isReloadable(variable: string): boolean {
  return /^(LOG_LEVEL$|RATE_LIMIT_|QUOTA_)/.test(variable);
}

/** Variables with secrets or passwords. Each of them can come from a file instead, such as `JWT_SECRET_FILE`. */
export const SECRETS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_REPLICA_URL',
  'SMTP_URL',
  'MAILBOX_SECRET',
  'REDIS_URL',
  'JWT_SECRET',
  'JWT_PREVIOUS_SECRET',
  'ADMIN_PASSWORD',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'METRICS_TOKEN',
] as const satisfies readonly (keyof typeof VARIABLES)[];

const schema = z.object(VARIABLES).superRefine((env, context) => {
  const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (env.NODE_ENV === 'production') {
    if (env.JWT_SECRET === undefined) wrong('JWT_SECRET', 'must be set to at least 32 bytes in production');
    if (env.BCRYPT_COST < 10) wrong('BCRYPT_COST', 'must be at least 10 in production');
    if (env.CLOCK === 'adjustable') wrong('CLOCK', 'can’t be adjustable in production');
    if (env.STRIPE_API_URL !== undefined) wrong('STRIPE_API_URL', 'can’t be set in production');
    // Otherwise, anyone could pay with Stripe's test cards and get real tokens.
    if (env.STRIPE_SECRET_KEY?.includes('_test_')) wrong('STRIPE_SECRET_KEY', 'can’t be a test key in production');
  }
  if ((env.STRIPE_SECRET_KEY === undefined) !== (env.STRIPE_WEBHOOK_SECRET === undefined))
    wrong('STRIPE_SECRET_KEY', 'and STRIPE_WEBHOOK_SECRET must be set together');
  if (env.PAYMENTS === 'local' && env.STRIPE_SECRET_KEY !== undefined)
    wrong('PAYMENTS', 'can’t be local when STRIPE_SECRET_KEY is set');
  if (env.PAYMENTS === 'local' && !isOnlyLocal(env))
    wrong('PAYMENTS', 'can be local only outside production, on a loopback HOST, and without TRUST_PROXY_HOPS');
  if (env.DATABASE_DIRECT_URL !== undefined && env.DATABASE_URL === undefined)
    wrong('DATABASE_URL', 'must be set when DATABASE_DIRECT_URL is set');
  if (env.DATABASE_REPLICA_URL !== undefined && env.DATABASE_URL === undefined)
    wrong('DATABASE_URL', 'must be set when DATABASE_REPLICA_URL is set');
  if ((env.ADMIN_EMAIL === undefined) !== (env.ADMIN_PASSWORD === undefined))
    wrong('ADMIN_EMAIL', 'and ADMIN_PASSWORD must be set together');
  if ((env.SMTP_URL === undefined) !== (env.MAIL_FROM === undefined))
    wrong('SMTP_URL', 'and MAIL_FROM must be set together');
  if (env.SMTP_URL !== undefined && env.PUBLIC_URL === undefined && env.NODE_ENV === 'production')
    wrong('PUBLIC_URL', 'must be set when SMTP_URL is set: links in emails point to it');
  if (env.PERSISTED_DOCUMENTS === 'only' && env.PERSISTED_DOCUMENTS_FILE === undefined)
    wrong('PERSISTED_DOCUMENTS_FILE', 'must be set when PERSISTED_DOCUMENTS is “only”');
  if (!/^[\w.:-]+$/.test(env.HOST) && isIP(env.HOST) === 0) wrong('HOST', 'must be an IP address or a host name');
});

export type Environment = z.infer<typeof schema>;

export interface Config extends Environment {
  readonly budgets: Readonly<Record<BudgetName, number>>;
  readonly quotas: QuotaTable;
  /** Quota variables that are set but no longer used. */
  readonly withoutEffect: readonly string[];
  readonly introspection: boolean;
  readonly playground: boolean;
  /** True if people pay on this server's own checkout page, which moves no money. */
  readonly paysLocally: boolean;
  /** The demo users who can log in. Undefined outside the demo. */
  readonly demo?: DemoPeople;
}

/** `defaults` apply to unset variables. A command's `options` override variables. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = environment(),
  defaults: Readonly<Record<string, string>> = {},
  options: Readonly<Record<string, string | undefined>> = {},
): Config {
  // Empty counts as unset, because Compose files and shells pass unset variables as empty strings.
  const set = Object.fromEntries([...Object.entries(env), ...Object.entries(options)].filter(([, value]) => value));
  const values = Object.fromEntries(Object.entries(set).filter(([name]) => name in VARIABLES));
  const { secrets, problems } = readSecrets(set);
  const result = schema.safeParse({ ...defaults, ...values, ...secrets });
  const issues = (result.error?.issues ?? []).filter(({ path: [name] }) => !(String(name) in problems));
  if (!result.success || Object.keys(problems).length > 0)
    throw new ConfigError([
      ...Object.values(problems),
      ...issues.map(({ path, message }) => `${path.join('.')} ${message}`),
    ]);
  const config = result.data;
  const open = config.NODE_ENV !== 'production';
  return {
    ...config,
    budgets: budgetsOf(config, config.NODE_ENV),
    quotas: quotasOf(config, config.TRUST_PROXY_HOPS > 0),
    withoutEffect: Object.keys(env).filter((name) => isWithoutEffect(name) && env[name] !== ''),
    introspection: config.GRAPHQL_INTROSPECTION ?? open,
    // With persisted documents only, nothing in the playground would run.
    playground: config.GRAPHQL_PLAYGROUND ?? (open && config.PERSISTED_DOCUMENTS === 'off'),
    paysLocally:
      config.PAYMENTS === 'local' ||
      (config.NODE_ENV === 'development' && config.STRIPE_SECRET_KEY === undefined && isOnlyLocal(config)),
  };
}

/**
 * True if only this machine can reach the server. The local checkout page depends on this, because it gives tokens to
 * anyone who opens it.
 */
export function isOnlyLocal(env: Pick<Environment, 'NODE_ENV' | 'HOST' | 'TRUST_PROXY_HOPS'>): boolean {
  return env.NODE_ENV !== 'production' && isLoopback(env.HOST) && env.TRUST_PROXY_HOPS === 0;
}

/** True for a variable that is no longer used. Earlier releases had a `SHARE_…` for each quota. */
function isWithoutEffect(name: string): boolean {
  return /^(QUOTA|SHARE)_/.test(name) && !(name in VARIABLES);
}

/**
 * Reads the files that variables such as `JWT_SECRET_FILE` name. A line break at the end isn't part of the secret,
 * because editors and `echo` add one.
 */
function readSecrets(set: Readonly<Record<string, string | undefined>>) {
  const secrets: Record<string, string> = {};
  const problems: Record<string, string> = {};
  for (const name of SECRETS) {
    const variable = `${name}_FILE`;
    const path = set[variable];
    if (path === undefined) continue;
    try {
      const secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (set[name] !== undefined) problems[name] = `${variable} and ${name} can’t both be set`;
      else if (secret === '') problems[name] = `${variable} names an empty file: ${path}`;
      else secrets[name] = secret;
    } catch (error) {
      problems[name] = `${variable} names a file that can’t be read: ${messageOf(error)}`;
    }
  }
  return { secrets, problems };
}

/** The variables that the process started with, before `environment` adds those in the file. */
const STARTED_WITH = { ...process.env };

/** Reads the environment and the file in CONFIG_FILE. The environment takes precedence. */
export function environment(): Readonly<Record<string, string | undefined>> {
  const path = STARTED_WITH['CONFIG_FILE'] || (existsSync('.env') ? '.env' : undefined);
  if (path === undefined) return STARTED_WITH;
  try {
    const text = readFileSync(path, 'utf8');
    // Libraries read some variables themselves, such as NODE_ENV.
    process.loadEnvFile(path);
    return { ...parseEnv(text), ...STARTED_WITH };
  } catch (error) {
    throw new ConfigError([`CONFIG_FILE names a file that can’t be read: ${messageOf(error)}`]);
  }
}

export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

function list() {
  return z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    );
}

/** For example, `small:50:500` is 50 tokens for 500 cents. */
function tokenPacks(byDefault: string) {
  const { packsMax, packTokensMax, amountMax } = PURCHASES;
  const isValid = ({ tokens, amount }: TokenPack) =>
    tokens >= 1 && tokens <= packTokensMax && amount >= 1 && amount <= amountMax;
  return z
    .string()
    .default(byDefault)
    .transform((text) =>
      text.split(',').map((part): TokenPack => {
        const [, id = '', tokens = '', amount = ''] = /^([\w-]{1,32}):(\d{1,9}):(\d{1,9})$/.exec(part.trim()) ?? [];
        return { id, tokens: Number(tokens), amount: Number(amount) };
      }),
    )
    .refine(
      (packs) =>
        packs.every(isValid) && packs.length <= packsMax && new Set(packs.map(({ id }) => id)).size === packs.length,
      `must be at most ${packsMax} packs with different names, such as small:50:500,large:500:3500`,
    );
}

function link(place = '{token}', replacement = 'the token') {
  return address('http:', 'https:')
    .refine((text) => text.includes(place), `must contain ${place}, which is replaced with ${replacement}`)
    .optional();
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text);
}

function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

/** Names a rate limit's variable. For example, `RATE_LIMIT_LOG_IN_PER_ADDRESS` sets `logInPerAddress`. */
function variableOf(budget: string): string {
  return `RATE_LIMIT_${budget.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function deadlineVariables() {
  const days = (state: EndingState, what: string) => {
    const row = DEADLINES[state];
    const max = 'limit' in row ? row.limit.day : 365;
    return wholeNumber(DEADLINE_DAYS_MIN, max).default(row.end.day).describe(`the number of days until ${what}`);
  };
  return {
    DEADLINE_OPEN_DAYS: days('open', 'an open job expires'),
    DEADLINE_IN_REVIEW_DAYS: days('in_review', 'work in review counts as approved'),
    DEADLINE_DISPUTED_DAYS: days('disputed', 'a dispute is escalated'),
    DEADLINE_DECISION_DAYS: days('decision_reached', 'a decision stands'),
    DEADLINE_STAKE_HOURS: wholeNumber(STAKE_HOURS_MIN, 24 * 30)
      .default(STAKE_DEADLINE.hour)
      .describe('the number of hours until the stake of a bid that nobody looked at is released'),
  };
}

function budgetVariables() {
  const variable = (name: BudgetName) => {
    const { max, per, ...rest } = BUDGETS[name];
    const counted = 'counts' in rest ? rest.counts : 'calls';
    const window = budgetWindowSeconds(name) === 60 ? 'minute' : 'hour';
    const elsewhere =
      per === 'address' ? `, or ${max * ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION} outside production` : '';
    const shape = wholeNumber(0, 1_000_000).optional();
    return [
      variableOf(name),
      shape.describe(`${counted} per ${window} for each ${per}: ${max} by default${elsewhere}`),
    ] as const;
  };
  return Object.fromEntries((Object.keys(BUDGETS) as BudgetName[]).map(variable));
}

function budgetsOf(env: Record<string, unknown>, mode: Environment['NODE_ENV']): Record<BudgetName, number> {
  const entries = Object.entries(BUDGETS).map(([name, { max, per }]) => {
    const factor = per === 'address' && mode !== 'production' ? ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION : 1;
    return [name, env[variableOf(name)] ?? max * factor];
  });
  return Object.fromEntries(entries) as Record<BudgetName, number>;
}
