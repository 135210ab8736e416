/** A request keeps the id that its caller gave it, so that both sides find it in their logs; else it is given one. */
import { randomUUID } from 'node:crypto';

export function newRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{8,128}$/.test(header) ? header : randomUUID();
}
