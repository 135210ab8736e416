/** Every attack of the table. No row uses what another has used up; those that leave work behind come last. */
import type { Row } from '../ground.js';
import { CONNECTIONS } from './connections.js';
import { DATABASE } from './database.js';
import { DOCUMENTS } from './documents.js';
import { FINDINGS } from './findings.js';
import { LOG_INS } from './log-ins.js';
import { WEBHOOKS } from './webhooks.js';

const ALL = [...FINDINGS, ...CONNECTIONS, ...DOCUMENTS, ...DATABASE, ...LOG_INS, ...WEBHOOKS];

export const ROWS: readonly Row[] = [
  ...ALL.filter(({ hashesOn }) => !hashesOn),
  ...ALL.filter(({ hashesOn }) => hashesOn),
];
