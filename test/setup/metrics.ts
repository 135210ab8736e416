/** Reads /metrics like a dashboard. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Samples {
  readonly all: readonly Sample[];
  /** The sum of all samples with this name and these labels. NaN without any samples. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

export async function metricsOf(url: string): Promise<Samples> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const all = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(sampleIn);
  return {
    all,
    value: (name, labels = {}) => {
      const found = all.filter((sample) => sample.name === name && has(sample, labels));
      return found.length === 0 ? Number.NaN : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

function sampleIn(line: string): Sample {
  const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text]);
  return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
}

function has(sample: Sample, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
}
