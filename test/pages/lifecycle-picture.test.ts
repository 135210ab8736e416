/** The picture of the lifecycle stays small enough to read, whichever steps are added. */
import { expect, test } from 'vitest';
import type { DeadlineSettings } from '../../src/market/rules/jobs/deadlines.js';
import { JOB_TRANSITIONS } from '../../src/market/rules/lifecycle.js';
import { drawPicture } from '../../src/pages/lifecycle/picture.js';

const WINDOW = { width: 400, height: 800 };
const FONT_PIXELS = 12;

const DAYS = { open: 30, in_review: 14, disputed: 14, decision_reached: 14 };
const ACT: DeadlineSettings = { mode: 'act', days: DAYS, stakeHours: 72 };

test('the picture fits in a small window, with letters that are at least 9 pixels high', () => {
  const longest = { ...ACT, days: { open: 365, in_review: 365, disputed: 365, decision_reached: 365 } };
  const [, width = Number.NaN, height = Number.NaN] =
    /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(drawPicture(longest))?.map(Number) ?? [];
  const scale = Math.min(1, WINDOW.width / width);
  expect(FONT_PIXELS * scale).toBeGreaterThanOrEqual(9);
  // The page has a header above the picture.
  expect(height * scale).toBeLessThanOrEqual(WINDOW.height - 70);
  expect(height).toBeLessThanOrEqual(730);
});

test('each step has a line from every state that it leaves, and the line ends at the state that it leads to', () => {
  const picture = drawPicture(ACT);
  const centers = new Map(
    [
      ...picture.matchAll(/data-state="(\w+)".*?<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g),
    ].map(([, state = '', ...numbers]) => {
      const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number);
      return [state, { x: x + width / 2, y: y + height / 2, width, height }];
    }),
  );
  for (const { action, from, to } of Object.values(JOB_TRANSITIONS)) {
    if (action === 'COMPLETE') continue;
    const step = picture.split(`data-step="${action.toLowerCase()}"`)[1]?.split('</a>')[0] ?? '';
    const lines = [...step.matchAll(/data-from="(\w+)" d="([^"]+)"/g)];
    expect([action, new Set(lines.map(([, state]) => state))]).toEqual([action, new Set(from)]);
    const [, , path = ''] = lines[0] ?? [];
    const [y = Number.NaN] =
      path
        .match(/[\d.]+/g)
        ?.map(Number)
        .slice(-1) ?? [];
    const [x = Number.NaN] =
      path
        .match(/[\d.]+/g)
        ?.map(Number)
        .slice(-2) ?? [];
    const end = centers.get(to);
    expect([action, Math.abs(x - (end?.x ?? Number.NaN)) <= (end?.width ?? 0) / 2 + 1]).toEqual([action, true]);
    expect([action, Math.abs(y - (end?.y ?? Number.NaN)) <= (end?.height ?? 0) / 2 + 1]).toEqual([action, true]);
  }
});

test('a state shows the length of its deadline, and its text says what this server does', () => {
  const picture = drawPicture({ ...ACT, days: { ...DAYS, in_review: 20 } });
  expect(picture).toContain('>in review, 20 days</text>');
  expect(picture).toContain('>open, 30 days</text>');
  expect(picture).toContain('>in progress</text>');
  expect(picture).toMatch(/"in review, 20 days: [^"]* After 20 days: The homeowner didn’t respond to the work in time/);
  expect(picture).toMatch(
    /"open, 30 days: [^"]* After 30 days: Nobody was awarded .* After 3 days: The homeowner didn’t look at/,
  );

  const reminding = drawPicture({ ...ACT, mode: 'remind' });
  expect(reminding).toContain('>in review, 14 days</text>');
  expect(reminding).toMatch(/"in review, 14 days: [^"]* After 14 days: Admins are reminded\./);

  const off = drawPicture({ ...ACT, mode: 'off' });
  expect(off).toContain('>in review</text>');
  expect(off).not.toContain('After');
});
