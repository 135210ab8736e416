/** `npm start`: the server as it is configured. */
import { readConfig } from './config.js';
import { run } from './run.js';
import { welcome } from './welcome.js';

run({ config: () => readConfig(), whenOpen: welcome });
