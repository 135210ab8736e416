/** Emails as a person reads them on the /mailbox page. */
import { MAILBOX_SECRET, type TestApp } from '../../setup/app.js';
import { until } from '../../platform/security/until.js';

export interface ReadMail {
  readonly id: string;
  readonly subject: string;
  readonly to: string;
  readonly link: string;
  /** The page that the email's link opens, and its token. An app's own page may have the token elsewhere. */
  readonly page: string | undefined;
  readonly token: string;
}

/** The page's HTML. */
export async function mailboxPage(app: TestApp): Promise<string> {
  return (await fetch(`${app.url}/mailbox`, { headers: { cookie: `mailbox=${MAILBOX_SECRET}` } })).text();
}

/** Newest first. */
export async function mailsTo(app: TestApp, email: string): Promise<ReadMail[]> {
  const page = await mailboxPage(app);
  const mails = [...page.matchAll(/<article id="(\w+)">([^]*?)<\/article>/g)].map(
    ([, id = '', html = '']): ReadMail => {
      const [, link = ''] = /<a href="([^"]+)"/.exec(html) ?? [];
      const [page, token = ''] = link.split('#token=');
      return {
        id,
        subject: /<h2>([^<]*)/.exec(html)?.[1] ?? '',
        to: /To ([^,]*),/.exec(html)?.[1] ?? '',
        link,
        page: token === '' ? undefined : page?.replace(app.url, ''),
        token,
      };
    },
  );
  return mails.filter(({ to }) => to === email);
}

/** The newest email with this subject, once this many have arrived. */
export async function mailTo(app: TestApp, email: string, subject: string, count = 1): Promise<ReadMail> {
  let mails: ReadMail[] = [];
  await until(async () => {
    app.sendEmails();
    mails = (await mailsTo(app, email)).filter((mail) => mail.subject === subject);
    return mails.length >= count;
  });
  const [newest] = mails;
  if (!newest || mails.length > count) throw new Error(`${email} got ${mails.length} mails of ${subject}`);
  return newest;
}
