/** Shows that the checker finds problems. Each kind of damage bypasses the guards and breaks an invariant. */
import type { TransactionSql } from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractor, homeowner } from '../../story/cast.js';
import { checkDatabase, PROMISE_NAMES } from './checker.js';
import { openTestApp, type TestApp } from '../app.js';
import { allNumbered } from '../../platform/live/positions.js';

let app: TestApp;
const ids: Record<string, string> = {};

/**
 * A draft, an open job with a guaranteed and a withdrawn bid, an awarded job, a refunded canceled job, and a reopened
 * job with a restored bid that was revised.
 */
beforeAll(async () => {
  app = await openTestApp();
  const hanna = await homeowner(app, 'Hanna');
  const carl = await contractor(app, 'Carl');
  const cora = await contractor(app, 'Cora');
  await app.sql.begin(async (tx) => {
    await tx`insert into token_transfers (id, from_account, to_account, amount, reason, user_id)
      values ('ttx_gift', 'issuance', ${hanna.userId}, 90, 'adjustment', ${hanna.userId})`;
    await tx`insert into purchases (id, user_id, pack, tokens, amount, currency, status, return_url, provider, livemode,
        expires_at, paid_at)
      values ('pur_bought', ${hanna.userId}, 'small', 50, 500, 'USD', 'paid', 'http://localhost', 'local', false, now(),
        now())`;
    await tx`insert into token_transfers (id, from_account, to_account, amount, reason, user_id, bought, purchase_id)
      values ('ttx_bought', 'issuance', ${hanna.userId}, 50, 'purchase', ${hanna.userId}, 50, 'pur_bought')`;
    await tx`update token_balances set balance = balance + 140, bought = 50 where user_id = ${hanna.userId}`;
  });
  const call = async (token: string, path: string, body: object = {}) => {
    const answer = await app.rest('POST', `/v1/jobs${path}`, { token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id ?? answer.body.job.id;
  };
  const draft = () =>
    call(hanna.token, '', {
      title: 'Sink',
      description: 'It drips',
      category: 'plumbing',
      urgency: 'standard',
      address_line1: '1 Main',
      city: 'Austin',
      state: 'TX',
    });
  const opened = async () => call(hanna.token, `/${await draft()}/publish`);
  ids.draft = await draft();
  ids.open = await opened();
  ids.guaranteed = await call(carl.token, `/${ids.open}/bids`, { amount: 5, guaranteed_view: true });
  ids.withdrawn = await call(cora.token, `/${ids.open}/bids`, { amount: 5 });
  await call(cora.token, `/${ids.open}/bids/${ids.withdrawn}/withdraw`);
  ids.awarded = await opened();
  ids.accepted = await call(carl.token, `/${ids.awarded}/bids`, { amount: 5 });
  ids.rejected = await call(cora.token, `/${ids.awarded}/bids`, { amount: 5, guaranteed_view: true });
  await call(hanna.token, `/${ids.awarded}/award`, { bid_id: ids.accepted });
  ids.reopened = await opened();
  ids.lost = await call(carl.token, `/${ids.reopened}/bids`, { amount: 5 });
  ids.restored = await call(cora.token, `/${ids.reopened}/bids`, { amount: 5, guaranteed_view: true });
  await call(hanna.token, `/${ids.reopened}/bids/${ids.restored}/view`);
  await call(hanna.token, `/${ids.reopened}/award`, { bid_id: ids.lost });
  await call(hanna.token, `/${ids.reopened}/reopen`);
  const url = `/v1/jobs/${ids.reopened}/bids/${ids.restored}`;
  const { status } = await app.rest('PUT', url, { token: cora.token, body: { amount: 4 } });
  if (status !== 200) throw new Error('The bid could not be revised.');
  ids.cancelled = await opened();
  await call(hanna.token, `/${ids.cancelled}/cancel`);
  Object.assign(ids, {
    hanna: hanna.userId,
    carl: carl.userId,
    carlsProfile: carl.profileId,
    corasProfile: cora.profileId,
  });
  await allNumbered(app);
});
afterAll(() => app.close());

it('finds nothing in a sound database', async () => {
  expect(await checkDatabase(app.sql)).toEqual([]);
});

type Damage = (tx: TransactionSql) => Promise<unknown>;

const DAMAGES: [what: string, breaks: string, damage: Damage][] = [
  [
    'a balance that was topped up by hand',
    'a balance is the sum of its transfers',
    (tx) => tx`update token_balances set balance = balance + 1 where user_id = ${ids.hanna!}`,
  ],
  [
    'a transfer that was lost',
    'a balance is the sum of its transfers',
    (tx) => tx`delete from token_transfers where id = 'ttx_gift'`,
  ],
  [
    'bought tokens that became granted ones',
    'the bought part of a balance is the sum of its transfers’ bought parts, and at most the balance',
    (tx) => tx`update token_balances set bought = bought - 1 where user_id = ${ids.hanna!}`,
  ],
  [
    'a debt that nobody owes',
    'a debt is the sum from lost chargebacks, minus debt payments, and nobody with a debt has tokens to spend',
    (tx) => tx`update token_balances set debt = 1 where user_id = ${ids.hanna!}`,
  ],
  [
    'a payment without its credit',
    'a purchase is credited once when it’s paid, and never before',
    (tx) => tx`delete from token_transfers where id = 'ttx_bought'`,
  ],
  [
    'a credit of a purchase that expired',
    'a purchase is credited once when it’s paid, and never before',
    (tx) => tx`update purchases set status = 'expired', paid_at = null where id = 'pur_bought'`,
  ],
  [
    'a refund that took no tokens',
    'the refunds and chargebacks of a purchase match its row',
    (tx) => tx`update purchases set refunded_tokens = 5, refunded_amount = 50 where id = 'pur_bought'`,
  ],
  [
    'a chargeback that took nothing',
    'the refunds and chargebacks of a purchase match its row',
    (tx) => tx`update purchases set status = 'charged_back' where id = 'pur_bought'`,
  ],
  [
    'a credit for a purchase that doesn’t exist',
    'a transfer for a purchase has its purchase, and no other transfer has one',
    (tx) => tx`update token_transfers set purchase_id = 'pur_nobody' where id = 'ttx_bought'`,
  ],
  [
    'a hold that was forgotten',
    'what is held is the sum of the active holds, and covered',
    (tx) => tx`update token_balances set held = 0 where user_id = ${ids.carl!}`,
  ],
  [
    'more held than there is',
    'what is held is the sum of the active holds, and covered',
    (tx) => tx`update token_balances set held = balance + 1 where user_id = ${ids.carl!}`,
  ],
  [
    'a transfer between two system accounts',
    'a transfer touches its person and one system account',
    (tx) => tx`update token_transfers set from_account = 'fees', to_account = 'issuance' where id = 'ttx_gift'`,
  ],
  [
    'a guaranteed bid without its hold',
    'a guaranteed bid has its hold, and no other bid has one',
    (tx) => tx`delete from holds where bid_id = ${ids.guaranteed!}`,
  ],
  [
    'a hold of another job',
    'a hold is of its bid, its job and its bidder',
    (tx) => tx`update holds set job_id = ${ids.awarded!} where bid_id = ${ids.guaranteed!}`,
  ],
  [
    'a hold of a rejected bid that is active',
    'a hold is active exactly while its bid is live or accepted on a job that goes on, and nothing released it',
    (tx) => tx`update holds set status = 'active', released_at = null where bid_id = ${ids.rejected!}`,
  ],
  [
    'a hold of a live bid that was released',
    'a hold is active exactly while its bid is live or accepted on a job that goes on, and nothing released it',
    (tx) => tx`update holds set status = 'released', released_at = now() where bid_id = ${ids.guaranteed!}`,
  ],
  [
    'a hold of a restored bid that is active again',
    'a hold is active exactly while its bid is live or accepted on a job that goes on, and nothing released it',
    (tx) => tx`update holds set status = 'active', released_at = null where bid_id = ${ids.restored!}`,
  ],
  [
    'a restored bid that is not as it was',
    'a bid was restored to what it was before the award, which someone else lost',
    (tx) => tx`update events set data = data || '{"status": "shortlisted"}' where type = 'bid.restored'`,
  ],
  [
    'a bid that was restored although no award was lost',
    'a bid was restored to what it was before the award, which someone else lost',
    (tx) => tx`update events set type = 'job.updated' where type = 'job.reopened'`,
  ],
  [
    'an earlier offer that was lost',
    'an earlier offer is kept for each revision of a bid, and there are at most ten',
    (tx) => tx`delete from bid_revisions where bid_id = ${ids.restored!}`,
  ],
  [
    'a revision without an event',
    'an earlier offer is kept for each revision of a bid, and there are at most ten',
    (tx) => tx`delete from events where type = 'bid.revised'`,
  ],
  [
    'an offer that answers an edit nobody made',
    'an offer is no newer than the last public edit of its job',
    (tx) => tx`update bids set job_public_edit_count = 1 where id = ${ids.guaranteed!}`,
  ],
  [
    'a reopening that was not counted',
    'a job counts how often it was reopened and sent back for changes',
    (tx) => tx`update jobs set reopening_count = 0 where id = ${ids.reopened!}`,
  ],
  [
    'a request for changes that nobody made',
    'a job counts how often it was reopened and sent back for changes',
    (tx) => tx`update jobs set change_request_count = 1 where id = ${ids.awarded!}`,
  ],
  [
    'a dispute about work in progress without requested changes',
    'work in progress is disputed only after requested changes, and cancelled only without them',
    (tx) => tx`update events set type = 'job.disputed', from_status = 'in_progress'
      where job_id = ${ids.cancelled!} and type = 'job.cancelled'`,
  ],
  [
    'two accepted bids',
    'a job has at most one accepted bid',
    (tx) => tx`update bids set status = 'accepted' where id = ${ids.rejected!}`,
  ],
  [
    'two bids of one contractor',
    'a contractor has at most one bid on a job but for withdrawn ones',
    (tx) => tx`update bids set contractor_id = ${ids.carlsProfile!}, status = 'pending' where id = ${ids.withdrawn!}`,
  ],
  [
    'a live bid on an awarded job',
    'live bids are on jobs that take bids',
    (tx) => tx`update bids set status = 'viewed' where id = ${ids.rejected!}`,
  ],
  ['a bid without a job', 'live bids are on jobs that take bids', (tx) => tx`delete from jobs where id = ${ids.open!}`],
  [
    'a bid that is listed elsewhere than its job',
    'a bid knows when its job was made',
    (tx) => tx`update bids set job_created_at = job_created_at - interval '1 hour' where id = ${ids.accepted!}`,
  ],
  [
    'an awarded bid that was rejected',
    'the awarded bid is the accepted one',
    (tx) => tx`update bids set status = 'rejected' where id = ${ids.accepted!}`,
  ],
  [
    'an award to someone else',
    'the awarded bid is the accepted one',
    (tx) => tx`update jobs set awarded_contractor_id = ${ids.corasProfile!} where id = ${ids.awarded!}`,
  ],
  [
    'a bid that was miscounted',
    'a job counts its bids rightly',
    (tx) => tx`update jobs set bids_ever = 7 where id = ${ids.open!}`,
  ],
  [
    'an event that was lost',
    'events are numbered without gaps, as many as the job counts',
    (tx) => tx`delete from events where job_id = ${ids.open!} and sequence = 2`,
  ],
  [
    'the last event lost',
    'events are numbered without gaps, as many as the job counts',
    (tx) => tx`delete from events where job_id = ${ids.draft!}`,
  ],
  [
    'a job that vanished',
    'events are numbered without gaps, as many as the job counts',
    (tx) => tx`delete from jobs where id = ${ids.draft!}`,
  ],
  [
    'an event out of its time',
    'events follow each other in time',
    (tx) =>
      tx`update events set occurred_at = occurred_at - interval '1 hour' where job_id = ${ids.open!} and sequence = 2`,
  ],
  [
    'a step that nobody may take',
    'every step of a job is a legal one',
    (tx) => tx`update events set to_status = 'completed' where job_id = ${ids.open!} and type = 'job.published'`,
  ],
  [
    'a bid’s event that changes the job',
    'every step of a job is a legal one',
    (tx) => tx`update events set to_status = 'awarded' where job_id = ${ids.open!} and type = 'bid.submitted'`,
  ],
  [
    'a step from elsewhere',
    'each step of a job begins where the last one ended',
    (tx) => tx`update events set from_status = 'in_review' where job_id = ${ids.awarded!} and type = 'job.awarded'`,
  ],
  [
    'a job that moved without an event',
    'a job is where its last step led',
    (tx) => tx`update jobs set status = 'in_progress' where id = ${ids.awarded!}`,
  ],
  [
    'a job that seems to wait since before its last step',
    'a job came to its state with the step that led there',
    (tx) => tx`update jobs set status_changed_at = created_at - interval '1 hour' where id = ${ids.awarded!}`,
  ],
  [
    'a job that seems to have moved since its last step',
    'a job came to its state with the step that led there',
    (tx) => tx`update jobs set status_changed_at = now() + interval '1 hour' where id = ${ids.awarded!}`,
  ],
  [
    'a second ending',
    'a job ends once',
    (tx) =>
      tx`insert into events (id, job_id, sequence, type, from_status, to_status, homeowner_id)
        select 'evt_x', id, 4, 'job.completed', 'cancelled', 'completed', homeowner_id
          from jobs where id = ${ids.cancelled!}`,
  ],
  [
    'a bid that moved without an event',
    'a bid is where its last event left it',
    (tx) => tx`update bids set status = 'shortlisted' where id = ${ids.guaranteed!}`,
  ],
  [
    'a version that was skipped',
    'a version counts the changes of its job',
    (tx) => tx`update jobs set version = version + 1 where id = ${ids.open!}`,
  ],
  [
    'a publication that was free',
    'a job was charged once for its publication, and what was paid is what it remembers',
    (tx) => tx`update token_transfers set job_id = null where job_id = ${ids.open!}`,
  ],
  [
    'a second charge',
    'a job was charged once for its publication, and what was paid is what it remembers',
    (tx) => tx`update token_transfers set job_id = ${ids.awarded!} where job_id = ${ids.open!}`,
  ],
  [
    'a bid that the clock rejected although the job did not expire',
    'an event has no actor exactly if the clock caused it',
    (tx) => tx`update events set actor_id = null where job_id = ${ids.awarded!} and type = 'bid.rejected'`,
  ],
  [
    'an expiry that someone called',
    'an event has no actor exactly if the clock caused it',
    (tx) => tx`update events set type = 'job.expired' where job_id = ${ids.cancelled!} and type = 'job.cancelled'`,
  ],
  [
    'an expiry without a reminder',
    'the clock acts only after it has reminded someone who can act, since the job came to its state',
    (tx) => tx`update events set type = 'job.expired', actor_id = null
      where job_id = ${ids.cancelled!} and type = 'job.cancelled'`,
  ],
  [
    'an expiry of which only admins were told',
    'the clock acts only after it has reminded someone who can act, since the job came to its state',
    async (tx) => {
      await tx`update events set type = 'job.expired', actor_id = null, sequence = 4
        where job_id = ${ids.cancelled!} and type = 'job.cancelled'`;
      await addEvent(tx, ids.cancelled!, 3, 'job.reminded', { to: 'admin' });
    },
  ],
  [
    'an expiry that was announced only before the job was reopened',
    'the clock acts only after it has reminded someone who can act, since the job came to its state',
    async (tx) => {
      await tx`update events set type = 'job.reminded', data = '{"to": "owner"}', actor_id = null, from_status = 'open',
        to_status = 'open' where job_id = ${ids.reopened!} and sequence = 3`;
      await addEvent(tx, ids.reopened!, 90, 'job.expired', {});
    },
  ],
  [
    'a reminder for nobody',
    'a reminder says for whom it is, and no other contractor can read it',
    (tx) => addEvent(tx, ids.open!, 90, 'job.reminded', {}),
  ],
  [
    'a reminder of a contractor that the next one could read',
    'a reminder says for whom it is, and no other contractor can read it',
    (tx) => addEvent(tx, ids.awarded!, 90, 'job.reminded', { to: 'awardee' }),
  ],
  [
    'a deadline that was extended twice',
    'a deadline is extended at most once per job and state',
    async (tx) => {
      await addEvent(tx, ids.open!, 90, 'job.deadline_extended', {});
      await addEvent(tx, ids.open!, 91, 'job.deadline_extended', {});
    },
  ],
  [
    'a stake that was released without a reminder',
    'the clock releases a stake once, of a bid that the owner has not looked at, after a reminder',
    (tx) => addEvent(tx, ids.open!, 90, 'bid.stake_released', { bidId: ids.guaranteed! }),
  ],
  [
    'a stake of a bid that the owner had looked at',
    'the clock releases a stake once, of a bid that the owner has not looked at, after a reminder',
    async (tx) => {
      await addEvent(tx, ids.reopened!, 90, 'job.reminded', { to: 'owner', bidId: ids.restored! });
      await addEvent(tx, ids.reopened!, 91, 'bid.stake_released', { bidId: ids.restored! });
    },
  ],
  [
    'a refund that went to someone else',
    'a refund returns what was paid, once, to the owner of a job that ended before any bid',
    (tx) => tx`update token_transfers set user_id = ${ids.carl!} where reason = 'publish_refund'`,
  ],
  [
    'a refund that was forgotten',
    'a refund returns what was paid, once, to the owner of a job that ended before any bid',
    (tx) => tx`delete from token_transfers where reason = 'publish_refund'`,
  ],
  [
    'a refund for a job that had bids',
    'a refund returns what was paid, once, to the owner of a job that ended before any bid',
    (tx) => tx`update token_transfers set job_id = ${ids.open!} where reason = 'publish_refund'`,
  ],
  [
    'a credit for nothing',
    'a contractor was credited for every job that was approved or completed with credit, and for no other',
    (tx) => tx`update contractors set completed_jobs = 1 where id = ${ids.carlsProfile!}`,
  ],
  [
    'a contractor with a former name',
    'a contractor has the name and the age of their account',
    (tx) => tx`update contractors set person_name = 'Carlos' where id = ${ids.carlsProfile!}`,
  ],
  [
    'a contractor who is younger than their account',
    'a contractor has the name and the age of their account',
    (tx) => tx`update contractors set created_at = created_at + interval '1 day' where id = ${ids.carlsProfile!}`,
  ],
  [
    'positions that run against the order of a job',
    'positions follow the order of each job, and the first so many events of it have one',
    (tx) => tx`update events set position = 1000000 - sequence where job_id = ${ids.open!}`,
  ],
  [
    'an account event at the position of a job event',
    'positions have no gaps and no duplicates, and the events of jobs and accounts share them',
    (tx) => tx`insert into account_events (id, user_id, type, occurred_at, position)
      values ('aev_other', ${ids.hanna!}, 'account.password_changed', now(), 1)`,
  ],
  [
    'an event of someone else’s job',
    'an event knows whose job it is',
    (tx) => tx`update events set homeowner_id = 'hmw_other' where job_id = ${ids.open!} and sequence = 1`,
  ],
  [
    'a review of a job that nobody approved',
    'a review matches the approval or the later rating, and its contractor did the job',
    (tx) =>
      tx`insert into reviews (id, job_id, contractor_id, author_id, rating, created_at)
        values ('evt_none', ${ids.awarded!}, ${ids.carlsProfile!}, ${ids.hanna!}, 5, now())`,
  ],
  [
    'a review of the job that its approval does not say',
    'a job has the rating and review from its approval, or those given later',
    (tx) => tx`update jobs set review = 'Well done.' where id = ${ids.awarded!}`,
  ],
  [
    'a rating of a job that nobody approved',
    'a later rating follows an approval without one, and only once',
    (tx) => tx`insert into events (id, job_id, sequence, type, actor_id, data, homeowner_id)
      select 'evt_none', id, 90, 'job.reviewed', ${ids.hanna!}, '{}', homeowner_id from jobs
      where id = ${ids.awarded!}`,
  ],
  [
    'a published job without a city',
    'a published job is whole',
    (tx) => tx`update jobs set city = null where id = ${ids.open!}`,
  ],
  [
    'a search that finds former words',
    'searches look through what the job says',
    (tx) => tx`update job_search set words = 'roof' where job_id = ${ids.open!}`,
  ],
  [
    'an open job that is searched for in vain',
    'searches for open jobs look through the same of these',
    (tx) => tx`delete from open_job_search where job_id = ${ids.open!}`,
  ],
];

async function addEvent(tx: TransactionSql, job: string, sequence: number, type: string, data: object): Promise<void> {
  await tx`insert into events (id, job_id, sequence, type, from_status, to_status, data, homeowner_id)
    select 'evt_' || ${sequence}::int, id, ${sequence}, ${type}, 'open', 'open', ${tx.json(data as never)}, homeowner_id
    from jobs where id = ${job}`;
}

class Undone extends Error {}

/**
 * Removing the guards locks every table, in a different order from the services' own statements. If the two deadlock,
 * Postgres ends one.
 */
async function againAfterDeadlocks(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK) throw error;
    }
  }
}

const DEADLOCK = '40P01';

describe('finds', () => {
  it.each(DAMAGES)('%s', async (_what, breaks, damage) => {
    let found: string[] = [];
    const work = () =>
      app.sql.begin(async (tx) => {
        await takeGuardsAway(tx);
        await damage(tx);
        found = await checkDatabase(tx);
        throw new Undone();
      });
    await expect(againAfterDeadlocks(work)).rejects.toThrow(Undone);
    expect(found.map((line) => line.split(': ')[0])).toContain(breaks);
  });

  it('a violation of every guarantee', () => {
    expect(PROMISE_NAMES.filter((name) => !DAMAGES.some(([, breaks]) => breaks === name))).toEqual([]);
  });

  it('and leaves everything as it was', async () => {
    expect(await checkDatabase(app.sql)).toEqual([]);
  });
});

/** Disables triggers and foreign keys, and drops checks and unique indexes. The rollback restores everything. */
async function takeGuardsAway(tx: TransactionSql): Promise<void> {
  await tx`set local session_replication_role = replica`;
  const checks = await tx<{ drop: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop from pg_constraint
    where contype = 'c' and connamespace = 'public'::regnamespace`;
  const indexes = await tx<{ drop: string }[]>`
    select format('drop index %s', indexrelid::regclass) as drop from pg_index join pg_class on pg_class.oid = indrelid
    where indisunique and not exists (select 1 from pg_constraint where conindid = indexrelid)
      and relnamespace = 'public'::regnamespace`;
  for (const { drop } of [...checks, ...indexes]) await tx.unsafe(drop);
}
