/** The OpenAPI document's named components. Other parts are written out where they're used. */
import { ADMIN_ACTION } from '../../market/rules/entities/admin-action.js';
import { API_KEY, NEW_API_KEY } from '../../market/rules/entities/api-key.js';
import { ACTIVE_SESSION } from '../../market/rules/entities/session.js';
import { BID, BID_REVISION, HOLD } from '../../market/rules/entities/bid.js';
import { TEST_CLOCK } from '../../market/rules/entities/deadline.js';
import { DISPUTE } from '../../market/rules/entities/dispute.js';
import { ACCOUNT_EVENT } from '../../market/rules/entities/account-event.js';
import { JOB_EVENT } from '../../market/rules/entities/event.js';
import { NOTIFICATION, NOTIFICATION_SETTINGS, READ_POSITION } from '../../market/rules/entities/notification.js';
import { CATALOG } from '../../market/rules/entities/reference.js';
import { CONTRACTOR } from '../../market/rules/entities/people.js';
import { REVIEW } from '../../market/rules/entities/review.js';
import {
  NEW_WEBHOOK,
  WEBHOOK_ATTEMPT,
  WEBHOOK_DELIVERY,
  WEBHOOK_ENDPOINT,
  WEBHOOK_REPLAY,
} from '../../market/rules/entities/webhook.js';
import { SAVED_SEARCH, SAVED_SEARCH_FILTER, SAVED_SEARCH_PLACE } from '../../market/rules/entities/saved-search.js';
import { NEW_PURCHASE, PURCHASE, TOKEN_PACK } from '../../market/rules/entities/purchase.js';
import { TOKEN_AUDIT, TOKEN_BALANCE, TOKEN_MISMATCH, TOKEN_TRANSFER } from '../../market/rules/entities/tokens.js';
import type { Entity } from '../../platform/fields/entity.js';
import {
  AVAILABLE_BID_ACTIONS,
  CHANGED_PASSWORD,
  REQUESTED_EMAIL,
  CONFIRMED_EMAIL,
  CONFIRMATION,
  EVENT_LOG,
  AVAILABLE_JOB_ACTIONS,
  JOB_COUNTS,
  UPCOMING_ACTIONS,
  LIFECYCLE_ON_WIRE,
  NOTIFICATION_FEED,
  ERROR_DETAILS,
  ME,
  NEW_CONTRACTOR_SESSION,
  NEW_HOMEOWNER_SESSION,
  CONTRACTOR_LIST_ITEM,
  JOB_LIST_ITEM,
  USER_LIST_ITEM,
  OWN_HOMEOWNER,
  OWN_USER,
  pageOf,
  PAGINATION,
  PROBLEM,
  PUBLICATION,
  REFRESHED_SESSION,
  PUBLIC_HOMEOWNER,
  PUBLIC_USER,
  SESSION,
  UNDONE_EMAIL_CHANGE,
  JOB_WITH_WARNINGS,
} from '../bodies.js';
import { answerSchema } from '../../platform/openapi/answer-schema.js';
import { refTo, type JsonSchema } from '../../platform/openapi/json-schema.js';
import { ACCOUNT_EVENT_MESSAGE, EVENT_MESSAGE, TEST_MESSAGE } from './webhooks.js';
import { bodySchema, requestName } from '../../platform/openapi/requests.js';
import { isList, rowOf, type Route, type Variants } from '../../platform/openapi/route.js';
import { ROUTES } from '../routes.js';

export const COMPONENTS: readonly (Entity | Variants)[] = [
  OWN_USER,
  USER_LIST_ITEM,
  PUBLIC_USER,
  OWN_HOMEOWNER,
  PUBLIC_HOMEOWNER,
  CONTRACTOR,
  CONTRACTOR_LIST_ITEM,
  REVIEW,
  JOB_WITH_WARNINGS,
  JOB_LIST_ITEM,
  BID,
  HOLD,
  BID_REVISION,
  JOB_EVENT,
  ACCOUNT_EVENT,
  EVENT_LOG,
  NOTIFICATION,
  NOTIFICATION_FEED,
  READ_POSITION,
  NOTIFICATION_SETTINGS,
  DISPUTE,
  TOKEN_BALANCE,
  TOKEN_TRANSFER,
  TOKEN_AUDIT,
  TOKEN_MISMATCH,
  PURCHASE,
  NEW_PURCHASE,
  TOKEN_PACK,
  API_KEY,
  ACTIVE_SESSION,
  ADMIN_ACTION,
  NEW_API_KEY,
  SAVED_SEARCH,
  SAVED_SEARCH_FILTER,
  SAVED_SEARCH_PLACE,
  WEBHOOK_ENDPOINT,
  NEW_WEBHOOK,
  WEBHOOK_DELIVERY,
  WEBHOOK_ATTEMPT,
  WEBHOOK_REPLAY,
  REFRESHED_SESSION,
  SESSION,
  NEW_HOMEOWNER_SESSION,
  NEW_CONTRACTOR_SESSION,
  ME,
  ...ME.variants,
  AVAILABLE_JOB_ACTIONS,
  AVAILABLE_BID_ACTIONS,
  JOB_COUNTS,
  UPCOMING_ACTIONS,
  TEST_CLOCK,
  CATALOG,
  LIFECYCLE_ON_WIRE,
  PUBLICATION,
  CONFIRMATION,
  CHANGED_PASSWORD,
  REQUESTED_EMAIL,
  CONFIRMED_EMAIL,
  UNDONE_EMAIL_CHANGE,
  PAGINATION,
  PROBLEM,
  ERROR_DETAILS,
  EVENT_MESSAGE,
  ACCOUNT_EVENT_MESSAGE,
  TEST_MESSAGE,
];

const namedComponents = new Set<unknown>(COMPONENTS);
const refOf = (entity: Entity) => (namedComponents.has(entity) ? refTo('schemas', entity.name) : undefined);

export function componentSchemas(): Record<string, JsonSchema> {
  const pages = ROUTES.filter(isList).map((route) => pageOf(rowOf(route)));
  return Object.fromEntries([
    ...[...COMPONENTS, ...pages].map((component) => [component.name, schemaOf(component)] as const),
    ...ROUTES.flatMap(requestSchema),
  ]);
}

function requestSchema(route: Route): [name: string, schema: JsonSchema][] {
  const body = bodySchema(route);
  return body ? [[requestName(route), body]] : [];
}

function schemaOf(component: Entity | Variants): JsonSchema {
  return 'variants' in component
    ? {
        description: component.description,
        oneOf: component.variants.map(({ name }) => ({ $ref: refTo('schemas', name) })),
      }
    : answerSchema(component, component.description, refOf);
}
