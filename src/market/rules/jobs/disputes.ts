/**
 * Computes a dispute from its job's events, because disputes have no table. Also decides what happens to the current
 * proposal when a party submits a resolution.
 */
import type { Effect } from './effects.js';
import type { Dispute, Proposal } from '../entities/dispute.js';
import { siblingOf, type EventId, type UserId } from '../ids.js';
import { CLOCK_TRANSITIONS } from './deadlines.js';
import { isTransition, JOB_ACTION_LIST, JOB_TRANSITIONS } from '../lifecycle.js';
import { isInDispute } from '../states.js';

export type { Dispute };

/** The transitions that start a dispute or are possible only during one. `complete` may also end a dispute. */
export const DISPUTE_TRANSITIONS = JOB_ACTION_LIST.filter(isTransition).filter(
  ({ from, effects }) => effects.includes('beginDispute') || from.every(isInDispute),
);

export const DISPUTE_EVENT_TYPES = [
  ...DISPUTE_TRANSITIONS.flatMap(({ event, mayKeepState }) => (mayKeepState ? [event, mayKeepState.event] : [event])),
  JOB_TRANSITIONS.complete.event,
  CLOCK_TRANSITIONS.escalate.event,
  CLOCK_TRANSITIONS.standDecision.event,
];

/** A proposal stands until the next one is made, or until the parties can no longer agree. */
export const PROPOSAL_EVENT = JOB_TRANSITIONS.resolveDispute.mayKeepState.event;

/** `data` contains the operation's own input, in camelCase. */
export interface DisputeEvent {
  readonly id: EventId;
  readonly type: string;
  readonly actorId: UserId | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly occurredAt: Date;
}

/** The events must be in chronological order. Null if the job was never disputed. */
export function disputeFrom(events: Iterable<DisputeEvent>): Dispute | null {
  let dispute: Dispute | null = null;
  for (const event of events) dispute = applyEvent(dispute, event);
  return dispute;
}

export type ResolutionMove = 'propose' | 'repeat' | 'counter' | 'agree';

/** `agree` ends the dispute, `repeat` changes nothing, and the others make the resolution the current proposal. */
export function resolutionMove(
  currentProposal: Pick<Proposal, 'resolution' | 'proposedBy'> | null,
  caller: UserId,
  resolution: string,
): ResolutionMove {
  if (currentProposal === null) return 'propose';
  if (!sameResolution(currentProposal.resolution, resolution)) return 'counter';
  return currentProposal.proposedBy === caller ? 'repeat' : 'agree';
}

/** Whitespace doesn't count. Any other difference does, because even a comma can change an amount. */
export function sameResolution(a: string, b: string): boolean {
  return collapseWhiteSpace(a) === collapseWhiteSpace(b);
}

function collapseWhiteSpace(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function applyEvent(dispute: Dispute | null, event: DisputeEvent): Dispute | null {
  const effects = effectsOf(event.type);
  if (effects.includes('beginDispute')) return newDispute(event);
  if (dispute === null) return null;
  return Object.assign(
    {},
    dispute,
    effects.includes('lapseProposal') && NO_PROPOSAL,
    PARTS_BY_EVENT[event.type]?.(event, dispute),
  );
}

function effectsOf(type: string): readonly Effect[] {
  return JOB_ACTION_LIST.find(({ event }) => event === type)?.effects ?? [];
}

/** The parties can no longer agree once an admin has been asked to decide or has ended the job. */
const NO_PROPOSAL: Pick<Dispute, 'proposal'> = { proposal: null };

function newDispute(event: DisputeEvent): Dispute {
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

/** What each type of event changes in a dispute. Events of other types change nothing. */
const PARTS_BY_EVENT: Readonly<Record<string, (event: DisputeEvent, before: Dispute) => Partial<Dispute>>> = {
  [PROPOSAL_EVENT]: (event) => ({ proposal: proposalFrom(event) }),
  [JOB_TRANSITIONS.resolveDispute.event]: (event) => ({
    proposal: null,
    ending: { ...actorAndTime(event), how: 'agreement', text: text(event, 'resolution') },
  }),
  [JOB_TRANSITIONS.acceptResolution.event]: (event, { proposal }) => ({
    proposal: null,
    ending: { ...actorAndTime(event), how: 'agreement', text: proposal?.resolution ?? null },
  }),
  [JOB_TRANSITIONS.escalate.event]: (event) => ({
    escalation: { ...actorAndTime(event), reason: text(event, 'escalationReason') ?? '' },
  }),
  [CLOCK_TRANSITIONS.escalate.event]: (event) => ({
    proposal: null,
    escalation: { ...actorAndTime(event), reason: CLOCK_TRANSITIONS.escalate.description },
  }),
  [CLOCK_TRANSITIONS.standDecision.event]: (event, { decision }) => ({
    ending: { ...actorAndTime(event), how: 'decision_stood', text: decision?.decision ?? null },
  }),
  [JOB_TRANSITIONS.reachDecision.event]: (event) => ({
    decision: {
      ...actorAndTime(event),
      decision: text(event, 'decision') ?? '',
      ruling: text(event, 'ruling') ?? '',
      resolutionTerms: text(event, 'resolutionTerms'),
    },
  }),
  [JOB_TRANSITIONS.acceptDecision.event]: (event, { decision }) => ({
    ending: { ...actorAndTime(event), how: 'decision_accepted', text: decision?.decision ?? null },
  }),
  [JOB_TRANSITIONS.fileAppeal.event]: (event) => ({
    appeal: {
      ...actorAndTime(event),
      reason: text(event, 'appealReason') ?? '',
      supportingEvidence: text(event, 'supportingEvidence'),
    },
  }),
  [JOB_TRANSITIONS.finalizeAppeal.event]: (event) => {
    const finalDecision = text(event, 'finalDecision') ?? '';
    return {
      finalDecision: { ...actorAndTime(event), finalDecision, ruling: text(event, 'ruling') ?? '' },
      ending: { ...actorAndTime(event), how: 'final_decision', text: finalDecision },
    };
  },
  [JOB_TRANSITIONS.complete.event]: (event) => ({
    ending: { ...actorAndTime(event), how: 'completed_by_admin', text: text(event, 'reason') },
  }),
};

export function proposalFrom(event: DisputeEvent): Proposal {
  return {
    id: siblingOf('proposal', event.id),
    resolution: text(event, 'resolution') ?? '',
    agreedBy: text(event, 'agreedBy'),
    proposedBy: event.actorId,
    proposedAt: event.occurredAt,
  };
}

function actorAndTime(event: DisputeEvent): { by: UserId | null; at: Date } {
  return { by: event.actorId, at: event.occurredAt };
}

function text(event: DisputeEvent, name: string): string | null {
  const value = event.data[name];
  return typeof value === 'string' ? value : null;
}
