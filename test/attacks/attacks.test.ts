/** Every attack from the known lists, actually tried. Each has a name, its source list, and its outcome. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDatabase } from '../setup/database/checker.js';
import { ASSIGNMENT_ATTACKS } from './assignment-attacks.js';
import { GRAPHQL_ATTACKS } from './graphql-attacks.js';
import { openGround, type Attack, type Ground } from './ground.js';
import { LIMIT_ATTACKS } from './limit-attacks.js';
import { MISUSE_ATTACKS } from './misuse-attacks.js';
import { STRANGER_ATTACKS } from './stranger-attacks.js';
import { TOKEN_ATTACKS } from './token-attacks.js';

const TABLE: readonly (readonly [about: string, attacks: readonly Attack[]])[] = [
  ['GraphQL itself', GRAPHQL_ATTACKS],
  ['tokens', TOKEN_ATTACKS],
  ['what nobody may set', ASSIGNMENT_ATTACKS],
  ['what is someone else’s', STRANGER_ATTACKS],
  ['limits', LIMIT_ATTACKS],
  ['misuse', MISUSE_ATTACKS],
];

let ground: Ground;
beforeAll(async () => {
  ground = await openGround();
});
/** Once the servers are closed, none of their background work can connect anymore. */
afterAll(async () => {
  await ground.close();
  expect(ground.trap.visits()).toBe(0);
});

describe.each(TABLE)('an attack on %s:', (_about, attacks) => {
  it.each(attacks.map((attack) => [attack.name, attack.source, attack.outcome, attack] as const))(
    '%s (%s) → %s',
    async (_name, _source, outcome, attack) => {
      expect(await attack.run(ground)).toBe(outcome);
    },
  );
});

it('after all of them, the tokens add up, and nobody has become an admin', async () => {
  for (const { sql } of [ground.app, ground.limited, ground.unproxied, ground.production]) {
    expect(await checkDatabase(sql)).toEqual([]);
    expect((await sql`select email from users where user_type = 'admin'`).map(({ email }) => email)).toEqual([
      'ada.admin@example.test',
    ]);
  }
});
