import { ForgottenPassword } from './account-pages';
import { Field, Form } from './form';
import { useGraph } from './graph';
import { logIn, SIGN_UP_CONTRACTOR, SIGN_UP_HOMEOWNER, signUp } from './sign-in';

type Fields = Record<string, string>;

export function SignIn() {
  const send = useGraph().useWrite();
  const newUser = ({ email = '', password = '', firstName = '' }: Fields) => ({
    email,
    password,
    firstName,
    lastName: 'Example',
  });
  const asHomeowner = (fields: Fields) => signUp(send, SIGN_UP_HOMEOWNER, newUser(fields));
  const asContractor = (fields: Fields) => signUp(send, SIGN_UP_CONTRACTOR, newUser(fields));
  return (
    <>
      <Form name="Sign up as a homeowner" send={asHomeowner}>
        <Field name="firstName" label="First name" />
        <Credentials />
      </Form>
      <Form name="Sign up as a contractor" send={asContractor}>
        <Field name="firstName" label="First name" />
        <Credentials />
      </Form>
      <Form name="Log in" send={({ email = '', password = '' }) => logIn(send, { email, password })}>
        <Credentials />
      </Form>
      <ForgottenPassword />
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
