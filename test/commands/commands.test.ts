/** The commands print help, accept a port if they listen, and reject unknown options. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { untilReady } from '../app/callers.js';
import { clone, type Clone } from '../app/clone.js';
import { start } from '../app/processes.js';

const COMMANDS = {
  'npm start': 'dist/main.js',
  'npm run demo': 'dist/commands/demo.js',
  'npm run seed': 'dist/commands/seed.js',
  'npm run admin': 'dist/commands/admin.js',
  'npm run migrate': 'dist/commands/migrate.js',
};

let project: Clone;
beforeAll(() => {
  project = clone();
});
afterAll(() => project.remove());

it.each(Object.entries(COMMANDS))(
  '%s prints its options for --help, and rejects an unknown one',
  async (name, file) => {
    const DATA_DIR = project.dataFolder();
    const run = (option: string) => start(project, [process.execPath, file, option], { DATA_DIR }).ended;
    const help = await run('--help');
    expect({ code: help.code, begin: help.output.startsWith(`${name} -- `) }).toEqual({ code: 0, begin: true });
    expect(help.output).toContain('  --help ');
    expect(await run('--prot')).toMatchObject({
      code: 1,
      output: `Unknown option '--prot'. For the options, run: ${name} -- --help\n`,
    });
    expect(existsSync(DATA_DIR)).toBe(false);
  },
);

it('--port overrides the variable', async () => {
  const DATA_DIR = project.usedDataFolder();
  const server = start(project, [process.execPath, 'dist/main.js', '--port', '0'], { DATA_DIR, PORT: '1' });
  await untilReady(await server.url);
  const wrong = start(project, [process.execPath, 'dist/main.js', '--port', 'http'], { DATA_DIR });
  expect(await wrong.ended).toMatchObject({ code: 1, output: expect.stringContaining('PORT must be a whole number') });
});
