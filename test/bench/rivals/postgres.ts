/**
 * The pool of every handwritten server here, with as many connections as the product's. Numbers are numbers, and dates
 * are strings.
 */
import postgres from 'postgres';
import { environment } from './environment.js';

export const POOL_SIZE = 10;

export const sql = postgres(environment('DATABASE_URL'), {
  max: POOL_SIZE,
  fetch_types: false,
  onnotice: () => {},
  types: {
    numeric: { to: 1700, from: [1700], serialize: String, parse: Number },
    day: { to: 1082, from: [1082], serialize: String, parse: (text: string) => text },
  },
  connection: { TimeZone: 'UTC' },
});
