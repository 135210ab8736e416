/**
 * The maximum lengths of the texts in an answer, by type and field, from the entities. A field that is missing here is
 * short: an identifier, a time, a name that the service chose. A test checks every text of the schema.
 */
import type { z } from 'zod';
import { kindOf, metaOf } from '../../operations/shape-kinds.js';
import { ADMIN_ACTION } from '../../rules/entities/admin-action.js';
import { API_KEY } from '../../rules/entities/api-key.js';
import { ACTIVE_SESSION } from '../../rules/entities/session.js';
import { BID } from '../../rules/entities/bid.js';
import { DISPUTE, DISPUTE_PARTS } from '../../rules/entities/dispute.js';
import { JOB_EVENT } from '../../rules/entities/event.js';
import { JOB, JOB_WARNING } from '../../rules/entities/job.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../../rules/entities/people.js';
import { REVIEW } from '../../rules/entities/review.js';
import { TOKEN_TRANSFER } from '../../rules/entities/tokens.js';
import { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../../rules/entities/webhook.js';
import type { Entity } from '../../rules/entity.js';
import { TEXT } from '../../rules/limits.js';

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

export const TEXT_CHARACTERS: Readonly<Record<string, Readonly<Record<string, number>>>> = Object.fromEntries(
  WITH_TEXTS.map(({ name, fields }) => [
    name,
    Object.fromEntries(
      Object.entries(fields)
        .map(([field, { type }]) => [field, charactersIn(type)] as const)
        .filter(([, characters]) => characters > 0),
    ),
  ]),
);

function charactersIn(type: z.core.$ZodType): number {
  const kind = kindOf(type);
  if (kind.is === 'list') return TEXT.listItems * charactersIn(kind.entry);
  const { maxLength, charactersMax } = metaOf(type);
  return charactersMax ?? maxLength ?? 0;
}
