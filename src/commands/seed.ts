/** `npm run seed -- --jobs 100000`: fills an empty database with people, jobs, bids, and their history. */
import { configOfCommand, reachDatabase } from './admin-database.js';
import { fail, readCommand, type Command } from './command.js';
import { createPasswords } from '../platform/security/passwords.js';
import { migrate } from '../platform/db/migrate.js';
import { openEmptyDatabase, seedMarket } from '../market/store/seed/seed.js';
import { TOWNS } from '../market/store/seed/seed-towns.js';
import { PASSWORD } from './demo/town.js';

const JOBS_MAX = 5_000_000;
const BIDS_FOR_A_JOB = 4;
const JOBS_OF_A_PERSON = 5;

const COMMAND: Command = {
  name: 'npm run seed',
  does: 'Fills an empty database in DATA_DIR or DATABASE_URL with people, jobs, bids, and their history.',
  options: { jobs: `How many jobs to create, from 20 to ${JOBS_MAX}. The default is 1000.` },
};

async function main(): Promise<void> {
  const jobs = numberOfJobs();
  const config = configOfCommand();
  if (config.NODE_ENV === 'production')
    throw new Error('A production database can’t be seeded: all seeded users share a publicly known password.');
  const database = await reachDatabase(config);
  try {
    const people = Math.max(20, Math.round(jobs / JOBS_OF_A_PERSON));
    const size = { jobs, bids: jobs * BIDS_FOR_A_JOB, people, towns: Object.values(TOWNS) };
    const hash = await createPasswords({ cost: config.BCRYPT_COST }).hash(PASSWORD);
    const sql = await openEmptyDatabase(database.connection);
    await migrate(database.connection)
      .then(() => seedMarket(sql, size, hash, (done) => say(`${done} of ${jobs} jobs`)))
      .finally(() => sql.end());
    say(
      `Done: ${jobs} jobs and ${people} people. person1@example.test is a homeowner, person2@example.test is a ` +
        `contractor, and so on. Their password is “${PASSWORD}”.`,
    );
  } finally {
    await database.stop();
  }
}

function numberOfJobs(): number {
  const jobs = Number(readCommand(COMMAND).values.jobs ?? '1000');
  if (!Number.isInteger(jobs) || jobs < 20 || jobs > JOBS_MAX)
    throw new Error(`Usage: npm run seed -- --jobs 100000. The number of jobs must be from 20 to ${JOBS_MAX}.`);
  return jobs;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().catch(fail);
