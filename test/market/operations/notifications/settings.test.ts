/** When people are emailed about each type of notification: the defaults, what they can change, and what they can't. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTIFICATIONS } from '../../../../src/market/rules/notifications.js';
import { openTestApp, type Json, type TestApp } from '../../../setup/app.js';
import { contractor, homeowner, type Person } from '../../../story/cast.js';
import { mailTo } from '../../mail/mailbox.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

const ADDRESS = '/v1/me/notification-settings';
const SELECTION = 'settings { type channel isFixed } emailProblem';
const UPDATE = `mutation ($settings: [NotificationSettingInput!]!) { updateNotificationSettings(settings: $settings) {
  notificationSettings { ${SELECTION} } } }`;

interface Setting {
  readonly type: string;
  readonly channel: string;
}

const inGraphql = ({ type, channel }: Setting) => ({
  type: type.replaceAll('.', '_').toUpperCase(),
  channel: channel.toUpperCase(),
});

/** Both APIs return the same settings. */
async function settingsOf(by: Person): Promise<{ channels: Record<string, string>; problem: string | null }> {
  const { status, body } = await app.rest('GET', ADDRESS, { token: by.token });
  expect(status).toBe(200);
  const { data } = await app.graphql(`{ viewer { notificationSettings { ${SELECTION} } } }`, { token: by.token });
  const { settings, emailProblem } = data.viewer.notificationSettings;
  expect(settings.map(({ type, channel, isFixed }: Json) => [type, channel, isFixed])).toEqual(
    body.settings.map((one: Json) => [...Object.values(inGraphql(one)), one.is_fixed]),
  );
  expect(emailProblem).toBe(body.email_problem && body.email_problem.toUpperCase());
  const channels = body.settings.map(({ type, channel, is_fixed: isFixed }: Json) => [
    type,
    isFixed ? `always ${channel}` : channel,
  ]);
  return { channels: Object.fromEntries(channels), problem: body.email_problem };
}

const CHANGE = {
  rest: async (by: Person, settings: readonly Setting[]) => {
    const { status, body } = await app.rest('PUT', ADDRESS, { token: by.token, body: { settings } });
    return status === 200 ? 'changed' : body.details.fields;
  },
  graphql: async (by: Person, settings: readonly Setting[]) => {
    const variables = { settings: settings.map(inGraphql) };
    const { errors } = await app.graphql(UPDATE, { token: by.token, variables });
    return errors ? (errors[0]!.extensions as Json).fields : 'changed';
  },
};
const APIS = ['rest', 'graphql'] as const;

describe('the defaults', () => {
  it('are the table’s, for the types that the person’s role is notified of', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { channels } = await settingsOf(hanna);
    expect(channels).toMatchObject({
      'bid.submitted': 'now',
      'job.checked_in': 'daily',
      'job.escalated': 'always now',
      'account.password_changed': 'always now',
      'webhook.paused': 'now',
    });
    const isHers = (entries: object) => 'owner' in entries || 'user' in entries;
    const types = Object.entries(NOTIFICATIONS).filter(([, entries]) => isHers(entries));
    expect(Object.keys(channels)).toEqual(types.map(([type]) => type));
  });

  it('of a contractor are an awardee’s, and are fixed if they’re fixed for an awardee or a bidder', async () => {
    const { channels } = await settingsOf(await contractor(app, 'Carl'));
    expect(channels).toMatchObject({
      'job.awarded': 'always now',
      'bid.stake_released': 'always now',
      'bid.rejected': 'now',
      'job.reopened': 'off',
    });
    expect(channels).not.toHaveProperty('bid.submitted');
  });
});

describe.each(APIS)('a change (%s)', (api) => {
  it('keeps the types that it omits', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { channels } = await settingsOf(hanna);
    expect(await CHANGE[api](hanna, [{ type: 'bid.submitted', channel: 'daily' }])).toBe('changed');
    expect(
      await CHANGE[api](hanna, [
        { type: 'bid.revised', channel: 'off' },
        { type: 'job.escalated', channel: 'now' },
      ]),
    ).toBe('changed');
    const changed = { ...channels, 'bid.submitted': 'daily', 'bid.revised': 'off' };
    expect((await settingsOf(hanna)).channels).toEqual(changed);
    expect(await CHANGE[api](hanna, [])).toBe('changed');
    expect(await CHANGE[api](hanna, [{ type: 'bid.submitted', channel: 'now' }])).toBe('changed');
    expect((await settingsOf(hanna)).channels).toEqual({ ...changed, 'bid.submitted': 'now' });
  });

  it('that sends back the returned settings keeps the defaults and stores only what the person chose', async () => {
    const carl = await contractor(app, 'Carl');
    const { body } = await app.rest('GET', ADDRESS, { token: carl.token });
    const settings: Setting[] = body.settings.map(({ type, channel }: Json) => ({ type, channel }));
    const stored = () => app.sql`select type, channel from notification_settings where user_id = ${carl.userId}`;
    expect(await CHANGE[api](carl, settings)).toBe('changed');
    expect((await app.rest('PUT', ADDRESS, { token: carl.token, body })).status).toBe(200);
    expect(await stored()).toEqual([]);
    const quiet = settings.map((one) => (one.type === 'job.completed' ? { ...one, channel: 'off' } : one));
    expect(await CHANGE[api](carl, quiet)).toBe('changed');
    expect(await stored()).toEqual([{ type: 'job.completed', channel: 'off' }]);
    expect(await CHANGE[api](carl, settings)).toBe('changed');
    expect(await stored()).toEqual([]);
  });

  it('to a type that can’t be turned off is rejected, and changes nothing', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const { channels } = await settingsOf(hanna);
    for (const channel of ['off', 'daily']) {
      const settings = [
        { type: 'bid.submitted', channel: 'off' },
        { type: 'job.escalated', channel },
      ];
      expect(await CHANGE[api](hanna, settings)).toEqual({
        'settings.1.channel': 'must be now, because job.escalated can’t be turned off',
      });
    }
    expect((await settingsOf(hanna)).channels).toEqual(channels);
  });

  it('to another role’s type, or to the same type twice, is rejected', async () => {
    const hanna = await homeowner(app, 'Hanna');
    const settings = [
      { type: 'bid.viewed', channel: 'off' },
      { type: 'bid.submitted', channel: 'off' },
      { type: 'bid.submitted', channel: 'now' },
    ];
    expect(await CHANGE[api](hanna, settings)).toEqual({
      'settings.0.type': 'is bid.viewed, which homeowners aren’t notified of',
      'settings.2.type': 'is bid.submitted, which is already in the list',
    });
  });
});

it.each([
  [[{ type: 'job.created', channel: 'off' }], 'settings.0.type'],
  [[{ type: 'job.exploded', channel: 'off' }], 'settings.0.type'],
  [[{ type: 'bid.submitted', channel: 'hourly' }], 'settings.0.channel'],
  [[{ type: 'bid.submitted' }], 'settings.0.channel'],
  [[null], 'settings.0'],
  [Array.from({ length: 1_000 }, () => ({ type: 'bid.submitted', channel: 'off' })), 'settings'],
  [undefined, 'settings'],
])('a list without valid settings is rejected', async (settings, field) => {
  const hanna = await homeowner(app, 'Hanna');
  const { status, body } = await app.rest('PUT', ADDRESS, { token: hanna.token, body: { settings } });
  expect([status, body.details.code]).toEqual([400, 'VALIDATION_FAILED']);
  expect(body.details.fields).toHaveProperty([field]);
});

it('an unknown type is rejected in GraphQL, too', async () => {
  const hanna = await homeowner(app, 'Hanna');
  const variables = { settings: [{ type: 'JOB_EXPLODED', channel: 'OFF' }] };
  const { errors } = await app.graphql(UPDATE, { token: hanna.token, variables });
  expect(errors![0]!.extensions).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
});

it('the settings say why someone doesn’t get emails', async () => {
  const hanna = await homeowner(app, 'Hanna');
  // An email that is sent makes the address deliverable again.
  await mailTo(app, hanna.email, 'Confirm your email address');
  expect((await settingsOf(hanna)).problem).toBe('unconfirmed');
  await app.sql`update users set email_verified = true where id = ${hanna.userId}`;
  expect((await settingsOf(hanna)).problem).toBeNull();
  await app.sql`update users set email_undeliverable = true where id = ${hanna.userId}`;
  expect((await settingsOf(hanna)).problem).toBe('undeliverable');
});
