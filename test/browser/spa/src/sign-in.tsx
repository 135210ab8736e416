import { writeSession, type Session } from '../docs/session';
import { LOG_IN, SIGN_UP_CONTRACTOR, SIGN_UP_HOMEOWNER } from './documents';
import { Field, Form } from './form';
import { Refused, useGraph } from './graph';

type Fields = Record<string, string>;

export function SignIn() {
  const write = useGraph().useWrite();
  const logIn = async ({ email = '', password = '' }: Fields) =>
    (await write(LOG_IN, { input: { email, password } })).session;
  const newcomer = ({ email = '', password = '', firstName = '' }: Fields) => ({
    input: { email, password, firstName, lastName: 'Example' },
  });
  const enter = (open: (fields: Fields) => Promise<Session>) => async (fields: Fields) =>
    writeSession(await open(fields));
  // The answer to an earlier attempt may have been lost: then the account is there.
  const orLogIn = (signUp: (fields: Fields) => Promise<Session>) => (fields: Fields) =>
    signUp(fields).catch((error: unknown) => {
      if (error instanceof Refused && error.code === 'EMAIL_TAKEN') return logIn(fields);
      throw error;
    });
  const asHomeowner = orLogIn(async (fields) => (await write(SIGN_UP_HOMEOWNER, newcomer(fields))).session);
  const asContractor = orLogIn(async (fields) => (await write(SIGN_UP_CONTRACTOR, newcomer(fields))).session);
  return (
    <>
      <Form name="Sign up as a homeowner" send={enter(asHomeowner)}>
        <Field name="firstName" label="First name" />
        <Credentials />
      </Form>
      <Form name="Sign up as a contractor" send={enter(asContractor)}>
        <Field name="firstName" label="First name" />
        <Credentials />
      </Form>
      <Form name="Log in" send={enter(logIn)}>
        <Credentials />
      </Form>
    </>
  );
}

function Credentials() {
  return (
    <>
      <Field name="email" label="Email" type="email" />
      <Field name="password" label="Password" type="password" />
    </>
  );
}
