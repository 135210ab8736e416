/** `npm audit` finds no vulnerabilities. If the registry doesn't respond, the test counts as not run. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printFigures } from './figures.js';

interface Report {
  /** Missing if the registry didn't respond to the request for advisories. */
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
  readonly message?: string;
}

/** The vulnerable packages and their severity, or why the registry didn't respond. */
async function audit(...options: string[]): Promise<{ found: string[] } | { unanswered: string }> {
  const output = await new Promise<string>((resolve) => {
    execFile('npm', ['audit', '--json', ...options], (_, stdout) => resolve(stdout));
  });
  const { vulnerabilities, message = output } = JSON.parse(output) as Report;
  if (!vulnerabilities) return { unanswered: message };
  return { found: Object.entries(vulnerabilities).map(([name, { severity }]) => `${name}: ${severity}`) };
}

it('finds no vulnerabilities', async ({ skip }) => {
  const report = await audit();
  if ('unanswered' in report) {
    printFigures(`npm audit not run: ${report.unanswered}`);
    skip(report.unanswered);
  } else expect(report.found).toEqual([]);
});

describe('the audit', () => {
  let advisories: object | undefined;
  const registry = createServer((request, response) => {
    const isAudit = request.url?.endsWith('/advisories/bulk') && advisories;
    request.resume();
    response.writeHead(isAudit ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isAudit ? advisories : {}));
  });
  const askIt = () =>
    audit('--registry', `http://127.0.0.1:${(registry.address() as AddressInfo).port}`, '--fetch-retries=0');
  beforeAll(() => once(registry.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => void registry.close());

  it('finds nothing if the registry has no advisory for a package', async () => {
    advisories = {};
    expect(await askIt()).toEqual({ found: [] });
  });

  it('finds a vulnerability that the registry knows', async () => {
    const advisory = { id: 1, url: 'https://advisories.example/1', title: 'Anything', severity: 'high' };
    advisories = { ksuid: [{ ...advisory, vulnerable_versions: '*' }] };
    expect(await askIt()).toEqual({ found: ['ksuid: high'] });
  });

  it('doesn’t pass if the registry doesn’t serve advisories', async () => {
    advisories = undefined;
    expect(await askIt()).toEqual({ unanswered: expect.stringContaining('404') });
  });
});
