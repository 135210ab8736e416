/** The files that are printed from the code. Each function gets the file's current text and returns the new one. */
import { readFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { schema } from '../../../src/graphql/schema.js';
import { openapi } from '../../../src/rest/openapi/openapi.js';
import { lifecycleDiagram, withLifecyclePicture } from './lifecycle-diagram.js';
import { environmentFile, withConfigurationTables } from './configuration.js';
import { withNotificationTables } from './notifications.js';
import { permissionsFile } from './permissions.js';
import { plotsOf } from '../../bench/report/plots.js';

const { CONTRACTS: printed, MATRIX } = process.env;

const benchmarks = readFileSync(new URL('../../bench/results/summary.md', import.meta.url), 'utf8');
const plots = Object.entries(plotsOf(benchmarks)).map(
  ([name, svg]) => [`test/bench/results/${name}`, () => svg] as const,
);

export const CONTRACTS: Readonly<Record<string, (before: string) => string | Promise<string>>> = {
  'schema/api.graphql': () => `${printSchema(schema)}\n`,
  'schema/openapi.json': () => `${JSON.stringify(openapi(), null, 2)}\n`,
  'schema/lifecycle.md': lifecycleDiagram,
  // Through both APIs when printing, and in the nightly run.
  'schema/permissions.txt': () => permissionsFile(printed === 'print' || MATRIX === 'whole'),
  '.env.example': environmentFile,
  'README.md': withLifecyclePicture,
  'docs/configuration.md': withConfigurationTables,
  'docs/notifications.md': withNotificationTables,
  ...Object.fromEntries(plots),
};
