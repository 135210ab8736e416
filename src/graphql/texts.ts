/** The maximum lengths of the strings in a response. A test checks every string in the schema. */
import { ADMIN_ACTION } from '../market/rules/entities/admin-action.js';
import { API_KEY } from '../market/rules/entities/api-key.js';
import { ACTIVE_SESSION } from '../market/rules/entities/session.js';
import { BID } from '../market/rules/entities/bid.js';
import { DISPUTE, DISPUTE_PARTS } from '../market/rules/entities/dispute.js';
import { JOB_EVENT } from '../market/rules/entities/event.js';
import { JOB, JOB_WARNING } from '../market/rules/entities/job.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../market/rules/entities/people.js';
import { REVIEW } from '../market/rules/entities/review.js';
import { TOKEN_TRANSFER } from '../market/rules/entities/tokens.js';
import { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../market/rules/entities/webhook.js';
import { textCharactersOf } from '../platform/graphql/limits/texts.js';
import type { Entity } from '../platform/fields/entity.js';

const WITH_TEXTS: readonly Entity[] = [
  USER,
  API_KEY,
  ACTIVE_SESSION,
  ADMIN_ACTION,
  HOMEOWNER,
  CONTRACTOR,
  REVIEW,
  JOB,
  JOB_WARNING,
  JOB_EVENT,
  BID,
  DISPUTE,
  ...Object.values(DISPUTE_PARTS),
  TOKEN_TRANSFER,
  WEBHOOK_ENDPOINT,
  WEBHOOK_DELIVERY,
  WEBHOOK_ATTEMPT,
];

export const TEXT_CHARACTERS = textCharactersOf(WITH_TEXTS);
