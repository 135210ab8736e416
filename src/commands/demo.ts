/** `npm run demo`: the server with sample data, on its own database. */
import { PORT_OPTION, readCommand, type Command } from './command.js';
import { isOnlyLocal, readConfig, type Config } from '../app/config.js';
import { run } from '../app/run.js';
import { tellStep, welcome } from '../app/welcome.js';
import { mailboxReader } from './demo/mailbox-reader.js';
import { isThere, play } from './demo/story.js';
import { ADMIN, CONTRACTORS, HOMEOWNERS, PASSWORD } from './demo/town.js';

const DEFAULTS = { DATA_DIR: '.data/demo', ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password, DEADLINES: 'act' };

const COMMAND: Command = {
  name: 'npm run demo',
  does: 'Starts the server with sample users and jobs in every state, on a separate database.',
  options: PORT_OPTION,
};

const emailsOf = (people: readonly { email: string }[]) => people.map(({ email }) => email);
const DEMO = {
  password: PASSWORD,
  people: { Admin: [ADMIN.email], Homeowners: emailsOf(HOMEOWNERS), Contractors: emailsOf(CONTRACTORS) },
};

const say = (line: string) => void process.stdout.write(`${line}\n`);

/**
 * In production, the clock can't be adjustable. If only this machine can reach the server, webhooks can point to
 * programs on it.
 */
function demoConfig(): Config {
  const options = { PORT: readCommand(COMMAND).values.port };
  const config = readConfig(undefined, DEFAULTS, options);
  if (config.NODE_ENV === 'production') return config;
  const webhooks = isOnlyLocal(config) && { WEBHOOKS_ALLOW_PRIVATE: 'on' };
  return readConfig(undefined, { ...DEFAULTS, CLOCK: 'adjustable', ...webhooks }, options);
}

run({
  command: COMMAND.name,
  config: () => ({ ...demoConfig(), demo: DEMO }),
  whenOpen: async (url, config, log) => {
    // Doesn't log the hundreds of requests that create the sample data. Later requests are logged.
    log.level = 'warn';
    const tokenTo = mailboxReader(url, config);
    const mayReceive = config.WEBHOOKS_ALLOW_PRIVATE;
    if (!(await isThere(url))) await play({ url, tokenTo, mayReceive, onStep: (step) => tellStep(step, config, log) });
    log.level = config.LOG_LEVEL;
    welcome(url, config, log);
    say(`  Log in as one of these users. Their password is “${PASSWORD}”.`);
    for (const [kind, emails] of Object.entries(DEMO.people)) say(`    ${kind.padEnd(16)}${emails.join(', ')}`);
    if (tokenTo) say('  Their emails about bids, awards, and disputes are in the mailbox.');
    say('');
  },
});
