/** Every attack of the table. No row uses what another has used up; those that leave work behind come last. */
import type { Row } from '../ground.js';
import { CONNECTIONS } from './connections.js';
import { DATABASE } from './database.js';
import { DOCUMENTS } from './documents.js';
import { FINDINGS } from './findings.js';
import { LEFT_BEHIND } from './left-behind.js';
import { LOG_INS } from './log-ins.js';
import { WEB_SOCKETS } from './web-sockets.js';
import { WEBHOOKS } from './webhooks.js';

const ALL = [
  ...FINDINGS,
  ...CONNECTIONS,
  ...LEFT_BEHIND,
  ...WEB_SOCKETS,
  ...DOCUMENTS,
  ...DATABASE,
  ...LOG_INS,
  ...WEBHOOKS,
];

export const ROWS: readonly Row[] = [
  ...ALL.filter(({ hashesOn }) => !hashesOn),
  ...ALL.filter(({ hashesOn }) => hashesOn),
];
