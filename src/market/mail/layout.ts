/** The layout of all emails: plain text, and HTML for light and dark screens. */
import { escapeHtml } from '../../platform/http/pages/look.js';
import type { MailItem, MailLinks, MailText } from './text.js';

const NAME = 'Job Marketplace';
const FOOTER = 'We sent you this email because it’s about your account.';
const NO_REPLIES = 'We don’t read replies.';

export function asPlainText(
  { before, items = [], action, after, footer = FOOTER }: MailText,
  links: MailLinks,
): string {
  const list = items.map(({ title, link }) => (link === undefined ? `- ${title}` : `- ${title}:\n  ${link}`));
  const linkLines = action !== undefined && links.action !== undefined ? [`${action}:\n${links.action}`] : [];
  const unsubscribe = links.unsubscribe === undefined ? '' : `Unsubscribe:\n${links.unsubscribe}\n`;
  const paragraphs = ['Hello,', ...before, ...(list.length > 0 ? [list.join('\n')] : []), ...linkLines, ...after];
  return [...paragraphs, `-- \n${NAME}\n${footer} ${NO_REPLIES}\n${unsubscribe}`].join('\n\n');
}

export function asHtml(mail: MailText, links: MailLinks): string {
  const { subject, before, items = [], action, after, footer = FOOTER } = mail;
  const paragraphs = (texts: readonly string[]) => texts.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n      ');
  const address = escapeHtml(links.action ?? '');
  const list = items.length > 0 ? `<ul>${items.map(itemHtml).join('')}</ul>` : '';
  const button =
    action !== undefined && links.action !== undefined
      ? `<p class="action"><a href="${address}" target="_blank" rel="noopener">${escapeHtml(action)}</a></p>
      <p class="faint">If the button does nothing, copy this address into your browser:<br />${address}</p>`
      : '';
  const unsubscribe = links.unsubscribe === undefined ? '' : ` ${linkHtml(links.unsubscribe, 'Unsubscribe')}`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="supported-color-schemes" content="light dark" />
    <title>${escapeHtml(subject)}</title>
    <style>${STYLES}</style>
  </head>
  <body>
    <div class="mail">
      <p class="name">${NAME}</p>
      <h1>${escapeHtml(subject)}</h1>
      <p>Hello,</p>
      ${paragraphs(before)}
      ${list}
      ${button}
      ${paragraphs(after)}
      <p class="foot faint">${escapeHtml(footer)} ${NO_REPLIES}${unsubscribe}</p>
    </div>
  </body>
</html>
`;
}

const itemHtml = ({ title, link }: MailItem) =>
  `<li>${link === undefined ? escapeHtml(title) : linkHtml(link, title)}</li>`;

const linkHtml = (link: string, text: string) =>
  `<a href="${escapeHtml(link)}" target="_blank" rel="noopener">${escapeHtml(text)}</a>`;

const STYLES = `
      :root { color-scheme: light dark; }
      body { margin: 0; padding: 24px 12px; background: #f6f7f9; color: #1f2937; }
      body { font: 16px/1.5 -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }
      .mail { max-width: 520px; margin: 0 auto; padding: 24px; background: #ffffff; border: 1px solid #d5dae2; }
      .mail { border-radius: 9px; overflow-wrap: anywhere; }
      h1 { margin: 0 0 16px; font-size: 22px; line-height: 1.25; }
      p, ul { margin: 0 0 16px; }
      ul { padding-left: 20px; }
      li { margin-bottom: 8px; }
      a { color: #b93a08; }
      .name { color: #c2410c; font-weight: 600; }
      .action { margin: 24px 0; }
      .action a { display: inline-block; padding: 12px 20px; border-radius: 6px; background: #c2410c; color: #ffffff; }
      .action a { font-weight: 600; text-decoration: none; }
      .faint { color: #5b6472; font-size: 13px; }
      .foot { margin: 24px 0 0; padding-top: 16px; border-top: 1px solid #d5dae2; }
      @media (prefers-color-scheme: dark) {
        body { background: #171d29; color: #dfe4ec; }
        .mail { background: #202838; border-color: #3a4559; }
        a, .name { color: #fb923c; }
        .faint { color: #a3adbd; }
        .foot { border-color: #3a4559; }
      }
    `;
