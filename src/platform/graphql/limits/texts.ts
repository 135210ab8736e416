/**
 * The maximum lengths of the texts in an answer, by type and field, from the entities. A field that is missing here is
 * short: an identifier, a time, a name that the service chose. A test checks every text of the schema.
 */
import type { z } from 'zod';
import { FIELD_TEXT } from '../../limits.js';
import { kindOf, metaOf } from '../../fields/shape-kinds.js';
import { ADMIN_ACTION } from '../../../market/rules/entities/admin-action.js';
import { API_KEY } from '../../../market/rules/entities/api-key.js';
import { ACTIVE_SESSION } from '../../../market/rules/entities/session.js';
import { BID } from '../../../market/rules/entities/bid.js';
import { DISPUTE, DISPUTE_PARTS } from '../../../market/rules/entities/dispute.js';
import { JOB_EVENT } from '../../../market/rules/entities/event.js';
import { JOB, JOB_WARNING } from '../../../market/rules/entities/job.js';
import { CONTRACTOR, HOMEOWNER, USER } from '../../../market/rules/entities/people.js';
import { REVIEW } from '../../../market/rules/entities/review.js';
import { TOKEN_TRANSFER } from '../../../market/rules/entities/tokens.js';
import { WEBHOOK_ATTEMPT, WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from '../../../market/rules/entities/webhook.js';
import type { Entity } from '../../fields/entity.js';

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
  if (kind.is === 'list') return FIELD_TEXT.listItems * charactersIn(kind.entry);
  const { maxLength, charactersMax } = metaOf(type);
  return charactersMax ?? maxLength ?? 0;
}
