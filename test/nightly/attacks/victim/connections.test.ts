/** Attacks through connections, which HAProxy must handle. The server is behind it, as in production. */
import { needs } from '../../../setup/needs.js';
import { CONNECTION_ROWS } from './rows/rows.js';
import { victimsTable } from './table.js';

needs('haproxy').describe('while someone floods HAProxy, a homeowner elsewhere signs in, reads and publishes', () => {
  victimsTable(CONNECTION_ROWS, { behindProxy: true });
});
