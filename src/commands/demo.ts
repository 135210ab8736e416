/** `npm run demo`: the server with a small town in it, on its own database. */
import { PORT_OPTION, readCommand, type Command } from './command.js';
import { readConfig } from '../app/config.js';
import { run } from '../app/run.js';
import { tellStep, welcome } from '../app/welcome.js';
import { isThere, play } from './demo/story.js';
import { ADMIN, CONTRACTORS, HOMEOWNERS, PASSWORD } from './demo/town.js';

const DEFAULTS = { DATA_DIR: '.data/demo', ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password };

const COMMAND: Command = {
  name: 'npm run demo',
  does: 'Starts the server with a small town of people and jobs in every state, on a database of its own.',
  options: PORT_OPTION,
};

const emailsOf = (people: readonly { email: string }[]) => people.map(({ email }) => email);
const DEMO = {
  password: PASSWORD,
  people: { Admin: [ADMIN.email], Homeowners: emailsOf(HOMEOWNERS), Contractors: emailsOf(CONTRACTORS) },
};

const say = (line: string) => void process.stdout.write(`${line}\n`);

run({
  command: COMMAND.name,
  config: () => ({ ...readConfig(undefined, DEFAULTS, { PORT: readCommand(COMMAND).values.port }), demo: DEMO }),
  whenOpen: async (url, config, log) => {
    // Hundreds of requests create the town. People's own requests are logged as on every server.
    log.level = 'warn';
    if (!(await isThere(url))) await play(url, (step) => tellStep(step, config, log));
    log.level = config.LOG_LEVEL;
    welcome(url, config, log);
    say(`  Everybody’s password is “${PASSWORD}”:`);
    for (const [kind, emails] of Object.entries(DEMO.people)) say(`    ${kind.padEnd(16)}${emails.join(', ')}`);
    say('');
  },
});
