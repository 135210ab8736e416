/** fast-check with this run's seed: `FC_SEED=…`, `FC_SEED=random`, or a fixed default. */
import fc from 'fast-check';
import { seedFrom } from './seed.js';

const seed = seedFrom(process.env.FC_SEED);
if (process.env.FC_SEED !== undefined) console.log(`FC_SEED=${seed}`);
fc.configureGlobal({ seed });

export default fc;
