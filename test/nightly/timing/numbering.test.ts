/** How soon events get their positions after the numbering instance is killed with SIGKILL, as the kernel does it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../setup/app.js';
import { callRest } from '../../story/calls.js';
import { DRAFT, gather, type People } from '../../story/journey.js';
import { allNumbered } from '../../platform/live/positions.js';

/** Numbers the existing events, as an instance does, but doesn't commit. */
const LEADER = `
  import postgres from 'postgres';
  const sql = postgres({ ...JSON.parse(process.argv[1]), max: 1 });
  await sql.begin(async (tx) => {
    await tx\`select number_events(1000)\`;
    console.log('leads');
    await new Promise(() => setInterval(() => {}, 1000));
  });
`;

let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp();
  people = await gather(app);
});
afterAll(() => app.close());

async function startLeader(): Promise<ChildProcess> {
  const connection = JSON.stringify(app.database.connection);
  const leader = spawn(process.execPath, ['--input-type=module', '-e', LEADER, connection], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(leader.stdout!, 'data');
  return leader;
}

it('a killed leader is replaced within a second', async () => {
  const leader = await startLeader();
  const { body } = await callRest(app, 'create', { by: people.owner, body: DRAFT });
  const positionNow = async () => {
    const [event] = await app.sql`select position from events where job_id = ${body.id}`;
    return event?.position ?? null;
  };
  expect(await positionNow()).toBeNull();
  const killedMs = performance.now();
  leader.kill('SIGKILL');
  await allNumbered(app);
  const tookMs = performance.now() - killedMs;
  expect(await positionNow()).not.toBeNull();
  expect(tookMs).toBeLessThan(1_000);
});
