/**
 * The domain's fixed lists of values as GraphQL enums. Clients see uppercase names, and the code sees the domain's
 * words.
 */
import { registerEnumType } from 'type-graphql';
import { ACCOUNT_EVENT_DESCRIPTIONS, ACCOUNT_EVENT_TYPES } from '../market/rules/account-events.js';
import { BID_ACTION_LIST } from '../market/rules/bids.js';
import { API_KEY_ACCESSES } from '../market/rules/entities/api-key.js';
import { DISPUTE_ENDINGS } from '../market/rules/entities/dispute.js';
import { WARNING_CODES } from '../market/rules/entities/job.js';
import { CONTRACTOR_ORDERS } from '../market/rules/entities/people.js';
import { HOLD_STATES, TRANSFER_REASON_KEYS, TRANSFER_REASONS } from '../market/rules/tokens.js';
import { EMAIL_UNDO_DECISIONS, EMAIL_UNDO_STATES } from '../market/rules/people/email-undo.js';
import { ERROR_CODES, reasonsOf, REFUSALS, type ErrorCode } from '../market/rules/errors.js';
import { EVENT_DESCRIPTIONS, EVENT_TYPES } from '../market/rules/events.js';
import { CLOCK_ACTIONS, CLOCK_TRANSITIONS, DEADLINE_MODES, STAKE_DEADLINE } from '../market/rules/jobs/deadlines.js';
import { JOB_ORDERS } from '../market/rules/jobs/orders.js';
import { JOB_ACTION_LIST } from '../market/rules/lifecycle.js';
import { NEAREST_MILES_MAX } from '../market/rules/market-limits.js';
import { CHANNELS, EMAIL_PROBLEMS, NOTIFIED_TYPES } from '../market/rules/notifications.js';
import { PURCHASE_STATE_KEYS, PURCHASE_STATES } from '../market/rules/purchases.js';
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

/** The enums by the `enumName` of the fields that use them. */
const enums = new Map<string, object>();

export function enumNamed(name: string): object | undefined {
  return enums.get(name);
}

/** Returns the object that identifies the enum in type-graphql. */
function registerEnum<V extends string>(
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

registerEnum('UserType', 'The types of account.', ROLES, {
  homeowner: 'Posts jobs and awards them.',
  contractor: 'Bids on jobs and does the work.',
  admin: 'Decides disputes and verifies contractors.',
});

registerEnum('EmailUndo', 'The state of a request to undo an email change.', EMAIL_UNDO_STATES, {
  pending:
    'Support must decide with `settleEmailUndo`, because the account was used after the change or because of another ' +
    'request to undo a change.',
  undone: 'The account has its former address again.',
  settled: 'Support has decided.',
});

registerEnum('EmailUndoDecision', 'The address that keeps the account.', EMAIL_UNDO_DECISIONS, {
  current: 'The account’s current address.',
  former: 'The former address, whose owner requested the undo.',
});

registerEnum(
  'TokenTransferReason',
  'The reason for a transfer.',
  TRANSFER_REASON_KEYS,
  mapValues(TRANSFER_REASONS, ({ description }) => `${description}.`),
);

registerEnum('PurchaseStatus', 'The status of a purchase.', PURCHASE_STATE_KEYS, PURCHASE_STATES);

registerEnum('ErrorCode', 'The error codes in `errors[].extensions.code`.', ERROR_CODES, {
  ...mapValues(REFUSALS, ([status, sentence], code) => `${sentence} REST returns ${status}.${reasonsInWords(code)}`),
  PERSISTED_QUERY_NOT_FOUND:
    'The server doesn’t have a document with this hash. Send the request again with the `query`. Not used in ' +
    'REST.',
});

function reasonsInWords(code: ErrorCode): string {
  const reasons = Object.entries(reasonsOf(code)).map(([reason, meaning]) => `\n- \`${reason}\`: ${meaning}`);
  return reasons.length > 0 ? `\n\nThe reason is in \`errors[].extensions.reason\`:\n${reasons.join('')}` : '';
}

registerEnum(
  'JobStatus',
  'The status of a job.',
  JOB_STATES,
  mapValues(JOB_STATE_ROWS, ({ description }) => description),
);

export const JobOrderEnum = registerEnum('JobOrder', 'The order of a list of jobs.', JOB_ORDERS, {
  newest:
    'The most recently created jobs first. A job’s place depends on when its draft was created, not on when it was ' +
    'published. To see new open jobs first, use `RECENTLY_UPDATED`.',
  oldest: 'The oldest jobs first.',
  recently_updated:
    'The most recently changed jobs first. If a job changes while you read the list, it moves to the top.',
  highest_budget: 'The highest `budgetMax` first. Jobs without one come last.',
  longest_unchanged:
    'The jobs that have been in their current status longest come first. Only admins can use this order.',
  nearest:
    `The jobs nearest to the filter’s place first, within ${NEAREST_MILES_MAX} miles. ` +
    'At the same distance, newer jobs come first.',
});

export const BidStatus = registerEnum('BidStatus', 'The status of a bid.', BID_STATES, {
  pending: 'The homeowner hasn’t viewed the bid yet.',
  viewed: 'The homeowner has viewed the bid.',
  shortlisted: 'The homeowner has shortlisted the bid.',
  accepted: 'The job was awarded to this bid.',
  rejected: 'The homeowner rejected the bid, awarded another one, or took the award back, or the job ended.',
  withdrawn: 'The contractor withdrew the bid or declined the award.',
});

registerEnum('HoldStatus', 'The status of staked tokens.', HOLD_STATES, {
  active: 'The tokens are held.',
  released: 'The tokens were released.',
});

registerEnum('Urgency', 'How soon a job should be done. It sets the price of publishing.', URGENCIES, {
  standard: `Publishing costs ${PUBLISH_COST.standard} tokens.`,
  priority: `Publishing costs ${PUBLISH_COST.priority} tokens.`,
  urgent: `Publishing costs ${PUBLISH_COST.urgent} tokens.`,
});

registerEnum(
  'JobAction',
  'The operations on a job.',
  JOB_ACTION_LIST.map(({ action }) => action),
  Object.fromEntries(
    JOB_ACTION_LIST.map(({ action, description, operation }) => [
      action,
      `${description} Use the \`${operation}\` mutation.`,
    ]),
  ),
);

registerEnum('JobWarningCode', 'The problem that a warning reports.', WARNING_CODES, {
  UNKNOWN_CATEGORY: 'The category isn’t in the catalog.',
  UNKNOWN_PLACE: 'We don’t know the ZIP code, or we don’t know a city of that name in the state.',
  PLACE_MISMATCH: 'The ZIP code and the city are far apart.',
  DATE_IN_PAST: 'A date is in the past in every time zone.',
});

registerEnum(
  'BidAction',
  'The operations on a bid.',
  BID_ACTION_LIST.map(({ action }) => action),
  Object.fromEntries(
    BID_ACTION_LIST.map(({ action, description, operation }) => [
      action,
      `${description} Use the \`${operation}\` mutation.`,
    ]),
  ),
);

registerEnum('JobEventType', 'The types of events on a job and its bids.', EVENT_TYPES, EVENT_DESCRIPTIONS);

export const ContractorOrderEnum = registerEnum(
  'ContractorOrder',
  'The order of a list of contractors.',
  CONTRACTOR_ORDERS,
  {
    newest: 'The newest contractors first.',
    best_rated:
      'The best average rating first. If averages are equal, contractors with more ratings come first. Unrated ' +
      'contractors come last.',
    most_completed: 'The most completed jobs first. If numbers are equal, the better rating comes first.',
    nearest:
      'The contractors nearest to the filter’s place first. At the same distance, the better rating comes first.',
  },
);

registerEnum('ClockAction', 'What the service does when a deadline passes.', CLOCK_ACTIONS, {
  expire: CLOCK_TRANSITIONS.expire.description,
  approve: CLOCK_TRANSITIONS.approve.description,
  escalate: CLOCK_TRANSITIONS.escalate.description,
  stand_decision: CLOCK_TRANSITIONS.standDecision.description,
  release_stake: STAKE_DEADLINE.description,
});

registerEnum('DeadlineMode', 'What a server does about deadlines.', DEADLINE_MODES, {
  off: 'It doesn’t send reminders or act.',
  remind: 'It reminds people, and tells admins when a deadline has passed.',
  act: 'It reminds people, and acts when a deadline passes.',
});

registerEnum('DisputeEnding', 'The ways in which a dispute can end.', DISPUTE_ENDINGS, {
  agreement: 'Both parties sent the same resolution, or one accepted the other’s proposal.',
  decision_accepted: 'The contractor accepted an admin’s decision.',
  decision_stood: 'The contractor didn’t appeal an admin’s decision in time.',
  final_decision: 'An admin made the final ruling on an appeal.',
  completed_by_admin: 'An admin completed the job outside the normal flow.',
});

registerEnum('ApiKeyAccess', 'What an API key can do.', API_KEY_ACCESSES, {
  read: 'Queries and subscriptions only. Every mutation that requires a login fails with `FORBIDDEN`.',
  full: 'Everything that its owner can do, except manage the email address, password, sessions, and API keys.',
});

registerEnum('WebhookStatus', 'The status of a webhook endpoint.', WEBHOOK_STATES, {
  active: 'Events are sent.',
  paused: 'Events wait.',
});

registerEnum('WebhookPauseReason', 'Why a webhook endpoint is paused.', WEBHOOK_PAUSE_REASONS, WEBHOOK_PAUSES);

registerEnum('WebhookEventType', 'The types of events that webhook endpoints get.', DELIVERED_TYPES, {
  ...EVENT_DESCRIPTIONS,
  ...ACCOUNT_EVENT_DESCRIPTIONS,
  [TEST_EVENT_TYPE]: 'A test event, sent by `sendTestEvent`.',
});

registerEnum('AccountEventType', 'The types of events on an account.', ACCOUNT_EVENT_TYPES, ACCOUNT_EVENT_DESCRIPTIONS);

registerEnum('NotificationType', 'The types of events that people are notified of.', NOTIFIED_TYPES, {
  ...EVENT_DESCRIPTIONS,
  ...ACCOUNT_EVENT_DESCRIPTIONS,
});

registerEnum('NotificationChannel', 'When a notification is emailed.', CHANNELS, {
  now: 'Immediately.',
  daily: 'In the daily digest.',
  off: 'Never. It’s still in the feed.',
});

registerEnum('EmailProblem', 'Why you don’t get emails about notifications.', EMAIL_PROBLEMS, {
  unconfirmed: 'You haven’t confirmed your email address.',
  undeliverable: 'The mail server permanently rejected the last email to your address.',
});

export const WebhookDeliveryStatus = registerEnum(
  'WebhookDeliveryStatus',
  'The status of a delivery.',
  DELIVERY_STATUSES,
  DELIVERY_STATES,
);

function mapValues<K extends string, V, R>(record: Readonly<Record<K, V>>, map: (value: V, key: K) => R): Record<K, R> {
  return Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, map(value, key as K)])) as Record<
    K,
    R
  >;
}
