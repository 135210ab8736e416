/** The variables of src/config.ts as `.env.example` and the README show them: same names, same defaults, same words. */
import { VARIABLES } from '../../src/config.js';

interface Variable {
  readonly name: string;
  /** As it would be written; empty where there is none. */
  readonly preset: string;
  readonly says: string;
}

export function environmentFile(): string {
  const head = '# Copy this file to .env and change what you like. An empty variable is one that is not set.';
  return [head, ...variables().map(({ name, preset, says }) => `# ${sentence(says)}\n${name}=${preset}`)]
    .join('\n\n')
    .concat('\n');
}

/** Between two marks that a reader of the page does not see. */
export function withConfigurationTable(readme: string): string {
  const place = /(?<=<!-- configuration -->\n).*(?=<!-- \/configuration -->)/s;
  if (!place.test(readme))
    throw new Error('README.md lacks its marks <!-- configuration --> and <!-- /configuration -->.');
  return readme.replace(place, () => table());
}

function table(): string {
  const rows = variables().map(
    ({ name, preset, says }) => `| \`${name}\` | ${preset === '' ? '' : `\`${preset}\``} | ${sentence(says)} |`,
  );
  return ['| Variable | Default | What it is for |', '|---|---|---|', ...rows].join('\n').concat('\n');
}

function variables(): Variable[] {
  return Object.entries(VARIABLES).map(([name, shape]) => {
    if (!shape.description) throw new Error(`${name} has no description.`);
    return { name, preset: written(shape.parse(undefined)), says: shape.description };
  });
}

function written(preset: unknown): string {
  if (typeof preset === 'boolean') return preset ? 'on' : 'off';
  return Array.isArray(preset) ? preset.join(',') : String(preset ?? '');
}

function sentence(says: string): string {
  return `${says[0]?.toUpperCase()}${says.slice(1)}.`;
}
