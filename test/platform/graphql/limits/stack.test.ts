/**
 * If a document overflows the stack of GraphQL's rules, the caller learns that it's nested too deeply. Nothing is
 * logged.
 */
import { expect, it } from 'vitest';
import { openTestApp } from '../../../setup/app.js';
import { byGraphql } from '../../../apis/refused.js';

it("An endless validation is the caller's error, not the server's", async () => {
  const app = await openTestApp();
  const fragment = (i: number) =>
    `fragment C${i} on Job { awardedBid { job { ...C${(i + 1) % 45} ...C${(i + 2) % 45} } } }`;
  const answer = await app.graphql(
    `{ job(id: "job_x") { ...C0 } } ${Array.from({ length: 45 }, (_, i) => fragment(i)).join(' ')}`,
  );
  expect([answer.status, byGraphql(answer).code]).toEqual([400, 'VALIDATION_FAILED']);
  expect(answer.errors?.[0]?.message).toMatch(/nested too deeply/);
  expect(app.logged.filter((line) => line.includes('Unexpected error'))).toEqual([]);
  await app.close();
});
