/** Abandoned requests: sent and then reset, as fast as connections can be opened. */
import type { Connections } from '../attack.js';
import type { Row } from '../ground.js';
import { bytesOf, WRONG_LOG_IN } from './requests.js';

const JSON_TYPE = 'Content-Type: application/json';
const POLITE = ['Expect: 100-continue', JSON_TYPE, 'Content-Length: 60000'];

function leftBehind(what: string, { hashesOn, ...how }: Partial<Connections> & Pick<Row, 'hashesOn'>): Row {
  return {
    name: `${what}, given up by a reset at once, as fast as connections can be made`,
    who: how.first?.includes('@TOKEN@') ? 'one account' : 'anonymous',
    ...(hashesOn && { hashesOn }),
    attacks: ({ people }) => [
      {
        kind: 'connections',
        connections: 200,
        tokens: [people.contractor().token],
        byReset: true,
        again: { afterMs: 0 },
        ...how,
      },
    ],
  };
}

export const LEFT_BEHIND: readonly Row[] = [
  leftBehind('connections', { hangUpAfterMs: 1 }),
  leftBehind('bodies promised by Expect: 100-continue', {
    first: bytesOf('POST', '/v1/auth/login', { headers: POLITE }),
    hangUpAfterMs: 30,
  }),
  leftBehind('bodies that are nearly whole', {
    first: bytesOf('POST', '/graphql', { headers: [JSON_TYPE, 'Content-Length: 64000'] }) + '{'.padEnd(63_000),
    hangUpAfterMs: 5,
  }),
  leftBehind('two hundred pages sent ahead', {
    connections: 100,
    first: bytesOf('GET', '/v1/jobs?per_page=100', { headers: ['Authorization: Bearer @TOKEN@'] }).repeat(200),
    hangUpAfterMs: 3,
  }),
  leftBehind('logins', {
    hashesOn: true,
    connections: 300,
    first: bytesOf('POST', '/v1/auth/login', { body: JSON.stringify(WRONG_LOG_IN) }),
    hangUpAfterMs: 30,
  }),
];
