/** Converts results that REST shows in a different form than the operation returns, with names in REST's spelling. */
import type { Me } from '../market/operations/accounts/me.js';
import type { readCatalog, readLifecycle } from '../market/operations/reference.js';
import type { AvailableAction, AvailableBidAction } from '../market/rules/jobs/available-actions.js';
import type { ShownRow } from '../platform/fields/entity.js';
import type { CONFIRMATION, MeOnWire } from './bodies.js';
import { wireName } from '../platform/openapi/wire.js';

export function confirmationBody(message: string): ShownRow<typeof CONFIRMATION> {
  return { status: 200, message, data: {} };
}

export function onlyOwnProfile({ user, homeowner, contractor, ...rest }: Me): MeOnWire {
  return { user, ...(homeowner && { homeowner }), ...(contractor && { contractor }), ...rest };
}

/** Names as REST spells them: `check_in`, `address_line1`. */
export function actionsOnWire({ data }: { data: AvailableAction[] }) {
  return {
    data: data.map(({ action, missingFields, ...rest }) => ({
      ...rest,
      action: action.toLowerCase(),
      missingFields: missingFields.map(wireName),
    })),
  };
}

export function bidActionsOnWire({ data }: { data: AvailableBidAction[] }) {
  return { data: data.map(({ action, ...rest }) => ({ ...rest, action: action.toLowerCase() })) };
}

type CatalogRead = Awaited<ReturnType<typeof readCatalog.run>>;
type LifecycleRead = Awaited<ReturnType<typeof readLifecycle.run>>;

export function catalogOnWire({ categories, businessTypes, propertyTypes, urgencies }: CatalogRead) {
  return {
    categories: [...categories],
    businessTypes: [...businessTypes],
    propertyTypes: [...propertyTypes],
    urgencies,
  };
}

export function lifecycleOnWire({ actions, requiredToPublish, ...rest }: LifecycleRead) {
  return {
    ...rest,
    requiredToPublish: requiredToPublish.map(wireName),
    actions: actions.map(({ action, ...row }) => ({ ...row, action: action.toLowerCase() })),
  };
}
