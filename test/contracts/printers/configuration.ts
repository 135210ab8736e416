/** Prints the variables of src/app/config.ts into `.env.example` and docs/configuration.md. */
import { SECRETS, VARIABLES } from '../../../src/app/config.js';
import { between } from './between.js';

interface Variable {
  readonly name: string;
  /** As it would be written in the file. Empty if the variable has no default. */
  readonly preset: string;
  readonly description: string;
}

/** The page's topics in order, and the names of their variables. */
const TOPICS: Readonly<Record<string, RegExp>> = {
  'The server': /^(NODE_ENV|CONFIG_FILE|HOST|PORT|PUBLIC_URL|DATA_DIR|TRUST_PROXY_HOPS|LAME_DUCK_SECONDS)$/,
  'The database and Redis': /^(DATABASE_|MIGRATE_|REDIS_)/,
  Accounts: /^(JWT_|BCRYPT_|ADMIN_|REQUIRE_VERIFIED_)/,
  'Buying tokens': /^(STRIPE_|PAYMENTS$|CURRENCY$|TOKEN_PACKS$)/,
  Deadlines: /^(DEADLINE|CLOCK$)/,
  Email: /^(SMTP_|MAIL|APP_|DIGEST_)/,
  'Browsers, webhooks, and GraphQL': /^(CORS_|WEBHOOKS_|GRAPHQL_|PERSISTED_)/,
  Monitoring: /^(METRICS_|LOG_)/,
  'Rate limits and quotas': /^(RATE_LIMIT|QUOTA_)/,
};

export function environmentFile(): string {
  const head = [
    '# Copy this file to .env and change what you need. An empty variable counts as unset. Put a value with spaces or',
    '# special characters in single quotes.',
  ].join('\n');
  return [head, ...variables().map(({ name, preset, description }) => `# ${sentence(description)}\n${name}=${preset}`)]
    .join('\n\n')
    .concat('\n');
}

export function withConfigurationTables(page: string): string {
  const sections = Object.keys(TOPICS).map((topic) => {
    const rows = variables().filter(({ name }) => topicOf(name) === topic);
    return `## ${topic}\n\n${table(rows)}\n`;
  });
  const secrets = SECRETS.map((name) => `- \`${name}_FILE\`\n`).join('');
  return between('secrets', between('configuration', page, `\n${sections.join('\n')}\n`), `\n${secrets}\n`);
}

function topicOf(variable: string): string {
  const [topic] = Object.entries(TOPICS).find(([, names]) => names.test(variable)) ?? [];
  if (!topic) throw new Error(`Add ${variable} to a topic in test/contracts/printers/configuration.ts.`);
  return topic;
}

function table(shown: readonly Variable[]): string {
  const rows = shown.map(
    ({ name, preset, description }) =>
      `| \`${name}\` | ${preset === '' ? '' : `\`${preset}\``} | ${sentence(description)} |`,
  );
  return ['| Variable | Default | Description |', '|---|---|---|', ...rows].join('\n');
}

function variables(): Variable[] {
  return Object.entries(VARIABLES).map(([name, shape]) => {
    if (!shape.description) throw new Error(`${name} has no description.`);
    return { name, preset: written(shape.parse(undefined)), description: shape.description };
  });
}

function written(preset: unknown): string {
  if (typeof preset === 'boolean') return preset ? 'on' : 'off';
  return Array.isArray(preset) ? preset.map(writtenItem).join(',') : String(preset ?? '');
}

/** A pack of tokens is written as `name:tokens:price`. */
function writtenItem(item: unknown): string {
  return typeof item === 'object' && item !== null ? Object.values(item).join(':') : String(item);
}

function sentence(description: string): string {
  return `${description[0]?.toUpperCase()}${description.slice(1)}.`;
}
