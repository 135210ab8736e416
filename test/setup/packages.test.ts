/** A test's packages are complete as soon as they can be found, even if several runs start together. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { packagesOf } from './packages.js';

const folder = mkdtempSync(join(tmpdir(), 'packages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A package without dependencies, so nothing is downloaded. */
function given(name: string): string {
  const project = join(folder, name);
  mkdirSync(project);
  const named = { name, version: '1.0.0' };
  writeFileSync(join(project, 'package.json'), JSON.stringify(named));
  const lock = { ...named, lockfileVersion: 3, packages: { '': named } };
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lock));
  return project;
}

it('are installed once by two runs that start at the same time, and kept for a third', async () => {
  const installed = join(folder, 'installed');
  const project = given('one');
  const found = await Promise.all([1, 2].map(() => packagesOf(project, installed)));
  expect(new Set(found).size).toBe(1);
  const [place = ''] = found;
  expect(existsSync(place)).toBe(true);
  expect(readdirSync(installed)).toHaveLength(1);
  const { ino } = statSync(place);
  expect([await packagesOf(project, installed), statSync(place).ino]).toEqual([place, ino]);
});

it('leave nothing behind if they can’t be installed', async () => {
  const installed = join(folder, 'of-none');
  const project = given('two');
  const dependencies = { nowhere: 'file:nowhere' };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'two', version: '1.0.0', dependencies }));
  await expect(packagesOf(project, installed)).rejects.toThrow('npm ci failed');
  expect(readdirSync(installed)).toEqual([]);
});
