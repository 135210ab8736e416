/** A refusal as a page, for people who open an address of this server in a browser. Programs get JSON. */
import { STATUS_CODES } from 'node:http';
import type { Refusal } from '../../errors.js';
import type { Exchange } from '../exchange.js';
import { escapeHtml, HTML, htmlPage, TEXT_STYLES } from './look.js';
import { allowStyles } from '../policy.js';

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
