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

/** The expressions of all alerts and recording rules. */
export function ruleExpressions(): string[] {
  const texts = read('deploy/prometheus-rules.yml').matchAll(/^( +)expr: (?:>-\n((?:\1 +.+\n)+)|(.+)\n)/gm);
  return [...texts].map(([, , block, line]) => (block ?? line ?? '').replaceAll(/\s+/g, ' ').trim());
}

/** What a query reads, such as `up{job="node"}`. What it calculates from that doesn't matter. */
export function selectorsIn(query: string): { readonly name: string; readonly selector: string }[] {
  const text = query
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right) ?\([^)]*\)/g, ' ');
  return [...text.matchAll(/(?<![\w.:])([a-z_:][\w:]*)(\{[^}]*\})?(?![\w:]|\s*\()/gi)]
    .map(([selector, name = '']) => ({ name, selector }))
    .filter(({ name }) => !['and', 'or', 'unless', 'bool', 'offset'].includes(name));
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
