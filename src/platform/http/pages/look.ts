/** What all pages of this server share: the colours, the font, the icon, and the frame of a page. */
import type { PageFile } from './pages.js';

export const HTML = 'text/html; charset=utf-8';

/** A house with a tick, in a colour that is seen on light and dark tabs of a browser. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24" fill="none"' +
  ' stroke="#c2410c" stroke-width="2" stroke-linejoin="round" stroke-linecap="round">' +
  '<path d="M3 11.5 12 4l9 7.5"/><path d="M5.5 10v10h13V10"/><path d="m9 15 2.2 2.2L15.5 13"/></svg>';

const ICON_FILE: PageFile = { contentType: 'image/svg+xml', read: async () => ICON };

/** Browsers ask for the second where a page names no icon. */
export const ICON_FILES = { '/favicon.svg': ICON_FILE, '/favicon.ico': ICON_FILE };

const COLOURS = `
      :root {
        color-scheme: light dark; --font: 15px/1.5 system-ui, sans-serif; --mark: light-dark(#c2410c, #fb923c);
        --paper: light-dark(#fff, #171d29); --card: light-dark(#f6f7f9, #202838); --box: light-dark(#fff, #252f42);
        --ink: light-dark(#1f2937, #dfe4ec); --faint: light-dark(#5b6472, #a3adbd);
        --line: light-dark(#d5dae2, #3a4559); --edge: light-dark(#8b95a5, #74819a);
      }
      body { margin: 0; background: var(--paper); color: var(--ink); font: var(--font); }
      a { color: var(--mark); }
`;

export interface Page {
  readonly title: string;
  readonly styles: string;
  readonly body: string;
  /** Further elements of the head. */
  readonly head?: string;
}

export function htmlPage({ title, styles, body, head = '' }: Page): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
    ${head}
    <style>${COLOURS}${styles}    </style>
  </head>
  <body>
${body}
  </body>
</html>
`;
}

/** For a page of text. */
export const TEXT_STYLES = `
      main { max-width: 960px; margin: 0 auto; padding: 32px 24px; }
      h1 { display: flex; gap: 12px; align-items: center; font-size: 28px; line-height: 1.2; margin: 0 0 8px; }
      h1 svg { flex: none; width: 40px; height: 40px; }
      h2 { font-size: 18px; margin: 28px 0 8px; }
      code, pre { font: 13px/1.6 ui-monospace, monospace; }
      pre { background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: 12px 16px; }
      pre { overflow-x: auto; }
      .faint { color: var(--faint); }
`;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
