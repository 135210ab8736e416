/** Reads the sample users' emails in the mailbox, the way a developer would. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../app/config.js';
import { mailboxLink } from '../../app/mail-settings.js';

const PAGE_READS_MAX = 50;
const PAUSE_MS = 200;

/** Returns a function that finds the token in a confirmation email, or undefined if there's no mailbox. */
export function mailboxReader(url: string, config: Config) {
  const link = mailboxLink(url, config);
  if (link === undefined) return undefined;
  const cookie = `mailbox=${new URL(link).searchParams.get('secret') ?? ''}`;
  return async (email: string): Promise<string | undefined> => {
    // The queue sends emails, so it may take a moment for the email to arrive.
    for (let reads = 0; reads < PAGE_READS_MAX; reads += 1) {
      const page = await (await fetch(new URL('/mailbox', link), { headers: { cookie } })).text();
      const [, mail = ''] = page.split(`To ${email},`);
      const [, token] = /#token=([\w-]+)/.exec(mail.split('</article>')[0] ?? '') ?? [];
      if (token !== undefined) return token;
      await sleep(PAUSE_MS);
    }
    return undefined;
  };
}
