/** The limit of the database itself: pgbench sends the floor's statements directly. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchDatabase } from './database.js';
import type { Market } from '../../src/market/store/seed/seed.js';
import { personOfContractor, seededId } from './market/market.js';
import { LIST_STATEMENT, VIEWER_STATEMENT } from './rivals/statements.js';
import type { Work } from './work/works.js';

/** Requests per second, by work. Empty if pgbench isn't installed. */
export async function databaseLimit(
  database: BenchDatabase,
  market: Market,
  works: readonly Work[],
  seconds: number,
): Promise<Record<string, number>> {
  const program = findPgbench();
  if (!program || !works.some(({ name }) => name === 'list')) return {};
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-pgbench-'));
  try {
    const person = personOfContractor(Math.floor(market.contractors / 2));
    const script = join(folder, 'list.sql');
    const given = (text: string, names: readonly string[]) =>
      `${text.replaceAll(/\s+/g, ' ').replaceAll(/\$(\d)/g, (_, at: string) => `:${names[Number(at) - 1]}`)};\n`;
    writeFileSync(script, given(VIEWER_STATEMENT, ['session', 'person']) + given(LIST_STATEMENT, ['contractor']));
    const variables = {
      session: seededId('ses', person),
      person: seededId('usr', person),
      contractor: seededId('ctr', person),
    };
    const { stdout, stderr, status } = spawnSync(
      program,
      [
        '-n',
        '-M',
        'prepared',
        '-c',
        '10',
        '-j',
        '1',
        '-T',
        String(Math.ceil(seconds)),
        '-f',
        script,
        ...Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
      ],
      { env: { PATH: process.env.PATH, ...database.environment }, encoding: 'utf8' },
    );
    const perSecond = /tps = ([\d.]+)/.exec(stdout)?.[1];
    if (status !== 0 || perSecond === undefined) throw new Error(`pgbench said: ${stderr}`);
    return { list: Number(perSecond) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function findPgbench(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, 'bin')) : [];
  return [...versions, ...(process.env.PATH ?? '').split(':')]
    .map((folder) => join(folder, 'pgbench'))
    .find((file) => existsSync(file));
}
