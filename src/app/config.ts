/** The only reader of the environment. Everything is checked together, and every wrong variable is named. */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import addressparser from 'nodemailer/lib/addressparser';
import { z } from 'zod';
import type { DemoPeople } from '../pages/front-page.js';
import {
  BUDGETS,
  budgetWindowSeconds,
  type BudgetName,
  ADDRESS_BUDGET_FACTOR_OUTSIDE_PRODUCTION,
} from '../market/rules/rate-limits.js';
import { QUOTAS } from '../platform/caller-limits.js';
import { quotasOf, type QuotaTable } from '../platform/quotas/quota-table.js';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);

const onOff = z.enum(['on', 'off'], 'must be on or off').transform((value) => value === 'on');

const address = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be an address that begins with ${protocols.join('// or ')}//`,
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

/** Each variable, its values, and its purpose. `.env.example` and the docs are checked against this. */
export const VARIABLES = {
  NODE_ENV: z
    .enum(['production', 'development', 'test'], 'must be production, development or test')
    .default('development')
    .describe('production, development or test; production insists on a JWT_SECRET and hides the playground'),
  HOST: z.string().default('127.0.0.1').describe('the address to listen on; 0.0.0.0 for all'),
  PORT: wholeNumber(0, 65_535).default(4000).describe('the port to listen on; 0 takes a free one'),
  PUBLIC_URL: address('http:', 'https:')
    .refine((text) => !URL.canParse(text) || /^https?:\/\/[^/?#]+$/.test(text), 'must end with its host or port')
    .optional()
    .describe(
      'where clients reach the server, such as https://api.example: links in mails lead there, and the REST reference',
    ),
  DATA_DIR: z.string().default('.data').describe('where the embedded database keeps its data'),
  DATABASE_URL: address('postgres:', 'postgresql:')
    .optional()
    .describe('a PostgreSQL of your own, 15 or newer, in place of the embedded one'),
  DATABASE_DIRECT_URL: address('postgres:', 'postgresql:')
    .optional()
    .describe('the PostgreSQL itself, where DATABASE_URL is a pooler’s such as PgBouncer'),
  DATABASE_POOL_SIZE: wholeNumber(1, 500).default(10).describe('connections to the database'),
  DATABASE_PREPARED_STATEMENTS: onOff
    .optional()
    .describe('on or off; where it is not set, off behind a PgBouncer that does not know them'),
  MIGRATE_ON_START: onOff
    .default(true)
    .describe('on or off; off where `npm run migrate` does it: until then a server waits, and is not ready'),
  SMTP_URL: address('smtp:', 'smtps:')
    .optional()
    .describe(
      'the mail server, such as smtp://user:password@mail.example:587; without it mails are shown at /mailbox, ' +
        'and in production there are none',
    ),
  MAIL_FROM: mailbox
    .optional()
    .describe(
      'the address that emails come from, such as no-reply@example.com or Job Marketplace <no-reply@example.com>; ' +
        'needed with SMTP_URL',
    ),
  MAILBOX_SECRET: z
    .string()
    .regex(/^[\w-]{16,200}$/, 'must be 16 to 200 letters, digits, - and _')
    .optional()
    .describe('the secret in the link to /mailbox; if unset, the server generates one and stores it in DATA_DIR'),
  APP_RESET_URL: link().describe('the page of your own that sets a new password; `{token}` stands for the token'),
  APP_VERIFY_URL: link().describe('the page of your own that confirms an email; `{token}` stands for the token'),
  REQUIRE_VERIFIED_EMAIL: onOff
    .default(false)
    .describe('on or off; on lets only people publish and bid who have confirmed their email'),
  REDIS_URL: address('redis:', 'rediss:').optional().describe('a Redis that counts rates for many instances'),
  JWT_SECRET: secret
    .optional()
    .describe('signs access tokens; at least 32 bytes; outside production one is made and kept in DATA_DIR'),
  JWT_PREVIOUS_SECRET: secret
    .optional()
    .describe('verifies access tokens besides JWT_SECRET and signs none, while a secret is being replaced'),
  JWT_ISSUER: z.string().min(1).default('job-marketplace').describe('the `iss` of access tokens'),
  JWT_AUDIENCE: z.string().min(1).default('job-marketplace').describe('the `aud` of access tokens'),
  BCRYPT_COST: wholeNumber(4, 15).default(12).describe('the cost of a password hash; at least 10 in production'),
  ADMIN_EMAIL: z.string().optional().describe('makes an admin with this email at start, together with ADMIN_PASSWORD'),
  ADMIN_PASSWORD: z.string().optional().describe('the password of that admin'),
  CORS_ORIGINS: list()
    .refine((origins) => origins.every(isOrigin), 'must be origins such as https://app.example, separated by commas')
    .describe('origins whose pages may call, separated by commas'),
  CORS_HEADERS: list()
    .refine((names) => names.every(isHeaderName), 'must be names of headers, separated by commas')
    .describe('request headers that such pages may send besides those that the server knows, separated by commas'),
  TRUST_PROXY_HOPS: wholeNumber(0, 10)
    .default(0)
    .describe('how many proxies stand before the server, and so how many X-Forwarded-For hops to believe'),
  LAME_DUCK_SECONDS: wholeNumber(0, 300)
    .default(0)
    .describe('how long a server that stops serves on while /readyz answers 503; 5 behind deploy/haproxy.cfg'),
  RATE_LIMITS: onOff.default(true).describe('on or off; off is for tests and benchmarks'),
  WEBHOOKS_ALLOW_PRIVATE: onOff
    .default(false)
    .describe('on or off; on lets webhooks lead inside your own network, and go without https'),
  ...budgetVariables(),
  QUOTA_REQUESTS_PER_USER: wholeNumber(1, 1_000_000)
    .default(QUOTAS.requests.perUser)
    .describe('requests under way for one user'),
  QUOTA_REQUESTS_PER_ADDRESS: wholeNumber(1, 1_000_000)
    .default(QUOTAS.requests.perAddress)
    .describe('requests under way for one network address, such as that of an office'),
  QUOTA_STREAMS_PER_ADDRESS: wholeNumber(1, 1_000_000)
    .default(QUOTAS.streams.perAddress)
    .describe('streams for one network address, and as many WebSockets'),
  METRICS_TOKEN: z
    .string()
    .min(16, 'must be at least 16 characters long')
    .regex(/^[!-~]*$/, 'must have no spaces, nor anything else that a header cannot carry')
    .optional()
    .describe(
      'the bearer token for /metrics, at least 16 characters; if unset, only this machine can read /metrics, and ' +
        'nobody can in production',
    ),
  GRAPHQL_INTROSPECTION: onOff
    .optional()
    .describe('on or off: whether the schema can be asked for; on outside production'),
  GRAPHQL_PLAYGROUND: onOff
    .optional()
    .describe('on or off: whether browsers get the playground at /graphql; on outside production'),
  PERSISTED_DOCUMENTS: z
    .enum(['off', 'only'], 'must be off or only')
    .default('off')
    .describe(
      'off or only: whether GraphQL runs only listed documents, sent as `documentId`, in ' +
        '`extensions.persistedQuery.sha256Hash`, or in full',
    ),
  PERSISTED_DOCUMENTS_FILE: z
    .string()
    .optional()
    .describe(
      'the list for PERSISTED_DOCUMENTS=only, as graphql-codegen (with `hashAlgorithm: sha256`) or Apollo’s ' +
        'generate-persisted-query-manifest writes it',
    ),
  LOG_LEVEL: z
    .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)
    .default('info')
    .describe('the least that is logged: fatal, error, warn, info, debug, trace, or silent'),
} as const;

const schema = z.object(VARIABLES).superRefine((env, context) => {
  const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  if (env.NODE_ENV === 'production') {
    if (env.JWT_SECRET === undefined) wrong('JWT_SECRET', 'must be set in production, to at least 32 bytes');
    if (env.BCRYPT_COST < 10) wrong('BCRYPT_COST', 'must be at least 10 in production');
  }
  if (env.DATABASE_DIRECT_URL !== undefined && env.DATABASE_URL === undefined)
    wrong('DATABASE_URL', 'must be set with DATABASE_DIRECT_URL');
  if ((env.ADMIN_EMAIL === undefined) !== (env.ADMIN_PASSWORD === undefined))
    wrong('ADMIN_EMAIL', 'and ADMIN_PASSWORD must be set together');
  if ((env.SMTP_URL === undefined) !== (env.MAIL_FROM === undefined))
    wrong('SMTP_URL', 'and MAIL_FROM must be set together');
  if (env.SMTP_URL !== undefined && env.PUBLIC_URL === undefined && env.NODE_ENV === 'production')
    wrong('PUBLIC_URL', 'must be set with SMTP_URL: the links in mails lead there');
  if (env.PERSISTED_DOCUMENTS === 'only' && env.PERSISTED_DOCUMENTS_FILE === undefined)
    wrong('PERSISTED_DOCUMENTS_FILE', 'must be set where PERSISTED_DOCUMENTS is only');
  if (!/^[\w.:-]+$/.test(env.HOST) && isIP(env.HOST) === 0) wrong('HOST', 'must be an address or a host name');
});

export type Environment = z.infer<typeof schema>;

export interface Config extends Environment {
  readonly budgets: Readonly<Record<BudgetName, number>>;
  readonly quotas: QuotaTable;
  /** Quota variables that are set but that no release reads anymore. */
  readonly withoutEffect: readonly string[];
  readonly introspection: boolean;
  readonly playground: boolean;
  /** Who can log in, if this is the demo. */
  readonly demo?: DemoPeople;
}

/** `defaults` are used for unset variables. A command's `options` override variables. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>> = environment(),
  defaults: Readonly<Record<string, string>> = {},
  options: Readonly<Record<string, string | undefined>> = {},
): Config {
  // An empty variable counts as unset, because compose files and shells write unset ones that way.
  const set = [...Object.entries(env), ...Object.entries(options)].filter(([, value]) => value);
  const values = Object.fromEntries(set.filter(([name]) => name in VARIABLES));
  const result = schema.safeParse({ ...defaults, ...values });
  if (!result.success)
    throw new ConfigError(result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`));
  const config = result.data;
  const open = config.NODE_ENV !== 'production';
  return {
    ...config,
    budgets: budgetsOf(config, config.NODE_ENV),
    quotas: quotasOf(config, config.TRUST_PROXY_HOPS > 0),
    withoutEffect: Object.keys(env).filter((name) => isWithoutEffect(name) && env[name] !== ''),
    introspection: config.GRAPHQL_INTROSPECTION ?? open,
    playground: config.GRAPHQL_PLAYGROUND ?? open,
  };
}

/** Earlier releases had a variable `SHARE_…` for each number of the quotas. */
function isWithoutEffect(name: string): boolean {
  return /^(QUOTA|SHARE)_/.test(name) && !(name in VARIABLES);
}

/** Includes the variables in a `.env` file in the working folder, which overrides nothing. */
function environment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return process.env;
}

export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The configuration is wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
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

function link() {
  return address('http:', 'https:')
    .refine((text) => text.includes('{token}'), 'must have {token} where the token is to be')
    .optional();
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text);
}

function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

/** `logInPerAddress` is configured as `RATE_LIMIT_LOG_IN_PER_ADDRESS`. */
function variableOf(budget: string): string {
  return `RATE_LIMIT_${budget.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function budgetVariables() {
  const variable = (name: BudgetName) => {
    const { max, per } = BUDGETS[name];
    const window = budgetWindowSeconds(name) === 60 ? 'a minute' : 'an hour';
    const elsewhere = per === 'address' ? ', ten times that outside production' : '';
    const shape = wholeNumber(0, 1_000_000).optional();
    return [variableOf(name), shape.describe(`calls ${window} per ${per}: ${max}${elsewhere}`)] as const;
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
