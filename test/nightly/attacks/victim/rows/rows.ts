/**
 * Every attack in the table. No row depends on resources that another has used up. Rows that leave work behind come
 * last.
 */
import type { Row } from '../ground.js';
import { CONNECTIONS } from './connections.js';
import { DATABASE } from './database.js';
import { DOCUMENTS } from './documents.js';
import { FINDINGS } from './findings.js';
import { LEFT_BEHIND } from './left-behind.js';
import { LOG_INS } from './logins.js';
import { WEB_SOCKETS } from './web-sockets.js';
import { WEBHOOKS } from './webhooks.js';

export const CONNECTION_ROWS = inOrder([
  ...FINDINGS.filter(isOfConnections),
  ...CONNECTIONS,
  ...WEB_SOCKETS,
  ...LEFT_BEHIND,
]);

export const MARKET_ROWS = inOrder([
  ...FINDINGS.filter((row) => !isOfConnections(row)),
  ...DOCUMENTS,
  ...DATABASE,
  ...LOG_INS,
  ...WEBHOOKS,
]);

function inOrder(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => Number(one.hashesOn === true) - Number(other.hashesOn === true));
}

function isOfConnections(row: Row): boolean {
  return row.isOfConnections === true;
}
