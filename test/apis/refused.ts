/** The error of a failed call, in one form for both APIs. Fields have their REST names, and are sorted. */
import { expect } from 'vitest';
import { REASONS } from '../../src/market/rules/errors.js';
import type { Answer, GraphqlAnswer, Json } from '../setup/app.js';

export interface Refused {
  status: number;
  code: string;
  fields: string[];
}

/** Also checks the form: always the same four keys, and the request's own ID. */
export function byRest({ status, headers, body }: Answer<Json>): Refused {
  expect(Object.keys(body)).toEqual(['status', 'error', 'details', 'blocked_fields']);
  expect(body).toMatchObject({
    status,
    error: expect.stringMatching(/\S.*\.$/),
    details: { code: expect.any(String) },
    blocked_fields: [],
  });
  expect(body.details.request_id).toBe(headers.get('x-request-id'));
  expectReason(status, body.details.code, body.details.reason);
  return { status, code: body.details.code, fields: Object.keys(body.details.fields ?? {}).sort() };
}

/** An executed operation returns 200. Its error has the status that REST would return. */
export function byGraphql({ headers, errors }: GraphqlAnswer): Refused {
  const [error] = errors ?? [];
  expect(error).toMatchObject({
    message: expect.stringMatching(/\S.*[.?]$/),
    extensions: { code: expect.any(String), status: expect.any(Number) },
  });
  expect(error?.extensions.requestId).toBe(headers.get('x-request-id'));
  const { status, code, fields, reason } = error?.extensions ?? {};
  expectReason(status, code, reason);
  return {
    status,
    code,
    fields: Object.keys(fields ?? {})
      .map(snake)
      .sort(),
  };
}

/** Every 401 and every invalid link has a reason. Other errors don't. */
function expectReason(status: number, code: string, reason: unknown): void {
  const saysWhy = status === 401 || code === 'INVALID_LINK';
  expect(saysWhy ? REASONS : [undefined]).toContain(reason);
}

export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const invalid = (...fields: string[]): Refused => ({
  status: 400,
  code: 'VALIDATION_FAILED',
  fields: [...fields].sort(),
});
