/** A request keeps the id that its caller gave it, so that both sides find it in their logs; else it is given one. */
import { randomUUID } from 'node:crypto';

export function newRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{8,128}$/.test(header) ? header : randomUUID();
}

/** The trace ID in a `traceparent` header (W3C Trace Context). Undefined if it's malformed or has a zero ID. */
export function traceIdIn(header: string | string[] | undefined): string | undefined {
  const [, version, traceId, spanId] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(String(header)) ?? [];
  const isNamed = [traceId, spanId].every((id) => id !== undefined && /[^0]/.test(id));
  return version !== 'ff' && isNamed ? traceId : undefined;
}
