/** `npm run demo`: the server with a small town in it, on a database of its own. */
import { readConfig } from '../config.js';
import { run } from '../run.js';
import { welcome } from '../welcome.js';
import { isThere, play } from './story.js';
import { ADMIN, CONTRACTORS, HOMEOWNERS, PASSWORD } from './town.js';

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
    if (!(await isThere(url))) await play(url, (what) => say(`  ${what} …`));
    welcome(url, config, log);
    say(`  Everybody’s password is “${PASSWORD}”:`);
    const town = { Admin: [ADMIN], Homeowners: HOMEOWNERS, Contractors: CONTRACTORS };
    for (const [kind, people] of Object.entries(town))
      say(`    ${kind.padEnd(16)}${people.map(({ email }) => email).join(', ')}`);
    say('');
  },
});
