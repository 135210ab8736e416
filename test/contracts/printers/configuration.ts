/**
 * The variables of src/app/config.ts as `.env.example` and the README show them: same names, same defaults, same words.
 */
import { VARIABLES } from '../../../src/app/config.js';

interface Variable {
  readonly name: string;
  /** As it would be written; empty where there is none. */
  readonly preset: string;
  readonly description: string;
}

export function environmentFile(): string {
  const head = '# Copy this file to .env and change what you like. An empty variable is one that is not set.';
  return [head, ...variables().map(({ name, preset, description }) => `# ${sentence(description)}\n${name}=${preset}`)]
    .join('\n\n')
    .concat('\n');
}

/** What bounds a caller has many variables: a page of its own lists them. */
const isShare = ({ name }: Variable) => name.startsWith('SHARE_') || name.startsWith('RATE_LIMIT_');

export function withConfigurationTable(readme: string): string {
  return withTable(
    readme,
    variables().filter((variable) => !isShare(variable)),
  );
}

export function withShareTable(readme: string): string {
  return withTable(readme, variables().filter(isShare));
}

/** Between two marks that a reader of the page does not see. */
function withTable(readme: string, shown: readonly Variable[]): string {
  const place = /(?<=<!-- configuration -->\n).*(?=<!-- \/configuration -->)/s;
  if (!place.test(readme))
    throw new Error('A README lacks its marks <!-- configuration --> and <!-- /configuration -->.');
  return readme.replace(place, () => table(shown));
}

function table(shown: readonly Variable[]): string {
  const rows = shown.map(
    ({ name, preset, description }) =>
      `| \`${name}\` | ${preset === '' ? '' : `\`${preset}\``} | ${sentence(description)} |`,
  );
  return ['| Variable | Default | What it is for |', '|---|---|---|', ...rows].join('\n').concat('\n');
}

function variables(): Variable[] {
  return Object.entries(VARIABLES).map(([name, shape]) => {
    if (!shape.description) throw new Error(`${name} has no description.`);
    return { name, preset: written(shape.parse(undefined)), description: shape.description };
  });
}

function written(preset: unknown): string {
  if (typeof preset === 'boolean') return preset ? 'on' : 'off';
  return Array.isArray(preset) ? preset.join(',') : String(preset ?? '');
}

function sentence(description: string): string {
  return `${description[0]?.toUpperCase()}${description.slice(1)}.`;
}
