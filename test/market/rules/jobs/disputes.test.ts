import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import fc from '../../../setup/random/property.js';
import {
  DISPUTE_EVENT_TYPES,
  DISPUTE_TRANSITIONS,
  disputeFrom,
  resolutionMove,
  sameResolution,
} from '../../../../src/market/rules/jobs/disputes.js';
import type { DisputeEvent, ResolutionMove } from '../../../../src/market/rules/jobs/disputes.js';
import { EVENT_TYPES, type EventType } from '../../../../src/market/rules/events.js';
import { siblingOf, type UserId } from '../../../../src/market/rules/ids.js';
import { newId } from '../../../../src/market/store/new-id.js';
import { ada, carla, hannah } from '../people.js';

let minute = 0;
function event(type: EventType, actorId: UserId | null, data: DisputeEvent['data'] = {}): DisputeEvent {
  return { id: newId('event'), type, actorId, data, occurredAt: new Date(Date.UTC(2026, 5, 1, 12, minute++)) };
}

const opened = event('job.disputed', hannah.userId, { reason: 'Crooked tiles', details: 'By the window' });
const carlaProposes = event('job.resolution_proposed', carla.userId, {
  resolution: 'Redo the tiles',
  agreedBy: 'Carla',
});
const hannahCounters = event('job.resolution_proposed', hannah.userId, { resolution: 'Redo the tiles and 100 back' });
const carlaAgrees = event('job.dispute_resolved', carla.userId, {
  resolution: 'Redo the tiles  and 100 back',
  agreedBy: 'Carla',
});
const escalated = event('job.escalated', carla.userId, { escalationReason: 'No answer' });
const decided = event('job.decision_reached', ada.userId, {
  decision: 'for_homeowner',
  ruling: 'The tiles are crooked',
  resolutionTerms: 'Redo',
});
const appealed = event('job.appeal_filed', carla.userId, {
  appealReason: 'The wall is crooked',
  supportingEvidence: 'Photos',
});
const finalized = event('job.appeal_finalized', ada.userId, { finalDecision: 'split', ruling: 'Both are crooked' });
const completed = event('job.completed', ada.userId, { reason: 'Parties unreachable' });

describe('a dispute, computed from its events', () => {
  test("doesn't exist for a job that Hannah never disputed", () => {
    expect(disputeFrom([])).toBeNull();
    expect(
      disputeFrom([event('job.created', hannah.userId), event('job.published', hannah.userId), completed]),
    ).toBeNull();
  });

  test("has Hannah's words after she disputes, and nothing else", () => {
    expect(disputeFrom([event('job.submitted_for_review', carla.userId), opened])).toEqual({
      reason: 'Crooked tiles',
      details: 'By the window',
      openedBy: hannah.userId,
      openedAt: opened.occurredAt,
      proposal: null,
      escalation: null,
      decision: null,
      appeal: null,
      finalDecision: null,
      ending: null,
    });
  });

  test('has no details if Hannah gives none', () => {
    expect(disputeFrom([event('job.disputed', hannah.userId, { reason: 'Late', details: null })])?.details).toBeNull();
  });

  test("has Carla's proposal, with agreed_by as she wrote it", () => {
    expect(disputeFrom([opened, carlaProposes])?.proposal).toEqual({
      id: siblingOf('proposal', carlaProposes.id),
      resolution: 'Redo the tiles',
      proposedBy: carla.userId,
      agreedBy: 'Carla',
      proposedAt: carlaProposes.occurredAt,
    });
  });

  test("has Hannah's counterproposal instead of Carla's proposal", () => {
    expect(disputeFrom([opened, carlaProposes, hannahCounters])?.proposal).toMatchObject({
      resolution: 'Redo the tiles and 100 back',
      proposedBy: hannah.userId,
      agreedBy: null,
    });
  });

  test("ends with Carla's agreement: nothing is open, and the ending says who agreed to what", () => {
    expect(disputeFrom([opened, carlaProposes, hannahCounters, carlaAgrees])).toMatchObject({
      proposal: null,
      ending: { how: 'agreement', text: 'Redo the tiles  and 100 back', by: carla.userId, at: carlaAgrees.occurredAt },
    });
  });

  test("ends when Carla accepts Hannah's proposal: none is left, and the ending has its text", () => {
    const accepts = event('job.resolution_accepted', carla.userId, { proposalId: 'Hannah’s proposal' });
    expect(disputeFrom([opened, carlaProposes, hannahCounters, accepts])).toMatchObject({
      proposal: null,
      ending: { how: 'agreement', text: 'Redo the tiles and 100 back', by: carla.userId, at: accepts.occurredAt },
    });
  });

  test('ends when Carla accepts the decision: the ending has its text', () => {
    const accepts = event('job.decision_accepted', carla.userId);
    expect(disputeFrom([opened, escalated, decided, accepts])).toMatchObject({
      appeal: null,
      ending: { how: 'decision_accepted', text: 'for_homeowner', by: carla.userId, at: accepts.occurredAt },
    });
  });

  test('loses the current proposal when Carla escalates', () => {
    expect(disputeFrom([opened, hannahCounters, escalated])).toMatchObject({
      proposal: null,
      escalation: { reason: 'No answer', by: carla.userId, at: escalated.occurredAt },
      ending: null,
    });
  });

  test('loses the current proposal when the clock escalates, which gives its own reason', () => {
    const late = event('job.auto_escalated', null);
    expect(disputeFrom([opened, hannahCounters, late])).toMatchObject({
      proposal: null,
      escalation: {
        reason: 'The parties didn’t settle the dispute in time, so an admin decides it.',
        by: null,
        at: late.occurredAt,
      },
      ending: null,
    });
  });

  test('ends when the decision stands: the ending has its text, and nobody as its actor', () => {
    const stood = event('job.decision_stood', null);
    expect(disputeFrom([opened, escalated, decided, stood])).toMatchObject({
      ending: { how: 'decision_stood', text: 'for_homeowner', by: null, at: stood.occurredAt },
    });
    expect(disputeFrom([opened, escalated, stood])?.ending?.text).toBeNull();
  });

  test('keeps escalation, decision, appeal, and final ruling readable', () => {
    expect(disputeFrom([opened, escalated, decided, appealed, finalized])).toMatchObject({
      reason: 'Crooked tiles',
      escalation: { reason: 'No answer' },
      decision: { by: ada.userId, decision: 'for_homeowner', ruling: 'The tiles are crooked', resolutionTerms: 'Redo' },
      appeal: { by: carla.userId, reason: 'The wall is crooked', supportingEvidence: 'Photos' },
      finalDecision: { by: ada.userId, finalDecision: 'split', ruling: 'Both are crooked' },
      ending: { how: 'final_decision', text: 'split', by: ada.userId },
    });
  });

  test('can be ended by Ada, who completes the job after all this', () => {
    expect(disputeFrom([opened, carlaProposes, completed])).toMatchObject({
      proposal: null,
      ending: { how: 'completed_by_admin', text: 'Parties unreachable', by: ada.userId },
    });
  });

  test('keeps who and when for events whose texts were deleted: nothing reads as undefined', () => {
    const bare = ([opened, carlaProposes, escalated, decided, appealed, finalized] as const).map((whole) => ({
      ...whole,
      data: { reason: 5 },
    }));
    const said = (whole: DisputeEvent) => ({ by: whole.actorId, at: whole.occurredAt });
    expect(disputeFrom(bare.slice(0, 2))?.proposal).toEqual({
      id: siblingOf('proposal', carlaProposes.id),
      resolution: '',
      agreedBy: null,
      proposedBy: carla.userId,
      proposedAt: carlaProposes.occurredAt,
    });
    expect(disputeFrom(bare)).toEqual({
      reason: '',
      details: null,
      openedBy: hannah.userId,
      openedAt: opened.occurredAt,
      proposal: null,
      escalation: { ...said(escalated), reason: '' },
      decision: { ...said(decided), decision: '', ruling: '', resolutionTerms: null },
      appeal: { ...said(appealed), reason: '', supportingEvidence: null },
      finalDecision: { ...said(finalized), finalDecision: '', ruling: '' },
      ending: { ...said(finalized), how: 'final_decision', text: '' },
    });
  });

  test('is computed from exactly the event types that add to one', () => {
    const standing = disputeFrom([opened, carlaProposes]);
    const adds = EVENT_TYPES.filter(
      (type) => !isDeepStrictEqual(disputeFrom([opened, carlaProposes, event(type, ada.userId)]), standing),
    );
    expect([...DISPUTE_EVENT_TYPES].sort()).toEqual(adds.sort());
  });

  test('starts with one operation, and seven are only for disputed jobs', () => {
    expect(DISPUTE_TRANSITIONS.map(({ operation }) => operation)).toEqual([
      'disputeJob',
      'escalateJob',
      'resolveDispute',
      'acceptResolution',
      'reachDecision',
      'acceptDecision',
      'fileAppeal',
      'finalizeAppeal',
    ]);
  });

  test("isn't changed by events of other types", () => {
    expect(disputeFrom([opened, event('job.updated', hannah.userId, { reason: 'x' })])).toEqual(disputeFrom([opened]));
  });
});

describe('the meaning of a resolution', () => {
  const byCarla = { resolution: 'Redo the tiles', proposedBy: carla.userId };

  test.each<[name: string, standing: typeof byCarla | null, caller: UserId, resolution: string, move: ResolutionMove]>([
    ['Carla speaks first', null, carla.userId, 'Redo the tiles', 'propose'],
    ['Carla says it again', byCarla, carla.userId, 'Redo the tiles', 'repeat'],
    ['Carla says it again, spaced', byCarla, carla.userId, ' Redo\n the  tiles ', 'repeat'],
    ['Carla thinks better of it', byCarla, carla.userId, 'Redo half of the tiles', 'counter'],
    ['Hannah says the same', byCarla, hannah.userId, 'Redo the tiles', 'agree'],
    ['Hannah says the same, spaced', byCarla, hannah.userId, 'Redo the\ttiles\n', 'agree'],
    ['Hannah wants more', byCarla, hannah.userId, 'Redo the tiles!', 'counter'],
    ['Hannah shouts', byCarla, hannah.userId, 'REDO THE TILES', 'counter'],
    ['Hannah runs her words together', byCarla, hannah.userId, 'Redo thetiles', 'counter'],
  ])('%s', (_name, standing, caller, resolution, move) => {
    expect(resolutionMove(standing, caller, resolution)).toBe(move);
  });

  test('is the same exactly if the words are, whatever the spacing', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 4 });
    const space = fc.stringMatching(/^[ \t\n\u00a0]{1,3}$/);
    fc.assert(
      fc.property(words, words, space, space, (a, b, left, right) => {
        expect(sameResolution(a.join(left), b.join(right))).toBe(a.join(' ') === b.join(' '));
      }),
    );
  });

  test('is never an agreement with yourself', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (standing, resolution) => {
        expect(resolutionMove({ resolution: standing, proposedBy: carla.userId }, carla.userId, resolution)).not.toBe(
          'agree',
        );
      }),
    );
  });
});
