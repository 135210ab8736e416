/** Writes an event in REST's format, which is also the body of webhooks. */
import { ACCOUNT_EVENT } from '../rules/entities/account-event.js';
import { JOB_EVENT } from '../rules/entities/event.js';
import type { ShownRow } from '../../platform/fields/entity.js';
import type { AccountEvent } from '../store/events/account-event-log.js';
import type { JobEvent } from '../store/events/events.js';
import { wireName, wireWriter } from '../../platform/openapi/wire.js';

/** Leaves out the bid's contractor. Viewers who can read the bid find the contractor there. */
export function eventOnWire({ bidderId: _bidder, fields, ...event }: JobEvent): ShownRow<typeof JOB_EVENT> {
  return { ...event, fields: fields && fields.map(wireName) };
}

const write = wireWriter(JOB_EVENT.schema);

export function writeEvent(event: JobEvent): unknown {
  return write(eventOnWire(event));
}

const writeFields = wireWriter(ACCOUNT_EVENT.schema);

export function writeAccountEvent(event: AccountEvent): unknown {
  return writeFields(event);
}
