/**
 * Records an earlier release's database for `upgrades.test.ts`. That release's built server serves the demo town, and
 * every row is saved.
 *
 *   npx tsx test/upgrades/record.ts <folder of the built release> <its name>
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { play } from '../../src/commands/demo/story.js';
import { ADMIN } from '../../src/commands/demo/town.js';
import { openDatabase } from '../bench/database.js';
import { startServer } from '../bench/servers.js';
import { record } from './recorded.js';

const [folder = '', name = ''] = process.argv.slice(2);
const database = await openDatabase({ migrated: false });
const environment = {
  NODE_ENV: 'development',
  BCRYPT_COST: '4',
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
};
const server = await startServer('product', database, { product: folder, environment });
await play({ url: `http://127.0.0.1:${server.port}`, tokenTo: undefined, mayReceive: false, onStep: console.log });
await server.stop();
const recorded = await record(database.sql);
writeFileSync(join(import.meta.dirname, `${name}.json.gz`), gzipSync(JSON.stringify(recorded), { level: 9 }));
await database.stop();
