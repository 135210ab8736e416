import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JOB_STATES } from '../../src/market/rules/states.js';
import { openTestApp, type TestApp } from '../setup/app.js';
import { gather, givenJob, wayTo, type People } from './journey.js';
import { isAwarded, isIn } from './specified.js';

const TO_REVIEW = ['publish', 'award', 'checkIn', 'submitForReview'];
const TO_APPEAL = [...TO_REVIEW, 'dispute', 'escalate', 'reachDecision', 'fileAppeal'];

describe("a job's journey", () => {
  test('to its completion is the normal flow, and not a shortcut by an admin', () => {
    expect(wayTo('completed')).toEqual([...TO_REVIEW, 'approve']);
  });

  test('to a cancellation goes as far as the work, so there is something to cancel', () => {
    expect(wayTo('cancelled')).toEqual(['publish', 'award', 'checkIn', 'cancel']);
  });

  test('through a dispute ends by agreement, or continues to the final ruling', () => {
    expect(wayTo('completed', 'disputed')).toEqual(['resolveDispute']);
    expect(wayTo('appealed')).toEqual(TO_APPEAL);
    expect(wayTo('completed', 'appealed')).toEqual(['finalizeAppeal']);
  });

  test("doesn't lead out of a final state", () => {
    expect(() => wayTo('open', 'completed')).toThrow('No row of the table leads from completed to open.');
  });
});

describe("Olive's job, led by real calls,", () => {
  let app: TestApp;
  let people: People;
  beforeAll(async () => {
    app = await openTestApp();
    people = await gather(app);
  });
  afterAll(() => app.close());

  test.each(JOB_STATES)('is %s, with the bids that it has by then', async (state) => {
    const job = await givenJob(app, state, people);
    const [row] = await app.sql`select status, awarded_bid_id, (select json_object_agg(id, status) from bids
        where job_id = jobs.id) as bids from jobs where id = ${job.id}`;
    expect(row).toEqual({
      status: state,
      awarded_bid_id: isAwarded(state) ? job.bids.awardee : null,
      bids: isIn('unpublished', state)
        ? null
        : {
            [job.bids.awardee!]: isAwarded(state) ? 'accepted' : 'pending',
            [job.bids.bidder!]: isAwarded(state) ? 'rejected' : 'pending',
          },
    });
  });

  test.each(['disputed', 'appealed'] as const)('is completed after it was %s', async (through) => {
    const { id } = await givenJob(app, 'completed', people, { through });
    const { body } = await app.rest('GET', `/v1/jobs/${id}/dispute`, { token: people.awardee.token });
    expect(body.ending.how).toBe(through === 'disputed' ? 'agreement' : 'final_decision');
    const ledger = await app.graphql('{ auditTokens { ok mismatches { userId } } }', { token: people.admin.token });
    expect(ledger.data.auditTokens).toEqual({ ok: true, mismatches: [] });
  });
});
