/** An event as REST shows it, which is also the body of a webhook. */
import { JOB_EVENT } from '../rules/entities/event.js';
import type { ShownRow } from '../../platform/fields/entity.js';
import type { JobEvent } from '../store/events/events.js';
import { wireName, wireWriter } from '../../platform/openapi/wire.js';

/** Omits the contractor of the bid that an event is about. The bid itself has it, for viewers who may read it. */
export function eventOnWire({ bidderId: _bidder, fields, ...event }: JobEvent): ShownRow<typeof JOB_EVENT> {
  return { ...event, fields: fields && fields.map(wireName) };
}

const write = wireWriter(JOB_EVENT.schema);

export function writeEvent(event: JobEvent): unknown {
  return write(eventOnWire(event));
}
