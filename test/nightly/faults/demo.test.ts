/** `npm run demo` on a machine that is so busy that Postgres stops responding for seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN } from '../../../src/commands/demo/town.js';
import { JOB_STATES } from '../../../src/market/rules/states.js';
import { logIn } from '../../app/callers.js';
import { clone, type Clone } from '../../app/clone.js';
import { start } from '../../app/processes.js';
import { postmasterOf, signalPostgres } from '../../platform/embedded/processes.js';
import { until } from '../../platform/security/until.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

it('creates all jobs, although its database was unreachable for a while', { timeout: 300_000 }, async () => {
  const dataFolder = project.usedDataFolder();
  const demo = start(project, [process.execPath, 'dist/commands/demo.js'], { DATA_DIR: dataFolder });
  await until(() => demo.output().includes('Creating a job that is “awarded”'));
  const postmaster = postmasterOf(dataFolder);
  signalPostgres(postmaster, 'SIGSTOP');
  await until(() => demo.output().includes('database unreachable'));
  signalPostgres(postmaster, 'SIGCONT');
  const url = await demo.url;
  const { body } = await logIn(url, ADMIN.email, ADMIN.password);
  const headers = { authorization: `Bearer ${String(body.token)}` };
  const { data } = (await (await fetch(`${url}/v1/jobs?per_page=100`, { headers })).json()) as {
    data: readonly { status: string }[];
  };
  expect(new Set(data.map(({ status }) => status))).toEqual(new Set(JOB_STATES));
});
