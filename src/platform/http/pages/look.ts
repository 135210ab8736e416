/** The look that all of the server's pages share: colors, font, icon, header, and frame. */
import { STATUS_CODES } from 'node:http';
import type { PageFile } from './pages.js';
import type { Refusal } from '../../errors.js';
import type { Exchange } from '../exchange.js';
import { allowStyles } from '../browser-headers.js';

export const HTML = 'text/html; charset=utf-8';

/** A house with a check mark, in a color that is visible on light and dark browser tabs. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24" fill="none"' +
  ' stroke="#c2410c" stroke-width="2" stroke-linejoin="round" stroke-linecap="round">' +
  '<path d="M3 11.5 12 4l9 7.5"/><path d="M5.5 10v10h13V10"/><path d="m9 15 2.2 2.2L15.5 13"/></svg>';

const ICON_FILE: PageFile = { contentType: 'image/svg+xml', read: async () => ICON };

/** Browsers request the second path if a page doesn't name an icon. */
export const ICON_FILES = { '/favicon.svg': ICON_FILE, '/favicon.ico': ICON_FILE };

const STYLES = `
      :root {
        color-scheme: light dark; --font: 15px/1.5 system-ui, sans-serif; --mark: light-dark(#b93a08, #fb923c);
        --paper: light-dark(#fff, #171d29); --card: light-dark(#f6f7f9, #202838); --box: light-dark(#fff, #252f42);
        --ink: light-dark(#1f2937, #dfe4ec); --faint: light-dark(#5b6472, #a3adbd);
        --line: light-dark(#d5dae2, #3a4559); --edge: light-dark(#8b95a5, #74819a);
      }
      * { box-sizing: border-box; }
      body { margin: 0; background: var(--paper); color: var(--ink); font: var(--font); }
      a { color: var(--mark); }
      :focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
      .site {
        display: flex; gap: 32px; padding: 0 24px; background: var(--card); border-bottom: 1px solid var(--line);
      }
      .site nav { display: flex; gap: 24px; }
      .site a {
        display: flex; align-items: center; gap: 8px; height: 44px; color: var(--ink); font-size: 14px;
        text-decoration: none; white-space: nowrap;
      }
      .site a:hover { color: var(--mark); }
      .site a[aria-current] { color: var(--mark); box-shadow: inset 0 -2px var(--mark); }
      .site .home { font-size: 15px; font-weight: 600; }
      @media (max-width: 600px) {
        .site { gap: 16px; padding: 0 12px; }
        .site nav { gap: 16px; }
        .home:has(+ nav) b { position: absolute; clip-path: inset(50%); }
      }
`;

/** The first link is the home page. */
export type SiteLinks = Readonly<Record<string, string>>;

export interface Page {
  readonly title: string;
  readonly styles: string;
  readonly body: string;
  readonly head?: string;
  readonly links?: SiteLinks;
  /** The page's own path, which the header marks. */
  readonly path?: string;
}

export function htmlPage({ title, styles, body, head = '', links = { '/': 'Home' }, path = '' }: Page): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
    ${head}
    <style>${STYLES}${styles}    </style>
  </head>
  <body>
    ${headerOf(links, path)}
${body}
  </body>
</html>
`;
}

function headerOf(links: SiteLinks, path: string): string {
  const [[home, name] = ['/', ''], ...others] = Object.entries(links);
  const items = others.map(([to, text]) => `<a href="${to}"${to === path ? ' aria-current="page"' : ''}>${text}</a>`);
  const nav = items.length > 0 ? `<nav aria-label="Pages">${items.join('')}</nav>` : '';
  return `<header class="site"><a class="home" href="${home}">${ICON}<b>${name}</b></a>${nav}</header>`;
}

export const TEXT_STYLES = `
      main { max-width: 960px; margin: 0 auto; padding: 32px 24px; }
      h1 { font-size: 28px; line-height: 1.2; margin: 0 0 12px; }
      h2 { font-size: 18px; margin: 32px 0 8px; }
      code, pre { font: 13px/1.6 ui-monospace, monospace; }
      :not(pre) > code { background: var(--card); border-radius: 4px; padding: 1px 5px; overflow-wrap: anywhere; }
      pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
      pre { overflow-x: auto; }
      .faint { color: var(--faint); }
      @media (max-width: 600px) { main { padding: 24px 16px; } }
`;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Sends an error as a page, for people who open the URL in a browser. Programs get JSON. */
export function sendErrorPage(exchange: Exchange, { status, code, message }: Refusal): void {
  const title = `${status} ${STATUS_CODES[status] ?? ''}`;
  const body = `
    <main>
      <h1>${title}</h1>
      <p>${escapeHtml(message).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>
      <p>Programs get this error as JSON, with the code <code>${code}</code>. See the <a href="/">pages of this
        server</a>.</p>
      <p class="faint">Request <code>${escapeHtml(exchange.requestId)}</code></p>
    </main>`;
  allowStyles(exchange);
  exchange.response.appendHeader('Vary', 'Accept');
  exchange.send(status, HTML, htmlPage({ title, styles: TEXT_STYLES, body }));
}
