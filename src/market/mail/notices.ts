/**
 * Emails about notifications, which contain only titles, sentences, and links. Each email is a digest, or covers events
 * of one type about one job.
 */
import type { NoticeKind } from '../rules/people/mail-kinds.js';
import { MATCHED_EVENT } from '../rules/notifications.js';
import type { Mail } from '../store/accounts/mails.js';
import type { ComposedMail, ComposeSettings, LinkAddresses } from './composed-mail.js';
import { asHtml, asPlainText } from './layout.js';
import type { Notified } from './notified.js';
import type { MailItem, MailText } from './text.js';
import { unsubscribeLink } from './unsubscribe.js';

export type NoticeMail = Mail & { readonly kind: NoticeKind };

/** Returns `nobody` if there are no notifications to send. */
export function composeNotice(
  { kind, leftOutCount }: NoticeMail,
  notified: readonly Notified[],
  { tokens, addresses }: ComposeSettings,
): ComposedMail | 'nobody' {
  const last = notified.at(-1);
  if (!last) return 'nobody';
  const isHourly = kind === 'notification' && last.entry.isFixed;
  const types = [...new Set(notified.map(({ type }) => type))];
  const links = {
    action: kind === 'notification' ? jobLink(last, addresses) : undefined,
    unsubscribe: isHourly ? undefined : unsubscribeLink(tokens, addresses.origin, { ...last, types }),
  };
  const text =
    kind === 'digest' ? digest(notified, leftOutCount ?? 0, addresses) : notification(last, notified.length > 1);
  return {
    subject: text.subject,
    text: asPlainText(text, links),
    html: asHtml(text, links),
    unsubscribe: links.unsubscribe,
    isHourly,
  };
}

const BY_CHOICE = 'You’re getting this email because of your notification settings.';
const BY_SEARCH = 'You’re getting this email because you saved a search.';
const ALWAYS = 'This email can’t be turned off.';

function notification({ type, entry: { title, sentence, isFixed } }: Notified, isRepeated: boolean): MailText {
  const byChoice = type === MATCHED_EVENT ? BY_SEARCH : BY_CHOICE;
  return {
    subject: title,
    before: isRepeated ? [sentence, 'This email is about more than one such event.'] : [sentence],
    action: 'Open the job',
    after: [],
    footer: isFixed ? ALWAYS : byChoice,
  };
}

function digest(notified: readonly Notified[], leftOutCount: number, addresses: LinkAddresses): MailText {
  return {
    subject: 'Your daily digest',
    before: ['Here’s what happened since your last digest:'],
    items: itemsOf(notified, addresses),
    after: leftOutCount > 0 ? [`And ${leftOutCount} more. You can see them all in your feed.`] : [],
    footer: BY_CHOICE,
  };
}

/** Notifications with the same title about the same job become one item, in the latest one's place. */
function itemsOf(notified: readonly Notified[], addresses: LinkAddresses): MailItem[] {
  const items = new Map<string, Notified[]>();
  for (const one of notified) {
    const key = `${one.jobId} ${one.entry.title}`;
    const same = items.get(key) ?? [];
    items.delete(key);
    items.set(key, [...same, one]);
  }
  return [...items.values()].map((same) => {
    const [{ entry, ...one }] = same as [Notified];
    const title = same.length > 1 ? `${entry.title} (${same.length} times)` : entry.title;
    return { title, link: jobLink(one, addresses) };
  });
}

function jobLink({ jobId }: Pick<Notified, 'jobId'>, { job }: LinkAddresses): string | undefined {
  return jobId === null ? undefined : job?.replaceAll('{id}', jobId);
}
