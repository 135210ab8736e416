/** `npm run demo`: sample data to look around in, created once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PASSWORD } from '../../src/commands/demo/town.js';
import { JOB_STATES } from '../../src/market/rules/states.js';
import { logIn, patiently } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { start } from '../app/processes.js';
import { until } from '../platform/security/until.js';

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

const call = (...request: Parameters<typeof fetch>) => patiently(() => fetch(...request));

interface Listed {
  readonly data: readonly { id: string; title: string; status: string; city: string }[];
  readonly pagination: { total: number };
}

interface Deliveries {
  readonly data: readonly {
    event_type: string;
    status: string;
    position: string;
    previous_position: string | null;
    attempts: readonly { response_status: number | null }[];
  }[];
}

interface Feed {
  readonly data: readonly { title: string; job_id: string }[];
}

it('has people who log in and buy tokens, jobs in every state, a search with matches, and a filled gap', async () => {
  const dataFolder = project.usedDataFolder();
  const seen: Listed[] = [];
  const starts = [
    { time: 'first', settings: {}, mode: 'act', clock: 200 },
    // The operator's settings come first.
    { time: 'second', settings: { DEADLINES: 'remind', CLOCK: 'real' }, mode: 'remind', clock: 501 },
  ];
  for (const { time, settings, mode, clock } of starts) {
    const server = start(project, [process.execPath, 'dist/commands/demo.js'], { DATA_DIR: dataFolder, ...settings });
    const url = await server.url;
    for (const email of ['hanna@demo.example', 'carl@demo.example'])
      expect((await logIn(url, email, PASSWORD)).status, `${email}, ${time} start`).toBe(200);
    const conrad = await logIn(url, 'conrad@demo.example', PASSWORD);
    expect([conrad.status, conrad.body.details]).toMatchObject([401, { reason: 'suspended' }]);
    const { body } = await logIn(url, 'ada@demo.example', PASSWORD);
    const listed = await call(`${url}/v1/jobs?per_page=100`, {
      headers: { authorization: `Bearer ${String(body.token)}` },
    });
    const near = await call(`${url}/v1/contractors?near_zip=78704&within_miles=50&order_by=nearest`, {
      headers: { authorization: `Bearer ${String(body.token)}` },
    });
    expect(((await near.json()) as Listed).data.length).toBeGreaterThan(1);
    seen.push((await listed.json()) as Listed);
    const carl = await logIn(url, 'carl@demo.example', PASSWORD);
    const reader = { headers: { authorization: `Bearer ${String(carl.body.token)}` } };
    const searches = (await (await call(`${url}/v1/saved-searches`, reader)).json()) as Listed;
    expect(searches.data).toMatchObject([{ name: 'Plumbing and heating in every town' }]);
    const open = seen
      .at(-1)
      ?.data.filter(({ status }) => status === 'open')
      .map(({ id }) => id);
    await until(async () => {
      const feed = (await (await call(`${url}/v1/notifications?per_page=100`, reader)).json()) as Feed;
      const matches = feed.data.filter(({ title }) => title === 'A new job matches your search');
      return matches.filter(({ job_id: job }) => open?.includes(job)).length > 1;
    });
    const { data: endpoints } = (await (await call(`${url}/v1/webhooks`, reader)).json()) as Listed;
    expect(endpoints).toMatchObject([{ status: 'paused', paused_reason: 'requested' }]);
    const path = `/v1/webhooks/${endpoints[0]?.id}/deliveries?per_page=100`;
    const { data: deliveries } = (await (await call(url + path, reader)).json()) as Deliveries;
    const replayed = deliveries.filter(({ attempts }) => attempts.length > 1);
    expect(replayed).toMatchObject([
      {
        event_type: 'bid.submitted',
        status: 'delivered',
        attempts: [{ response_status: 204 }, { response_status: 204 }],
      },
    ]);
    expect(deliveries.map(({ previous_position: previous }) => previous)).toContain(replayed[0]?.position);
    const hanna = await logIn(url, 'hanna@demo.example', PASSWORD);
    const bought = await call(`${url}/v1/purchases`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(hanna.body.token)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ pack: 'small', return_url: `${url.replace('127.0.0.1', 'localhost')}/graphql` }),
    });
    const { checkout_url: checkout } = (await bought.json()) as { checkout_url: string };
    const paid = await call(checkout, { method: 'POST', body: new URLSearchParams({ choice: 'pay' }) });
    expect(await paid.text()).toContain('You paid');
    const lifecycle = await (await call(`${url}/v1/lifecycle`)).json();
    expect(lifecycle, `${time} start`).toMatchObject({ deadline_mode: mode });
    const advanced = await call(`${url}/v1/test-clock`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(body.token)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ seconds: 0 }),
    });
    expect(advanced.status, `${time} start`).toBe(clock);
    const { pathname, search } = new URL(/Mailbox +(\S+)/.exec(server.output())?.[1] ?? url);
    const secret = new URLSearchParams(search).get('secret');
    const readMailbox = async () => (await call(url + pathname, { headers: { cookie: `mailbox=${secret}` } })).text();
    await until(async () => /<h2>You have a new bid<\/h2>\s*<p class="faint">To h\w+@demo/.test(await readMailbox()));
    // The demo logs requests like every server, except those that created the sample data.
    const { output } = await server.stop();
    expect(output).toContain('"route":"GET /v1/jobs"');
    expect(output).not.toContain('"route":"POST /v1/jobs"');
  }
  expect(new Set(seen[0]?.data.map(({ status }) => status))).toEqual(new Set(JOB_STATES));
  expect(new Set(seen[0]?.data.map(({ city }) => city)).size).toBeGreaterThan(5);
  expect(seen[1]).toEqual(seen[0]);
});
