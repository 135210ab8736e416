/** `npm run demo`: the server with a small town in it, on a database of its own. */
import { readConfig } from './config.js';
import { isThere, play } from './demo/story.js';
import { ADMIN, CONTRACTORS, HOMEOWNERS, PASSWORD } from './demo/town.js';
import { welcome } from './welcome.js';
import { run } from './run.js';

/** The same town each time. */
const SEED = 7;

const DEFAULTS = {
  DATA_DIR: '.data/demo',
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
  LOG_LEVEL: 'warn',
};

const say = (line: string) => void process.stdout.write(`${line}\n`);

run({
  config: () => readConfig(undefined, DEFAULTS),
  whenOpen: async (url, config, log) => {
    if (!(await isThere(url))) await play(url, SEED, (what) => say(`  ${what} …`));
    welcome(url, config, log);
    say(`  Everybody’s password is “${PASSWORD}”:`);
    const list = (kind: string, people: readonly { email: string }[]) =>
      say(`    ${kind.padEnd(16)}${people.map(({ email }) => email).join(', ')}`);
    list('Admin', [ADMIN]);
    list('Homeowners', HOMEOWNERS);
    list('Contractors', CONTRACTORS);
    say('');
  },
});
