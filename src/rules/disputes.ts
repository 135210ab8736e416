/**
 * A dispute is not kept anywhere: it is what the events of its job add up to. This file adds them up, and decides what
 * a party's resolution means, given the current proposal.
 */
import type { Effect } from './effects.js';
import type { Dispute, Proposal } from './entities/dispute.js';
import type { UserId } from './ids.js';
import { isTransition, JOB_ACTION_LIST, JOB_TRANSITIONS } from './lifecycle.js';
import { isInDispute } from './states.js';

export type { Dispute };

/** What begins disputes, and what is done in them alone; `complete` may end one besides. */
export const DISPUTE_TRANSITIONS = JOB_ACTION_LIST.filter(isTransition).filter(
  ({ from, effects }) => effects.includes('beginDispute') || from.every(isInDispute),
);

/** Everything that can happen in a dispute. */
export const DISPUTE_EVENT_TYPES = [
  ...DISPUTE_TRANSITIONS.flatMap(({ event, mayKeepState }) => (mayKeepState ? [event, mayKeepState.event] : [event])),
  JOB_TRANSITIONS.complete.event,
];

/** Of an event, what a dispute is made of; `data` holds the operation's own input, in camelCase. */
export interface DisputeEvent {
  readonly type: string;
  readonly actorId: UserId | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly occurredAt: Date;
}

/** Null where the job was never disputed. The events come in the order in which they happened. */
export function disputeFrom(events: Iterable<DisputeEvent>): Dispute | null {
  let dispute: Dispute | null = null;
  for (const event of events) dispute = after(dispute, event);
  return dispute;
}

export type ResolutionMove = 'propose' | 'repeat' | 'counter' | 'agree';

/** Only `agree` ends the dispute, and `repeat` changes nothing; the other two make the text the standing proposal. */
export function resolutionMove(
  standing: Pick<Proposal, 'resolution' | 'proposedBy'> | null,
  caller: UserId,
  resolution: string,
): ResolutionMove {
  if (standing === null) return 'propose';
  if (!sameResolution(standing.resolution, resolution)) return 'counter';
  return standing.proposedBy === caller ? 'repeat' : 'agree';
}

/** White space is all that may differ: a comma can be worth money. */
export function sameResolution(a: string, b: string): boolean {
  return collapsed(a) === collapsed(b);
}

function collapsed(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function after(dispute: Dispute | null, event: DisputeEvent): Dispute | null {
  const effects = effectsOf(event.type);
  if (effects.includes('beginDispute')) return opened(event);
  if (dispute === null) return null;
  return Object.assign(
    {},
    dispute,
    effects.includes('lapseProposal') && NO_PROPOSAL,
    PARTS_BY_EVENT[event.type]?.(event),
  );
}

function effectsOf(type: string): readonly Effect[] {
  return JOB_ACTION_LIST.find(({ event }) => event === type)?.effects ?? [];
}

/** No one can agree any more once an admin has been asked, or has ended the job. */
const NO_PROPOSAL: Pick<Dispute, 'proposal'> = { proposal: null };

function opened(event: DisputeEvent): Dispute {
  return {
    reason: text(event, 'reason') ?? '',
    details: text(event, 'details'),
    openedBy: event.actorId,
    openedAt: event.occurredAt,
    proposal: null,
    escalation: null,
    decision: null,
    appeal: null,
    finalDecision: null,
    ending: null,
  };
}

/** The parts of the dispute that each later event adds; all others add nothing. */
const PARTS_BY_EVENT: Readonly<Record<string, (event: DisputeEvent) => Partial<Dispute>>> = {
  [JOB_TRANSITIONS.resolveDispute.mayKeepState.event]: (event) => ({
    proposal: {
      resolution: text(event, 'resolution') ?? '',
      agreedBy: text(event, 'agreedBy'),
      proposedBy: event.actorId,
      proposedAt: event.occurredAt,
    },
  }),
  [JOB_TRANSITIONS.resolveDispute.event]: (event) => ({
    proposal: null,
    ending: { ...said(event), how: 'agreement', text: text(event, 'resolution') },
  }),
  [JOB_TRANSITIONS.escalate.event]: (event) => ({
    escalation: { ...said(event), reason: text(event, 'escalationReason') ?? '' },
  }),
  [JOB_TRANSITIONS.reachDecision.event]: (event) => ({
    decision: {
      ...said(event),
      decision: text(event, 'decision') ?? '',
      ruling: text(event, 'ruling') ?? '',
      resolutionTerms: text(event, 'resolutionTerms'),
    },
  }),
  [JOB_TRANSITIONS.fileAppeal.event]: (event) => ({
    appeal: {
      ...said(event),
      reason: text(event, 'appealReason') ?? '',
      supportingEvidence: text(event, 'supportingEvidence'),
    },
  }),
  [JOB_TRANSITIONS.finalizeAppeal.event]: (event) => {
    const finalDecision = text(event, 'finalDecision') ?? '';
    return {
      finalDecision: { ...said(event), finalDecision, ruling: text(event, 'ruling') ?? '' },
      ending: { ...said(event), how: 'final_decision', text: finalDecision },
    };
  },
  [JOB_TRANSITIONS.complete.event]: (event) => ({
    ending: { ...said(event), how: 'completed_by_admin', text: text(event, 'reason') },
  }),
};

function said(event: DisputeEvent): { by: UserId | null; at: Date } {
  return { by: event.actorId, at: event.occurredAt };
}

function text(event: DisputeEvent, name: string): string | null {
  const value = event.data[name];
  return typeof value === 'string' ? value : null;
}
