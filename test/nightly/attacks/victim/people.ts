/** Accounts in the seeded market, handed out one by one, so earlier rows haven't used up anyone's rate limits. */
import { isBearer } from '../../../../src/market/rules/viewer.js';
import { createAccessTokens } from '../../../../src/platform/security/access-token.js';
import type { Role } from '../../../../src/market/rules/viewer.js';
import type { Market } from '../../../../src/market/store/seed/seed.js';
import { emailOf, ownerOf, personOfContractor, personOfHomeowner, seededId } from '../../../bench/market/market.js';
import { crowdedJob } from '../../../bench/market/uneven-market.js';

export const JWT_SECRET = 'a secret that only the attacks know, 32 bytes';
export const PASSWORD = 'a password for this test';

export interface Person {
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

export interface People {
  homeowner(): Person;
  contractor(): Person;
  readonly ownerOfCrowdedJob: Person;
  /** Access tokens of 600 contractors, which are the same for every row. */
  readonly crowd: readonly string[];
}

const CROWD = 600;
/** The table takes a few minutes, and a token lasts a quarter of an hour. */
const TOKEN_TTL_SECONDS = 900;

export function createPeople(market: Market): People {
  const tokens = createAccessTokens({
    isBearer,
    secret: JWT_SECRET,
    issuer: 'job-marketplace',
    audience: 'job-marketplace',
    ttlSeconds: TOKEN_TTL_SECONDS,
  });
  let homeowners = 0;
  let contractors = CROWD;

  function person(number: number, role: Role): Person {
    const bearer = { userId: seededId('usr', number), sessionId: seededId('ses', number), role } as Parameters<
      typeof tokens.sign
    >[0];
    return { email: emailOf(number), password: PASSWORD, token: tokens.sign(bearer).token };
  }

  return {
    homeowner: () => person(personOfHomeowner((homeowners += 1) % market.homeowners), 'homeowner'),
    contractor: () => person(personOfContractor((contractors += 1) % market.contractors), 'contractor'),
    ownerOfCrowdedJob: person(personOfHomeowner(ownerOf(crowdedJob(market), market)), 'homeowner'),
    crowd: Array.from({ length: CROWD }, (_, at) => person(personOfContractor(at), 'contractor').token),
  };
}
