/** Alerts, runbook and dashboard agree, and name metrics that a server has. `npm run nightly -- sight` runs them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestApp, type TestApp } from '../setup/app.js';
import { alerts, dashboardQueries, read } from './sight.js';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

it('each alert has a duration, a severity, a runbook section, and tests that it fires and stays silent', () => {
  const tests = read('test/deploy/prometheus-rules.test.yml');
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
  expect(sections.map((text) => text.split('\n')[0])).toEqual([...names, 'Without an alert']);
  for (const section of sections.slice(0, -1))
    expect(section).toMatch(/\n\*\*Means\*\* .+\n\*\*Look\*\* (.|\n)+\n\*\*Do\*\* ./);
});

it('alerts, runbook and dashboard name metrics and labels that a server has', async () => {
  const printed = await (await fetch(`${app.url}/metrics`)).text();
  const known = new Set([...printed.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? ''));
  const base = (name: string) => (known.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''));
  const prefix = 'operation|request|http|overloads|database|queue|rate|share|event|events|streams?|market|webhook';
  const named = new RegExp(`\\b(?:${prefix}|password|build|process|nodejs)_[a-z0-9_]+\\b(?=[{[)]| |$|\`)`, 'g');
  const texts = [
    ...alerts().map(({ lines }) => lines.expr ?? ''),
    ...dashboardQueries().map(({ expr }) => expr),
    ...[...read('docs/runbook.md').matchAll(/`([^`]+)`/g)]
      .map(([, code]) => code ?? '')
      .filter((code) => !code.startsWith('select')),
  ];
  const names = new Set(texts.flatMap((text) => text.match(named) ?? []));
  expect(names.size).toBeGreaterThan(30);
  const notMetrics = ['rate_interval'];
  expect([...names].filter((name) => !known.has(base(name)) && !notMetrics.includes(name))).toEqual([]);
});

it('no name has the ending of another kind', async () => {
  const printed = await (await fetch(`${app.url}/metrics`)).text();
  const types = [...printed.matchAll(/^# TYPE (\S+) (\S+)/gm)];
  expect(types.filter(([, name = '', type]) => name.endsWith('_total') !== (type === 'counter'))).toEqual([]);
});
