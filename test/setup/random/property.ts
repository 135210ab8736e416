/** fast-check with the seed of this run: `FC_SEED=…`, `FC_SEED=random`, or else always the same. */
import fc from 'fast-check';
import { seedFrom } from './seed.js';

const seed = seedFrom(process.env.FC_SEED);
if (process.env.FC_SEED !== undefined) console.log(`FC_SEED=${seed}`);
fc.configureGlobal({ seed });

export default fc;
