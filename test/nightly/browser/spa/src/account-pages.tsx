/** The pages that links in emails open, and a page of the user’s sessions. */
import { useState } from 'react';
import {
  END_OTHER_SESSIONS,
  END_SESSION,
  LOG_INS,
  REQUEST_EMAIL_VERIFICATION,
  REQUEST_PASSWORD_RESET,
  RESET_PASSWORD,
  VERIFY_EMAIL,
} from './documents';
import { Field, Form } from './form';
import { useGraph } from './graph';
import { writeSession } from './session';

export function ForgottenPassword() {
  const send = useGraph().useWrite();
  const [asked, setAsked] = useState(false);
  const ask = async ({ email = '' }: Record<string, string>) => {
    await send(REQUEST_PASSWORD_RESET, { email });
    setAsked(true);
  };
  return (
    <>
      <Form name="Send me a link" send={ask}>
        <Field name="email" label="Email" type="email" />
      </Form>
      {asked && <p role="status">If there is an account with this address, a mail is on its way.</p>}
    </>
  );
}

/** The reset has ended all sessions, including this browser’s. */
export function NewPassword({ token }: { token: string }) {
  const send = useGraph().useWrite();
  const set = async ({ newPassword = '' }: Record<string, string>) => {
    await send(RESET_PASSWORD, { token, newPassword });
    writeSession(undefined);
    location.hash = '';
  };
  return (
    <>
      <Form name="Set the password" send={set}>
        <Field name="newPassword" label="New password" type="password" />
      </Form>
      <ForgottenPassword />
    </>
  );
}

/** Waits for a click, because programs that scan emails open every link. */
export function ConfirmEmail({ token }: { token: string }) {
  const send = useGraph().useWrite();
  const confirm = async () => {
    await send(VERIFY_EMAIL, { token });
    location.hash = '';
  };
  return <Form name="Confirm my email" send={confirm} />;
}

export function UnconfirmedEmail() {
  const send = useGraph().useWrite();
  return (
    <section data-testid="unconfirmed">
      Your email is not confirmed. <Form name="Send the link again" send={() => send(REQUEST_EMAIL_VERIFICATION, {})} />
    </section>
  );
}

export function LogIns() {
  const graph = useGraph();
  const { data, again } = graph.useRead(LOG_INS, {});
  const send = graph.useWrite();
  const end = async (ending: Promise<unknown>) => {
    await ending;
    await again();
  };
  return (
    <main>
      <h1>Where I am logged in</h1>
      <ul>
        {data?.viewer?.sessions?.nodes.map(({ id, isCurrent }) => (
          <li key={id}>
            {isCurrent ? 'here' : <button onClick={() => void end(send(END_SESSION, { id }))}>End this one</button>}
          </li>
        ))}
      </ul>
      <button onClick={() => void end(send(END_OTHER_SESSIONS, {}))}>End all others</button>
    </main>
  );
}
