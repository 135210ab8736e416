/**
 * The verdict finds what it is there to find: each kind of damage, planted in the log or the rows of a small run
 * that was sound.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../../../app.js';
import { openBoard } from './board.js';
import { chance } from './chance.js';
import { openClient } from './client.js';
import { isRead, outcomeOf, succeeded, type Attempt, type Entry, type Op } from './history.js';
import { readRows, type Rows } from './rows.js';
import { gather } from './storm.js';
import { findingsIn, KINDS, type Kind, type Participant } from './verdict.js';
import { openWire } from './wire.js';

let app: TestApp;
let history: Entry[];
let people: Participant[];
let rows: Rows;

/** Four clients for a while, without any fault; enough for every operation to come up. */
beforeAll(async () => {
  app = await openTestApp();
  const gathered = await gather([app.url], 4);
  ({ people } = gathered);
  history = [];
  const wire = openWire([app.url]);
  let endowed = 0;
  for (const { userId, kind } of people) {
    if (kind === 'admin') continue;
    const tag = `c999-${(endowed += 1)}`;
    const entry: Entry = {
      client: 999,
      request: { op: 'adjustTokens', by: gathered.admin, body: { userId, amount: 100_000, reason: `[${tag}]` } },
      tag,
      expects: 'success',
      shows: {},
      charge: 0,
      attempts: [],
    };
    history.push(entry);
    entry.attempts.push(await wire.send(entry.request, tag, 0, 'rest'));
  }
  const board = openBoard(gathered.shared);
  await Promise.all(
    gathered.lanes.map(async (lane, number) => {
      const client = openClient({
        number,
        lane,
        admin: gathered.admin,
        board,
        wire,
        instances: 1,
        dice: chance('verdict', `client ${number}`),
        available: 100_000 + lane.bonus,
        history,
        onAttempt: () => {},
      });
      for (let step = 0; step < 250; step += 1) await client.step();
    }),
  );
  wire.close();
  rows = await readRows(app.sql);
});
afterAll(() => app.close());

it('has nothing to say of a sound run, in which everything happened', () => {
  expect(findingsIn(history, rows, people)).toEqual([]);
  const done = new Set(history.filter(succeeded).map(({ request }) => request.op));
  for (const op of [
    'create',
    'update',
    'delete',
    'publish',
    'submitBid',
    'view',
    'shortlist',
    'reject',
    'withdraw',
    'award',
    'checkIn',
    'submitForReview',
    'approve',
    'dispute',
    'escalate',
    'resolveDispute',
    'reachDecision',
    'fileAppeal',
    'finalizeAppeal',
    'complete',
    'cancel',
    'adjustTokens',
    'readJob',
    'readTokens',
    'countJobs',
    'countBids',
  ] satisfies Op[])
    expect(done).toContain(op);
  expect(history.some(({ expects }) => expects === 'refusal')).toBe(true);
  expect(rows.holds.length).toBeGreaterThan(0);
  expect(rows.transfers.map(({ reason }) => reason)).toEqual(
    expect.arrayContaining(['publish', 'urgency_raise', 'publish_refund', 'adjustment']),
  );
});

interface Run {
  history: Entry[];
  rows: Rows;
}

const first = <Row>(list: readonly Row[], fits: (row: Row) => boolean): Row => {
  const found = list.find(fits);
  if (found === undefined) throw new Error('The run has nothing of this kind.');
  return found;
};
const without = <Row>(list: readonly Row[], fits: (row: Row) => boolean): Row[] => {
  const gone = first(list, fits);
  return list.filter((row) => row !== gone);
};
const twice = <Row>(list: readonly Row[], fits: (row: Row) => boolean): Row[] => [
  ...list,
  structuredClone(first(list, fits)),
];
const changed = <Row extends object>(
  list: readonly Row[],
  fits: (row: Row) => boolean,
  change: Partial<Row>,
): Row[] => {
  const target = first(list, fits);
  return list.map((row) => (row === target ? { ...row, ...change } : row));
};
const inRows =
  (damage: (rows: Rows) => Partial<Rows>) =>
  (run: Run): Run => ({ ...run, rows: { ...run.rows, ...damage(run.rows) } });
const inHistory =
  (fits: (entry: Entry) => boolean, damage: (entry: Entry) => Partial<Entry>) =>
  (run: Run): Run => {
    const target = first(run.history, fits);
    return { ...run, history: run.history.map((entry) => (entry === target ? { ...entry, ...damage(entry) } : entry)) };
  };

const done = (op: Op) => (entry: Entry) => entry.request.op === op && succeeded(entry) && entry.expects === 'success';
const ofType = (type: string) => (event: Rows['events'][number]) => event.type === type;
const answer = (more: Partial<Extract<Attempt, { status: number }>>): Attempt => ({
  instance: 0,
  api: 'rest',
  status: 200,
  code: null,
  replayed: false,
  data: null,
  saysWhen: false,
  ...more,
});

/** What is done to a sound run, what kind of finding it must make, and a word that the finding has to say. */
const DAMAGES: readonly (readonly [what: string, kind: Kind, description: RegExp, damage: (run: Run) => Run])[] = [
  [
    'an acknowledged job that is not there',
    'lost',
    /job job_\w+ was acknowledged and is not there/,
    inRows(({ jobs }) => ({ jobs: without(jobs, () => true) })),
  ],
  [
    'an acknowledged bid that is not there',
    'lost',
    /bid bid_\w+ was acknowledged and is not there/,
    inRows(({ bids }) => ({ bids: without(bids, () => true) })),
  ],
  [
    'an acknowledged adjustment that is not there',
    'half-applied',
    /no transfer usr_\w+ -?\d+ adjustment/,
    inRows(({ transfers }) => ({ transfers: without(transfers, ({ reason }) => reason === 'adjustment') })),
  ],
  [
    'an acknowledged transition of which nothing is there',
    'lost',
    /checkIn/,
    (run) => {
      const { request, tag } = first(run.history, done('checkIn'));
      return inRows(({ events, records }) => ({
        events: without(events, ({ type, job_id }) => type === 'job.checked_in' && job_id === request.job),
        records: without(records, ({ key }) => key === tag),
      }))(run);
    },
  ],
  [
    'a transfer that was booked twice',
    'doubled',
    /adjustment .* is there 2 times/,
    inRows(({ transfers }) => ({ transfers: twice(transfers, ({ reason }) => reason === 'adjustment') })),
  ],
  [
    'a charge that was taken twice',
    'doubled',
    /publish job_/,
    inRows(({ transfers }) => ({ transfers: twice(transfers, ({ reason }) => reason === 'publish') })),
  ],
  [
    'a refund that was paid twice',
    'doubled',
    /publish_refund/,
    inRows(({ transfers }) => ({ transfers: twice(transfers, ({ reason }) => reason === 'publish_refund') })),
  ],
  [
    'a job that was created twice',
    'unaccounted',
    /job job_other was never acknowledged/,
    inRows(({ jobs }) => ({ jobs: [...jobs, { ...first(jobs, () => true), id: 'job_other' }] })),
  ],
  [
    'an edit that was made twice',
    'doubled',
    /job.updated/,
    inRows(({ events }) => ({ events: twice(events, ofType('job.updated')) })),
  ],
  [
    'a transition that happened twice',
    'doubled',
    /job.awarded/,
    inRows(({ events }) => ({ events: twice(events, ofType('job.awarded')) })),
  ],
  [
    'a publication without its charge',
    'half-applied',
    /publish .* no transfer/,
    inRows(({ transfers }) => ({ transfers: without(transfers, ({ reason }) => reason === 'publish') })),
  ],
  [
    'a publication without its event',
    'half-applied',
    /publish .* no event job.published/,
    inRows(({ events }) => ({ events: without(events, ofType('job.published')) })),
  ],
  [
    'an award that accepted no bid',
    'half-applied',
    /award .* no event bid.accepted/,
    inRows(({ events }) => ({ events: without(events, ofType('bid.accepted')) })),
  ],
  [
    'an effect without the record that stands for it',
    'half-applied',
    /no record/,
    inRows(({ records }) => ({ records: without(records, () => true) })),
  ],
  [
    'a job that moved without an event',
    'state',
    /the status of job_/,
    inRows(({ jobs }) => ({ jobs: changed(jobs, ({ status }) => status === 'open', { status: 'awarded' }) })),
  ],
  [
    'a bid passed over without an event',
    'lost',
    /bid.rejected/,
    (run) => {
      const byHand = new Set(
        run.history
          .filter((entry) => entry.request.op === 'reject' && succeeded(entry))
          .map(({ request }) => request.bid),
      );
      return inRows(({ events }) => ({
        events: without(events, ({ type, data }) => type === 'bid.rejected' && !byHand.has(data.bidId)),
      }))(run);
    },
  ],
  [
    'a hold that nobody asked for',
    'unaccounted',
    /hold on bid bid_other/,
    inRows(({ holds }) => ({
      holds: [...holds, { id: 'hld_x', bid_id: 'bid_other', user_id: 'usr_x', amount: 5, status: 'active' }],
    })),
  ],
  [
    'a hold that outlived its bid',
    'state',
    /the hold of bid_\w+ is active/,
    inRows(({ holds }) => ({ holds: changed(holds, ({ status }) => status === 'released', { status: 'active' }) })),
  ],
  ['a hold that is gone', 'lost', /hold on bid bid_/, inRows(({ holds }) => ({ holds: without(holds, () => true) }))],
  [
    'two accepted bids',
    'state',
    /the status of bid_\w+ is accepted/,
    inRows(({ bids, jobs }) => {
      const awarded = new Set(jobs.flatMap(({ id, awarded_bid_id }) => (awarded_bid_id === null ? [] : [id])));
      return {
        bids: changed(bids, ({ job_id, status }) => awarded.has(job_id) && status === 'rejected', {
          status: 'accepted',
        }),
      };
    }),
  ],
  [
    'an award to another bid',
    'state',
    /the award of job_/,
    inRows(({ jobs }) => ({
      jobs: changed(jobs, ({ awarded_bid_id }) => awarded_bid_id !== null, { awarded_bid_id: 'bid_other' }),
    })),
  ],
  [
    'a step that nobody took',
    'unaccounted',
    /job.escalated/,
    inRows(({ events }) => ({
      events: [...events, { ...first(events, ofType('job.published')), type: 'job.escalated' }],
    })),
  ],
  [
    'an edit that was overwritten by an older one',
    'state',
    /the text of job_/,
    (run) => {
      const edits = run.history.filter(done('update'));
      const older = first(
        edits,
        (edit) =>
          edits.some(
            (later) =>
              later !== edit && later.request.job === edit.request.job && edits.indexOf(later) > edits.indexOf(edit),
          ) && run.rows.jobs.some(({ id }) => id === edit.request.job),
      );
      return inRows(({ jobs }) => ({
        jobs: changed(jobs, ({ id }) => id === older.request.job, { requirements: older.request.body?.requirements }),
      }))(run);
    },
  ],
  [
    'a balance that lost a token',
    'balance',
    /usr_/,
    inRows(({ balances }) => ({ balances: changed(balances, ({ balance }) => balance > 1_000, { balance: 77 }) })),
  ],
  [
    'a hold that the balance forgot',
    'balance',
    /holds/,
    inRows(({ balances }) => ({ balances: changed(balances, () => true, { held: 1_005 }) })),
  ],
  [
    'a refusal that had an effect',
    'unaccounted',
    /job.created|job.published|job.awarded|event/,
    inHistory(done('checkIn'), () => ({
      expects: 'either',
      attempts: [answer({ status: 400, code: 'INVALID_TRANSITION' })],
    })),
  ],
  [
    'a success where the state forbids it',
    'answered wrongly',
    /its state forbids/,
    inHistory(
      (entry) => entry.expects === 'success' && !isRead(entry.request.op),
      () => ({ expects: 'refusal' }),
    ),
  ],
  [
    'a refusal for no reason',
    'answered wrongly',
    /nothing stood against it/,
    inHistory(done('readJob'), () => ({ attempts: [answer({ status: 403, code: 'FORBIDDEN' })] })),
  ],
  [
    'a read of what is no longer so',
    'answered wrongly',
    /version is/,
    inHistory(done('readJob'), (entry) => ({
      attempts: [answer({ data: { ...outcomeOf(entry)?.data, version: 99 } })],
    })),
  ],
  [
    'a balance that forgets a charge',
    'answered wrongly',
    /remainingBalance is/,
    inHistory(done('publish'), (entry) => ({
      attempts: [answer({ data: { ...outcomeOf(entry)?.data, remainingBalance: 1 } })],
    })),
  ],
  [
    'a failure inside',
    'answered wrongly',
    /500 INTERNAL/,
    inHistory(done('award'), (entry) => ({ attempts: [answer({ status: 500, code: 'INTERNAL' }), ...entry.attempts] })),
  ],
  [
    'a 503 that does not say when to come again',
    'answered wrongly',
    /without a time/,
    inHistory(done('award'), (entry) => ({
      attempts: [answer({ status: 503, code: 'OVERLOADED' }), ...entry.attempts],
    })),
  ],
  [
    'a replay that differs from the first answer',
    'replayed wrongly',
    /then/,
    inHistory(done('award'), (entry) => ({
      attempts: [...entry.attempts, answer({ replayed: true, data: { ...outcomeOf(entry)?.data, version: 99 } })],
    })),
  ],
  [
    'a second answer that is no replay',
    'replayed wrongly',
    /marked as a replay/,
    inHistory(done('award'), (entry) => ({
      attempts: [...entry.attempts, answer({ data: outcomeOf(entry)?.data ?? null })],
    })),
  ],
  [
    'a key that was taken for another request',
    'answered wrongly',
    /422/,
    inHistory(done('award'), (entry) => ({
      attempts: [...entry.attempts, answer({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' })],
    })),
  ],
  [
    'a request that nobody ever answered',
    'unanswered',
    /no definite answer/,
    inHistory(done('readJob'), () => ({ attempts: [{ instance: 0, api: 'rest', lost: 'ECONNRESET' }] })),
  ],
  [
    'an answer that never came in time',
    'unanswered',
    /in time/,
    inHistory(done('readJob'), (entry) => ({
      attempts: [{ instance: 1, api: 'rest', lost: 'no answer in time' }, ...entry.attempts],
    })),
  ],
];

describe('finds', () => {
  it.each(DAMAGES)('%s', (_what, kind, description, damage) => {
    const damaged = damage({ history, rows });
    const findings = findingsIn(damaged.history, damaged.rows, people);
    expect(
      findings
        .filter((finding) => finding.kind === kind)
        .map(({ what }) => what)
        .join('\n'),
    ).toMatch(description);
  });

  it('something of every kind', () => {
    expect(KINDS.filter((kind) => !DAMAGES.some(([, found]) => found === kind))).toEqual([]);
  });
});
