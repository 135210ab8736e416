/** A job can have a long history. A read loads only what it returns. */
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JOB_VERSIONS_MAX, PROPOSALS_MAX } from '../../../../src/market/rules/market-limits.js';
import { openTestApp, type TestApp } from '../../../setup/app.js';
import { temporaryFolder } from '../../../setup/temporary-folder.js';
import { callRest } from '../../../story/calls.js';
import type { Person } from '../../../story/cast.js';
import { gather, givenJob, propose, type People } from '../../../story/journey.js';

const folder = temporaryFolder('counted');
let bytes = 0;
let closeProxy = () => {};
let app: TestApp;
let people: People;
beforeAll(async () => {
  app = await openTestApp(
    {},
    {
      through: async (straight) => {
        const name = `.s.PGSQL.${straight.port}`;
        const proxy = createServer((near) => {
          const far = connect(join(straight.host, name));
          far.on('data', ({ length }) => (bytes += length));
          near.pipe(far).pipe(near);
          for (const socket of [near, far]) socket.on('error', () => near.destroy() && far.destroy());
        });
        await new Promise<void>((resolve) => proxy.listen(join(folder.path, name), resolve));
        closeProxy = () => proxy.close();
        return { ...straight, host: folder.path };
      },
    },
  );
  people = await gather(app);
});
afterAll(async () => {
  await app.close();
  closeProxy();
  folder.remove();
});

const LONG = 'x'.repeat(4_000);
/** Ten of the long texts. The database sends hundreds of them if a read loads them all. */
const BYTES_MAX = 40_000;

async function bytesOf<Result>(call: () => Promise<Result>): Promise<[Result, number]> {
  const before = bytes;
  const result = await call();
  return [result, bytes - before];
}

it('a dispute with as many proposals as it can have loads only the last one, to which a party can agree', async () => {
  const job = await givenJob(app, 'disputed', people);
  await propose(app, people, job);
  // With positions before the first event, so no loop reads them and adds to the count.
  await app.sql`insert into events (id, job_id, sequence, type, actor_id, bidder_id, from_status, to_status,
      occurred_at, data, homeowner_id, position)
    select 'evt_0' || left(md5(id || n), 26), job_id, sequence + n, type, actor_id, bidder_id, from_status, to_status,
      occurred_at, data || jsonb_build_object('resolution', n || ${LONG}), homeowner_id, -n
    from events, generate_series(1, ${PROPOSALS_MAX - 2}::int) n
    where job_id = ${job.id} and type = 'job.resolution_proposed'`;
  await app.sql`update jobs set event_count = event_count + ${PROPOSALS_MAX - 2} where id = ${job.id}`;

  const read = () => app.rest('GET', `/v1/jobs/${job.id}/dispute`, { token: people.owner.token });
  const [{ body: dispute }, loaded] = await bytesOf(read);
  expect(dispute.proposal).toMatchObject({
    resolution: `${PROPOSALS_MAX - 2}${LONG}`,
    proposed_by: people.awardee.userId,
  });
  expect(loaded).toBeLessThan(BYTES_MAX);

  const counter = (resolution: string, by: Person) =>
    bytesOf(() => callRest(app, 'resolveDispute', { by, job: job.id, body: { resolution } }));
  const [last, loadedByCall] = await counter('Half of it', people.owner);
  expect([last.status, last.body.status]).toEqual([200, 'disputed']);
  expect(loadedByCall).toBeLessThan(BYTES_MAX);

  const [beyond] = await counter('A third of it', people.awardee);
  expect(beyond.body.details).toMatchObject({
    code: 'INVALID_TRANSITION',
    allowed_operations: ['escalateJob', 'resolveDispute', 'acceptResolution'],
  });
  const [repeated] = await counter('Half of it', people.owner);
  expect([repeated.status, repeated.body.status]).toEqual([200, 'disputed']);
  const [agreed] = await counter('Half of it', people.awardee);
  expect([agreed.status, agreed.body.status]).toEqual([200, 'completed']);
});

it('a contractor who has bid too often reads only the newest bid, and can’t bid again', async () => {
  const { id } = await givenJob(app, 'open', people);
  const { token } = people.stranger;
  const bid = async (amount: number) =>
    (await callRest(app, 'submitBid', { by: people.stranger, job: id, body: { amount, message: LONG } })).body;
  const first = await bid(100);
  await callRest(app, 'withdraw', { by: people.stranger, job: id, bid: first.id });
  const newest = await bid(200);
  await app.sql`insert into bids select (jsonb_populate_record(b,
      jsonb_build_object('id', 'bid_0' || left(md5(b.id || n), 26)))).*
    from bids b, generate_series(1, 1000) n where b.id = ${first.id}`;

  const [{ data }, loaded] = await bytesOf(() =>
    app.graphql('query ($id: ID!) { job(id: $id) { myBid { id amount message } } }', { token, variables: { id } }),
  );
  expect(data.job.myBid).toEqual({ id: newest.id, amount: 200, message: LONG });
  expect(loaded).toBeLessThan(BYTES_MAX);

  await callRest(app, 'withdraw', { by: people.stranger, job: id, bid: newest.id });
  expect((await bid(300)).details).toMatchObject({ code: 'INVALID_TRANSITION', from_state: 'open' });
});

it('a job that has changed too often can’t be edited, and can still be published', async () => {
  const { id } = await givenJob(app, 'draft', people);
  const { token } = people.owner;
  const edit = async (title: string) => (await app.rest('PUT', `/v1/jobs/${id}`, { token, body: { title } })).body;
  await app.sql`update jobs set version = ${JOB_VERSIONS_MAX - 1} where id = ${id}`;
  expect(await edit('For the last time')).toMatchObject({ title: 'For the last time', version: JOB_VERSIONS_MAX });
  expect((await edit('Once more')).details).toMatchObject({
    code: 'INVALID_TRANSITION',
    allowed_operations: ['publishJob', 'deleteJob'],
  });
  expect((await callRest(app, 'publish', { by: people.owner, job: id })).status).toBe(200);
});
