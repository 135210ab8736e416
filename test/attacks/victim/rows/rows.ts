/** Every attack of the table. The order does not matter, since no row uses what another has used up. */
import type { Row } from '../ground.js';
import { CONNECTIONS } from './connections.js';
import { DATABASE } from './database.js';
import { DOCUMENTS } from './documents.js';
import { FINDINGS } from './findings.js';
import { LOG_INS } from './log-ins.js';

export const ROWS: readonly Row[] = [...FINDINGS, ...CONNECTIONS, ...LOG_INS, ...DOCUMENTS, ...DATABASE];
