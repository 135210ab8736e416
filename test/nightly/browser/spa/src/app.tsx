/** The user who is logged in, and their page, such as `#/jobs/job_…`. */
import { useState, useSyncExternalStore } from 'react';
import { BELL, badge, MARK_READ, RINGS } from './bell';
import { ConfirmEmail, LogIns, NewPassword, UnconfirmedEmail } from './account-pages';
import { onSessionChange, readSession } from './session';
import { MY_EVENTS, WHO } from './documents';
import { useEvents, useGraph } from './graph';
import { JobPage } from './job-page';
import { JobsPage } from './jobs-page';
import { logOut } from './sign-in';
import { SignIn } from './sign-in-page';
import { WebhooksPage } from './webhooks-page';

export function App() {
  const signedIn = useSyncExternalStore(onSessionChange, () => readSession() !== undefined);
  const place = useSyncExternalStore(hearPlace, () => location.hash);
  const [, page, token = ''] = /^#\/(reset-password|verify-email)\/(.+)$/.exec(place) ?? [];
  if (page === 'reset-password') return <NewPassword token={token} />;
  if (page === 'verify-email') return <ConfirmEmail token={token} />;
  return signedIn ? <Home /> : <SignIn />;
}

function Home() {
  const graph = useGraph();
  const { data } = graph.useRead(WHO, {});
  const send = graph.useWrite();
  const place = useSyncExternalStore(hearPlace, () => location.hash);
  const [note, setNote] = useState('');
  const [news, setNews] = useState(0);
  const me = data?.viewer?.user;
  // An admin would get the events of all users.
  useEvents(MY_EVENTS, {}, me && me.userType !== 'ADMIN' ? '0' : undefined, ({ actorId }) => {
    if (actorId !== me?.id) setNews((seen) => seen + 1);
  });
  if (!data?.viewer) return <p>One moment …</p>;
  const { user, tokens, referralCode } = data.viewer;
  const id = /^#\/jobs\/(job_\w+)$/.exec(place)?.[1];
  return (
    <>
      <header>
        <a href="#/jobs">Jobs</a> <a href="#/logins">Logins</a> <a href="#/webhooks">Webhooks</a>{' '}
        <b data-testid="who">{user.firstName}</b> <span data-testid="tokens">{tokens.available}</span> of{' '}
        {tokens.balance} tokens, code {referralCode}, <span data-testid="news">{news}</span> pieces of news <Bell />
        <button onClick={() => void logOut(send)}>Log out</button>
      </header>
      {user.emailVerified === false && <UnconfirmedEmail />}
      <label>
        Note to myself <input value={note} onChange={(event) => setNote(event.target.value)} />
      </label>
      {place === '#/logins' ? (
        <LogIns />
      ) : place === '#/webhooks' ? (
        <WebhooksPage />
      ) : id === undefined ? (
        <JobsPage mayPost={user.userType === 'HOMEOWNER'} maySearch={user.userType === 'CONTRACTOR'} news={news} />
      ) : (
        <JobPage key={id} id={id} />
      )}
    </>
  );
}

/** The notification bell of docs/clients.md. Clicking it shows the list and marks it as read. */
function Bell() {
  const graph = useGraph();
  const { data, again } = graph.useRead(BELL, {});
  const send = graph.useWrite();
  const [isOpen, setIsOpen] = useState(false);
  const [newest] = data?.viewer?.notifications.nodes ?? [];
  useEvents(RINGS, {}, data && (newest?.position ?? '0'), () => void again());
  const open = () => {
    setIsOpen(!isOpen);
    if (newest && !isOpen) void send(MARK_READ, { upTo: newest.position });
  };
  return (
    <>
      <button onClick={open}>
        Notifications <span data-testid="unread">{data?.viewer && (badge(data.viewer.unreadCount) || 'none')}</span>
      </button>
      {isOpen && (
        <ul>
          {data?.viewer?.notifications.nodes.map(({ position, title, sentence, jobId }) => (
            <li key={position}>
              {jobId === null ? title : <a href={`#/jobs/${jobId}`}>{title}</a>} {sentence}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function hearPlace(changed: () => void): () => void {
  window.addEventListener('hashchange', changed);
  return () => window.removeEventListener('hashchange', changed);
}
