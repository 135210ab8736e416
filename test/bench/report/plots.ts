/** Draws the tables of results/summary.md. A plot has the figures of its table and no others. */

type Cells = Readonly<Record<string, string>>;
type Color = 'blue' | 'orange' | 'gray';

interface Mark {
  /** A bar begins at `from`. A mark without it is a dot. */
  readonly from?: number;
  readonly at: number;
  readonly color: Color;
}

interface Row {
  readonly label: string;
  readonly marks: readonly Mark[];
  /** Written after the last mark. */
  readonly note: string;
  readonly goal?: number;
}

interface Plot {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly ticks: readonly number[];
  readonly isLogarithmic?: boolean;
  readonly key: readonly (readonly [Color, string])[];
}

const GROWTH = { file: 'growth', draw: growth };
const PLOTS: Readonly<Record<string, { file: string; draw: (rows: readonly Cells[]) => Plot }>> = {
  'Compared with the rivals': { file: 'bench', draw: againstRivals },
  'Lists with ten thousand to a million jobs in the database, half of them open': GROWTH,
  'Lists with ten thousand to a hundred thousand jobs in the database, half of them open': {
    ...GROWTH,
    file: 'growth-to-100000',
  },
  'Lists with ten thousand to a million jobs in the database, 2% of them open': { ...GROWTH, file: 'growth-open-2' },
  'Up to three times the capacity': { file: 'knee', draw: knee },
  'With and without a replica': { file: 'replicas', draw: replicas },
};

/** The plots of a summary: the name of each file, and its SVG. */
export function plotsOf(summary: string): Readonly<Record<string, string>> {
  const sections = summary.split(/^## /m).slice(1);
  return Object.fromEntries(
    sections.flatMap((section) => {
      const plot = PLOTS[section.split('\n', 1)[0] ?? ''];
      return plot ? [[`${plot.file}.svg`, svg(plot.draw(tableIn(section)))]] : [];
    }),
  );
}

/** A section with its plot above its table. */
export function withPlot(title: string, section: string): string {
  const plot = PLOTS[title];
  return plot ? section.replace(/^\|/m, `![The table below as a plot](${plot.file}.svg)\n\n|`) : section;
}

function tableIn(section: string): Cells[] {
  const [head = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])));
}

/** A missed goal is in brackets after its figure. */
function againstRivals(table: readonly Cells[]): Plot {
  const rows = table.flatMap((cells) =>
    Object.entries(cells).flatMap(([column, cell]): Row[] => {
      const [, rival] = /^CPU: (.+)/.exec(column) ?? [];
      if (!rival || cell === '') return [];
      const at = Number.parseFloat(cell);
      const [, goal] = /\((.+)\)/.exec(cell) ?? [];
      return [
        {
          label: `${cells.Work}, ${rival}`,
          marks: [{ from: 0, at, color: goal ? 'orange' : 'blue' }],
          note: at.toFixed(2),
          ...(goal ? { goal: Number(goal) } : {}),
        },
      ];
    }),
  );
  return {
    caption: 'Server CPU time per request, divided by the rival’s. Less is better.',
    rows,
    ticks: [0, 0.5, 1, 1.5, 2, 2.5, 3],
    key: [
      ['blue', 'goal met, or no goal'],
      ['orange', 'goal missed; the line is the goal'],
    ],
  };
}

const COLORS_BY_SIZE: readonly Color[] = ['gray', 'orange', 'blue'];

function growth(table: readonly Cells[]): Plot {
  const sizes = Object.keys(table[0] ?? {}).filter((column) => column.startsWith('ms at '));
  return {
    caption: 'Milliseconds per statement, on a logarithmic scale. These are the slowest statements.',
    rows: table.map((cells) => ({
      label: cells.Statement ?? '',
      marks: sizes.map((size, at) => ({ at: Number(cells[size]), color: COLORS_BY_SIZE[at] ?? 'gray' })),
      note: `${cells[sizes.at(-1) ?? '']} ms`,
    })),
    ticks: [1, 10, 100, 1_000],
    isLogarithmic: true,
    key: sizes.map((size, at) => [COLORS_BY_SIZE[at] ?? 'gray', size.replace('ms at ', '') + ' jobs'] as const),
  };
}

function knee(table: readonly Cells[]): Plot {
  const rows = table.map((cells): Row => {
    const answered = Number(cells['answered/s']);
    const shed = Number(cells['shed/s']);
    return {
      label: `${cells['Load / capacity']} times the capacity`,
      marks: [
        { from: 0, at: answered, color: 'blue' },
        { from: answered, at: answered + shed, color: 'orange' },
      ],
      note: `p99 ${Math.round(Number(cells['p99 ms'])).toLocaleString('en')} ms`,
    };
  });
  return {
    caption: 'Requests per second, and the 99th percentile of the response time.',
    rows,
    ticks: [0, 500, 1_000, 1_500],
    key: [
      ['blue', 'answered'],
      ['orange', 'rejected with 503'],
    ],
  };
}

function replicas(table: readonly Cells[]): Plot {
  return {
    caption: 'Microseconds of CPU time per request.',
    rows: table.flatMap((cells) =>
      (['server', 'primary', 'replica'] as const).map((part) => ({
        label: `${part}, ${cells.Setup}`,
        marks: [{ from: 0, at: Number(cells[part]), color: COLOR_OF[part] }],
        note: cells[part] ?? '',
      })),
    ),
    ticks: [0, 500, 1_000, 1_500, 2_000, 3_000],
    key: [
      ['gray', 'server'],
      ['orange', 'primary'],
      ['blue', 'replica'],
    ],
  };
}

const COLOR_OF = { server: 'gray', primary: 'orange', replica: 'blue' } as const;

const ROW = 20;
const TOP = 48;
const WIDTH = 960;
const NOTE = 110;
const CHARACTER = 6.4;

const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
line { stroke: #d1d9e0 } .goal { stroke: #1f2328; stroke-width: 2 }
.blue { fill: #0969da } .orange { fill: #d4740b } .gray { fill: #818b98 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } line { stroke: #3d444d } .goal { stroke: #f0f6fc }
  .blue { fill: #4493f8 } .orange { fill: #db8f3c } .gray { fill: #9198a1 }
}
</style>`;

function svg({ caption, rows, ticks, isLogarithmic, key }: Plot): string {
  const left = Math.ceil(Math.max(...rows.map(({ label }) => label.length)) * CHARACTER) + 16;
  const height = TOP + rows.length * ROW + 40;
  const scale = (value: number) => (isLogarithmic ? Math.log10(Math.max(value, 0.5) / 0.5) : value);
  const most = Math.max(...ticks.map(scale), ...rows.flatMap(({ marks }) => marks.map(({ at }) => scale(at))));
  const x = (value: number) => round(left + (scale(value) / most) * (WIDTH - left - NOTE));
  const bottom = TOP + rows.length * ROW + 4;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" role="img" aria-label="${caption}">`,
    STYLE,
    `<text x="8" y="18">${caption}</text>`,
    ...keyOf(key),
    ...ticks.flatMap((tick) => [
      `<line x1="${x(tick)}" x2="${x(tick)}" y1="${TOP}" y2="${bottom}"/>`,
      `<text x="${x(tick)}" y="${bottom + 16}" text-anchor="middle">${tick.toLocaleString('en')}</text>`,
    ]),
    ...rows.map((row, at) => drawn(row, TOP + at * ROW, left, x)),
    '</svg>\n',
  ].join('\n');
}

function keyOf(key: Plot['key']): string[] {
  let x = 8;
  return key.map(([color, label]) => {
    const at = x;
    x += 34 + label.length * CHARACTER;
    const square = `<rect class="${color}" x="${round(at)}" y="28" width="12" height="12"/>`;
    return `${square}<text x="${round(at + 18)}" y="38">${label}</text>`;
  });
}

function drawn({ label, marks, note, goal }: Row, top: number, left: number, x: (value: number) => number): string {
  const middle = top + ROW / 2;
  const end = Math.max(...marks.map(({ at }) => x(at)));
  return [
    `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${label}</text>`,
    ...marks.map(({ from, at, color }) =>
      from === undefined
        ? `<circle class="${color}" cx="${x(at)}" cy="${middle}" r="5"/>`
        : `<rect class="${color}" x="${x(from)}" y="${top + 3}" width="${round(x(at) - x(from))}" height="14"/>`,
    ),
    goal === undefined ? '' : `<line class="goal" x1="${x(goal)}" x2="${x(goal)}" y1="${top + 1}" y2="${top + 19}"/>`,
    `<text x="${round(end + 10)}" y="${middle + 4}">${note}</text>`,
  ].join('');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
