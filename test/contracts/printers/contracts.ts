/**
 * What outsiders see, printed from the code: each file, and how its text is made from the one before. A new contract is
 * one more line here.
 */
import { printSchema } from 'graphql';
import { createSchema } from '../../../src/graphql/schema.js';
import { openapi } from '../../../src/rest/openapi/openapi.js';
import { lifecycleDiagram } from './lifecycle-diagram.js';
import { environmentFile, withConfigurationTable, withShareTable } from './configuration.js';
import { permissionsFile } from './permissions.js';

const { CONTRACTS: printed, MATRIX } = process.env;

export const CONTRACTS: Readonly<Record<string, (before: string) => string | Promise<string>>> = {
  'schema/api.graphql': () => `${printSchema(createSchema())}\n`,
  'schema/openapi.json': () => `${JSON.stringify(openapi(), null, 2)}\n`,
  'schema/lifecycle.md': lifecycleDiagram,
  // Both APIs where it is printed, and in the nightly run.
  'schema/permissions.txt': () => permissionsFile(printed === 'print' || MATRIX === 'whole'),
  '.env.example': environmentFile,
  'README.md': withConfigurationTable,
  'src/platform/quotas/README.md': withShareTable,
};
