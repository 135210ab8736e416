import {
  CATALOG,
  CATALOG_URGENCY,
  LIFECYCLE,
  LIFECYCLE_ACTION,
  LIFECYCLE_BID_ACTION,
  LIFECYCLE_BID_CONSEQUENCE,
} from '../../market/rules/entities/reference.js';
import { LIFECYCLE_DEADLINE, LIFECYCLE_REMINDER } from '../../market/rules/entities/deadline.js';
import { objectType } from './field.js';
// The catalog contains packs, whose type must exist first.
import './purchases.js';

export const LifecycleAction = objectType(LIFECYCLE_ACTION);
export const LifecycleBidAction = objectType(LIFECYCLE_BID_ACTION);
export const LifecycleBidConsequence = objectType(LIFECYCLE_BID_CONSEQUENCE);
export const LifecycleReminder = objectType(LIFECYCLE_REMINDER);
export const LifecycleDeadline = objectType(LIFECYCLE_DEADLINE);
export const Lifecycle = objectType(LIFECYCLE);
export const CatalogUrgency = objectType(CATALOG_URGENCY);
export const Catalog = objectType(CATALOG);
