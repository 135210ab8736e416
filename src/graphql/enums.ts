/** The domain's closed lists as GraphQL enums: uppercase on the wire, the domain's own word inside. */
import { registerEnumType } from 'type-graphql';
import { BID_TRANSITION_LIST } from '../market/rules/bids.js';
import { API_KEY_ACCESSES } from '../market/rules/entities/api-key.js';
import { DISPUTE_ENDINGS } from '../market/rules/entities/dispute.js';
import { WARNING_CODES } from '../market/rules/entities/job.js';
import { CONTRACTOR_ORDERS } from '../market/rules/entities/people.js';
import { HOLD_STATES, TRANSFER_REASON_KEYS, TRANSFER_REASONS } from '../market/rules/tokens.js';
import { EMAIL_UNDO_DECISIONS, EMAIL_UNDO_STATES } from '../market/rules/people/email-undo.js';
import { ERROR_CODES, reasonsOf, REFUSALS, type ErrorCode } from '../market/rules/errors.js';
import { EVENT_DESCRIPTIONS, EVENT_TYPES } from '../market/rules/events.js';
import { JOB_ORDERS } from '../market/rules/jobs/orders.js';
import { JOB_ACTION_LIST } from '../market/rules/lifecycle.js';
import { BID_STATES, JOB_STATE_ROWS, JOB_STATES } from '../market/rules/states.js';
import { PUBLISH_COST, URGENCIES } from '../market/rules/jobs/publishing.js';
import { ROLES } from '../market/rules/viewer.js';
import {
  DELIVERED_TYPES,
  DELIVERY_STATES,
  DELIVERY_STATUSES,
  TEST_EVENT_TYPE,
  WEBHOOK_PAUSE_REASONS,
  WEBHOOK_PAUSES,
  WEBHOOK_STATES,
} from '../market/rules/webhooks.js';

type Describe<V extends string> = Readonly<Record<V, string>>;

/** The enums by the `enumName` of their fields. */
const enums = new Map<string, object>();

export function enumNamed(name: string): object | undefined {
  return enums.get(name);
}

/** Registers a list under a name, and returns the object that identifies the enum in type-graphql. */
function choice<V extends string>(
  name: string,
  description: string,
  values: readonly V[],
  ofValues: Describe<V>,
): Record<string, V> {
  const enumObject = Object.fromEntries(values.map((value) => [spelling(value), value]));
  const valuesConfig = Object.fromEntries(values.map((value) => [spelling(value), { description: ofValues[value] }]));
  registerEnumType(enumObject, { name, description, valuesConfig });
  enums.set(name, enumObject);
  return enumObject;
}

function spelling(value: string): string {
  return value.replaceAll('.', '_').toUpperCase();
}

choice('UserType', 'The three kinds of account.', ROLES, {
  homeowner: 'Posts jobs and awards them.',
  contractor: 'Bids on jobs and does the work.',
  admin: 'Decides disputes and verifies contractors.',
});

choice('EmailUndo', 'The state of a request to undo an email change.', EMAIL_UNDO_STATES, {
  pending: 'The account was used after the change, so support has to decide with `settleEmailUndo`.',
  undone: 'The account has its former address again.',
  settled: 'Support has decided.',
});

choice('EmailUndoDecision', 'Which address keeps the account.', EMAIL_UNDO_DECISIONS, {
  current: 'The account’s current address.',
  former: 'The former address, whose owner requested the undo.',
});

choice(
  'TokenTransferReason',
  'Why tokens moved.',
  TRANSFER_REASON_KEYS,
  mapValues(TRANSFER_REASONS, ({ description }) => `${description}.`),
);

choice('ErrorCode', 'Every code that `errors[].extensions.code` can bear.', ERROR_CODES, {
  ...mapValues(REFUSALS, ([status, sentence], code) => `${sentence} REST answers ${status}.${reasonsInWords(code)}`),
  PERSISTED_QUERY_NOT_FOUND:
    'No document with this hash is kept here; send the request again with its `query`. Not in REST.',
});

function reasonsInWords(code: ErrorCode): string {
  const reasons = Object.entries(reasonsOf(code)).map(([reason, meaning]) => `\`${reason}\`, ${meaning}`);
  return reasons.length > 0 ? ` \`errors[].extensions.reason\` names the reason: ${reasons.join('; ')}.` : '';
}

choice(
  'JobStatus',
  'The state of a job.',
  JOB_STATES,
  mapValues(JOB_STATE_ROWS, ({ description }) => description),
);

export const JobOrderEnum = choice('JobOrder', 'In which order jobs are listed.', JOB_ORDERS, {
  newest: 'The last written first.',
  oldest: 'The first written first.',
  recently_updated: 'What changed last first; what changes while the list is read moves to its beginning.',
  highest_budget: 'The highest `budgetMax` first; jobs without one come last.',
  longest_unchanged: 'Those that have been in their state for longest first; for admins.',
  nearest: 'Those nearest to the place of the filter, within 100 miles of it, and of equally near ones the newest.',
});

export const BidStatus = choice('BidStatus', 'The state of a bid.', BID_STATES, {
  pending: 'Not looked at yet.',
  viewed: 'Read by the homeowner.',
  shortlisted: 'Shortlisted by the homeowner.',
  accepted: 'It got the job.',
  rejected: 'Declined, passed over, or ended with its job.',
  withdrawn: 'Taken back by the contractor.',
});

choice('HoldStatus', 'Whether tokens are still staked.', HOLD_STATES, {
  active: 'The tokens are held.',
  released: 'The tokens are free again.',
});

choice('Urgency', 'How soon a job should be done; it sets the price of publishing.', URGENCIES, {
  standard: `Publishing costs ${PUBLISH_COST.standard} tokens.`,
  priority: `Publishing costs ${PUBLISH_COST.priority} tokens.`,
  urgent: `Publishing costs ${PUBLISH_COST.urgent} tokens.`,
});

choice(
  'JobAction',
  'Every operation on a job.',
  JOB_ACTION_LIST.map(({ action }) => action),
  Object.fromEntries(
    JOB_ACTION_LIST.map(({ action, description, operation }) => [action, `${description} Mutation \`${operation}\`.`]),
  ),
);

choice('JobWarningCode', 'The problem that a warning reports.', WARNING_CODES, {
  UNKNOWN_CATEGORY: 'The category is not in the catalog.',
  UNKNOWN_PLACE: 'We don’t know the ZIP code, or we don’t know a city of that name in the state.',
  PLACE_MISMATCH: 'The ZIP code and the city are far apart.',
  DATE_IN_PAST: 'A date is in the past in every time zone.',
});

choice(
  'BidAction',
  'Every operation on a bid.',
  BID_TRANSITION_LIST.map(({ action }) => action),
  Object.fromEntries(
    BID_TRANSITION_LIST.map(({ action, description, operation }) => [
      action,
      `${description} Mutation \`${operation}\`.`,
    ]),
  ),
);

choice('JobEventType', 'What can happen to a job or to a bid on it.', EVENT_TYPES, EVENT_DESCRIPTIONS);
export const ContractorOrderEnum = choice('ContractorOrder', 'Which contractors come first.', CONTRACTOR_ORDERS, {
  newest: 'Those who joined last.',
  best_rated:
    'Those with the best average of ratings, and of equal ones those with more ratings; the unrated come last.',
  most_completed: 'Those with the most completed jobs, and of equal ones the best rated.',
  nearest: 'Those nearest to the place of the filter, and of equally near ones the best rated.',
});

choice('DisputeEnding', 'How a dispute ended.', DISPUTE_ENDINGS, {
  agreement: 'Both parties sent the same resolution, or one accepted the other’s proposal.',
  decision_accepted: 'The contractor accepted an admin’s decision.',
  final_decision: 'An admin gave the final ruling on an appeal.',
  completed_by_admin: 'An admin completed the job outside the normal flow.',
});

choice('ApiKeyAccess', 'What an API key may do.', API_KEY_ACCESSES, {
  read: 'Queries and subscriptions; every mutation is FORBIDDEN.',
  full: 'Whatever its owner may do, but for email, password, sessions, keys and webhooks.',
});

choice('WebhookStatus', 'Whether a webhook endpoint is sent to.', WEBHOOK_STATES, {
  active: 'Events are sent.',
  paused: 'Events wait.',
});

choice('WebhookPauseReason', 'Why a webhook endpoint is paused.', WEBHOOK_PAUSE_REASONS, WEBHOOK_PAUSES);

choice('WebhookEventType', 'What is sent to webhook endpoints.', DELIVERED_TYPES, {
  ...EVENT_DESCRIPTIONS,
  [TEST_EVENT_TYPE]: 'A test, by `sendTestEvent`.',
});

export const WebhookDeliveryStatus = choice(
  'WebhookDeliveryStatus',
  'The state of a delivery.',
  DELIVERY_STATUSES,
  DELIVERY_STATES,
);

function mapValues<K extends string, V, R>(record: Readonly<Record<K, V>>, map: (value: V, key: K) => R): Record<K, R> {
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, map(value, key as K)])) as Record<
    K,
    R
  >;
}
