/** People by name. Each joins through the real door, and carries the token that their calls are made with. */
import { ADMIN, type Json, type TestHouse } from './house.js';

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly refreshToken: string;
  readonly userId: string;
  /** The homeowner's or contractor's profile; empty for an admin. */
  readonly profileId: string;
  readonly referralCode: string;
}

let arrivals = 0;

/** A newcomer with this name. The same name twice is two people. */
export async function join(
  house: TestHouse,
  kind: 'homeowner' | 'contractor',
  name: string,
  more: object = {},
): Promise<Person> {
  arrivals += 1;
  const email = `${name.toLowerCase()}.${arrivals}@example.test`;
  const password = `${name} has a password`;
  const answer = await house.rest('POST', `/v1/auth/signup/${kind}`, {
    body: { email, password, first_name: name, last_name: `of Test`, ...more },
  });
  if (answer.status !== 201) throw new Error(`${name} could not join: ${JSON.stringify(answer.body)}`);
  return personFrom(house, name, email, password, answer.body);
}

export const homeowner = (house: TestHouse, name: string, more?: object) => join(house, 'homeowner', name, more);
export const contractor = (house: TestHouse, name: string, more?: object) => join(house, 'contractor', name, more);

/** A program of theirs, which calls with an API key. */
export async function programOf(house: TestHouse, person: Person): Promise<Person> {
  const { token, name } = person;
  const made = await house.rest('POST', '/v1/api-keys', { token, body: { name: `A program of ${name}` } });
  if (made.status !== 201) throw new Error(`${name} could not make a key: ${JSON.stringify(made.body)}`);
  return { ...person, token: made.body.secret };
}

export async function admin(house: TestHouse): Promise<Person> {
  const answer = await house.rest('POST', '/v1/auth/login', { body: ADMIN });
  return personFrom(house, 'Ada', ADMIN.email, ADMIN.password, answer.body);
}

async function personFrom(
  house: TestHouse,
  name: string,
  email: string,
  password: string,
  session: Json,
): Promise<Person> {
  const me = await house.rest('GET', '/v1/me', { token: session.token });
  return {
    name,
    email,
    password,
    token: session.token,
    refreshToken: session.refresh_token,
    userId: session.user.id,
    profileId: (session.homeowner ?? session.contractor)?.id ?? '',
    referralCode: me.body.referral_code,
  };
}
