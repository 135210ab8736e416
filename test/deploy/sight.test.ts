/** The alerts, the runbook, and the dashboard match each other and the server. `npm run nightly -- sight` runs them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../setup/app.js';
import { alerts, commandsIn, dashboardQueries, read, ruleExpressions, selectorsIn } from './sight.js';

let app: TestApp;
beforeAll(async () => {
  // The metrics of a replica exist whether or not it can be reached.
  const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';
  app = await openTestApp({ DATABASE_URL: nowhere, DATABASE_REPLICA_URL: nowhere });
});
afterAll(() => app.close());

it('each alert has a duration, a severity, a runbook section, and tests for when it fires and when it doesn’t', () => {
  const tests = ['prometheus-rules', 'objectives-rules'].map((name) => read(`test/deploy/${name}.test.yml`)).join('');
  const names = alerts().map(({ name }) => name);
  expect(names.length).toBeGreaterThan(20);
  for (const { name, lines } of alerts()) {
    expect(lines, name).toMatchObject({
      for: expect.stringMatching(/^\d+[smh]$/) as string,
      severity: expect.stringMatching(/^(critical|warning|info)$/) as string,
      summary: expect.stringMatching(/\.'$/) as string,
      runbook: `docs/runbook.md#${name.toLowerCase()}`,
    });
    const outcomes = tests.split(`alertname: ${name}\n`).slice(1);
    expect(
      outcomes.some((text) => text.startsWith('        exp_alerts:\n          - exp_labels:')),
      name,
    ).toBe(true);
    expect(
      outcomes.some((text) => text.startsWith('        exp_alerts: []')),
      name,
    ).toBe(true);
  }
  const sections = read('docs/runbook.md').split(/^## /m).slice(1);
  expect(sections.map((text) => text.split('\n')[0])).toEqual(['When an alert fires', ...names, 'Without an alert']);
  for (const section of sections.slice(1, -1))
    expect(section).toMatch(/^\w+\n\n[\w`].+(.|\n)*\n\n\*\*Check\*\*\n\n1\. (.|\n)+\n\n\*\*Fix\*\*\n\n\S/);
});

it('every query in the runbook runs on the schema', async () => {
  const queries = commandsIn(read('docs/runbook.md')).flatMap((code) =>
    [...code.matchAll(/-c (["'])(select .+?)\1(?= -c|$)/gms)].map(([, , query = '']) => query),
  );
  const runnable = queries.filter((query) => !/…|pg_(?:promote|reload_conf)/.test(query));
  expect(runnable.length).toBeGreaterThan(15);
  for (const query of runnable) await expect(app.sql.unsafe(query), query).resolves.toBeDefined();
});

it('alerts, runbook, and dashboard only use metrics that a server has, or that another program exports', async () => {
  const printed = await (await fetch(`${app.url}/metrics`)).text();
  const known = new Set([...printed.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? ''));
  const base = (name: string) => (known.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''));
  const recorded = [...read('deploy/prometheus-rules.yml').matchAll(/^ +- record: (\S+)$/gm)].map(([, name]) => name);
  // `npm run nightly -- sight` compares these with the programs.
  const isOfOthers = (name: string) =>
    /^(?:haproxy|pg|pgbouncer|redis|probe|node)_|^(?:up|ALERTS|backup_completed_timestamp_seconds)$/.test(name);
  const queries = [...ruleExpressions(), ...dashboardQueries().map(({ expr }) => expr)];
  const names = new Set(queries.flatMap((query) => selectorsIn(query).map(({ name }) => name)));
  for (const name of ['mail_seconds_count', 'operation_seconds_bucket', 'slo:calls:rate5m', 'pg_up', 'up'])
    expect([...names]).toContain(name);
  const own = [...names].filter((name) => !isOfOthers(name) && !recorded.includes(name));
  expect(own.length).toBeGreaterThan(40);
  expect(own.filter((name) => !known.has(base(name)))).toEqual([]);

  const beginnings = new Set([...known].map((name) => name.split('_')[0]));
  const named = new RegExp(`\\b(?:${[...beginnings].join('|')})_[a-z0-9_]+\\b(?=[{[)]| |$|\`)`, 'g');
  const commands = commandsIn(read('docs/runbook.md')).filter((code) => !code.includes('select '));
  const inRunbook = new Set(commands.flatMap((code) => code.match(named) ?? []));
  expect(inRunbook.size).toBeGreaterThan(10);
  const notMetrics = ['notification_cursor', 'payment_id'];
  expect([...inRunbook].filter((name) => !known.has(base(name)) && !notMetrics.includes(name))).toEqual([]);
});

it('only counters have names that end with _total', async () => {
  const printed = await (await fetch(`${app.url}/metrics`)).text();
  const types = [...printed.matchAll(/^# TYPE (\S+) (\S+)/gm)];
  expect(types.filter(([, name = '', type]) => name.endsWith('_total') !== (type === 'counter'))).toEqual([]);
});
