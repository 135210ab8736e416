/** The rules that a client can build its forms and buttons from. */
import { ObjectType } from 'type-graphql';
import {
  CATALOG,
  CATALOG_URGENCY,
  LIFECYCLE,
  LIFECYCLE_ACTION,
  LIFECYCLE_BID_ACTION,
  LIFECYCLE_BID_CONSEQUENCE,
} from '../../market/rules/entities/reference.js';
import { FieldsOf } from './field.js';

@ObjectType({ description: LIFECYCLE_ACTION.description })
@FieldsOf(LIFECYCLE_ACTION)
export class LifecycleAction {}

@ObjectType({ description: LIFECYCLE_BID_ACTION.description })
@FieldsOf(LIFECYCLE_BID_ACTION)
export class LifecycleBidAction {}

@ObjectType({ description: LIFECYCLE_BID_CONSEQUENCE.description })
@FieldsOf(LIFECYCLE_BID_CONSEQUENCE)
export class LifecycleBidConsequence {}

@ObjectType({ description: LIFECYCLE.description })
@FieldsOf(LIFECYCLE)
export class Lifecycle {}

@ObjectType({ description: CATALOG_URGENCY.description })
@FieldsOf(CATALOG_URGENCY)
export class CatalogUrgency {}

@ObjectType({ description: CATALOG.description })
@FieldsOf(CATALOG)
export class Catalog {}
