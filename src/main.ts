/** `npm start`: runs the server with the configuration from the environment. */
import { PORT_OPTION, readCommand, type Command } from './commands/command.js';
import { readConfig } from './app/config.js';
import { run } from './app/run.js';
import { welcome } from './app/welcome.js';

const COMMAND: Command = {
  name: 'npm start',
  does: 'Starts the server. Uses the database at DATABASE_URL, or else its own database in DATA_DIR.',
  options: PORT_OPTION,
};

run({
  command: COMMAND.name,
  config: () => readConfig(undefined, {}, { PORT: readCommand(COMMAND).values.port }),
  whenOpen: welcome,
});
