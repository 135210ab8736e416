/** People by name. Each joins through the real API, and has the token for their calls. */
import { ADMIN, type Json, type TestApp } from '../setup/app.js';

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly refreshToken: string;
  readonly userId: string;
  /** The homeowner's or contractor's profile. Empty for an admin. */
  readonly profileId: string;
  readonly referralCode: string;
}

type RestCaller = Pick<TestApp, 'rest'>;

let arrivals = 0;

/** A new user with this name. Two calls with the same name create two people. */
export async function join(
  app: RestCaller,
  kind: 'homeowner' | 'contractor',
  name: string,
  more: object = {},
): Promise<Person> {
  arrivals += 1;
  const email = `${name.toLowerCase()}.${arrivals}@example.test`;
  const password = `${name} has a password`;
  const answer = await app.rest('POST', `/v1/auth/signup/${kind}`, {
    body: { email, password, first_name: name, last_name: `of Test`, ...more },
  });
  if (answer.status !== 201) throw new Error(`${name} could not join: ${JSON.stringify(answer.body)}`);
  return personFrom(app, name, email, password, answer.body);
}

export const homeowner = (app: RestCaller, name: string, more?: object) => join(app, 'homeowner', name, more);
export const contractor = (app: RestCaller, name: string, more?: object) => join(app, 'contractor', name, more);

/** A program of theirs, which calls with an API key. */
export async function programOf(app: TestApp, person: Person): Promise<Person> {
  const { token, name } = person;
  const made = await app.rest('POST', '/v1/api-keys', { token, body: { name: `A program of ${name}` } });
  if (made.status !== 201) throw new Error(`${name} could not make a key: ${JSON.stringify(made.body)}`);
  return { ...person, token: made.body.secret };
}

export async function admin(app: RestCaller): Promise<Person> {
  const answer = await app.rest('POST', '/v1/auth/login', { body: ADMIN });
  return personFrom(app, 'Ada', ADMIN.email, ADMIN.password, answer.body);
}

async function personFrom(
  app: RestCaller,
  name: string,
  email: string,
  password: string,
  session: Json,
): Promise<Person> {
  const me = await app.rest('GET', '/v1/me', { token: session.token });
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
