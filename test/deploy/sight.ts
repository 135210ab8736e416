/** Reads the alerts, the runbook, and the dashboard as text. */
import { readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

export const read = (name: string) => readFileSync(new URL(name, ROOT), 'utf8');

export interface Alert {
  readonly name: string;
  readonly lines: Readonly<Record<string, string>>;
}

/** The commands in a Markdown text: its code spans and code blocks. */
export function commandsIn(text: string): string[] {
  return [...text.matchAll(/```\w*\n([^]*?)```|`([^`\n]+)`/g)].map(([, block, span]) => (block ?? span ?? '').trim());
}

/** The file has one key per line. */
export function alerts(): Alert[] {
  return read('deploy/prometheus-rules.yml')
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((text) => ({
      name: text.split('\n')[0] ?? '',
      lines: Object.fromEntries(
        [...text.matchAll(/^ +(\w+): (.+)$/gm)].map(([, key, value]) => [key, value]),
      ) as Record<string, string>,
    }));
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

export interface Query {
  readonly title: string;
  /** With the dashboard's variables filled in. */
  readonly expr: string;
}

export function dashboardQueries(range = '1m'): Query[] {
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: readonly Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expr: expr.replaceAll('$__rate_interval', range).replaceAll('$instance', '.+'),
    })),
  );
}
