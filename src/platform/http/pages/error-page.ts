/** A refusal as a page, for who opens an address of this server in a browser. Programs get JSON. */
import { STATUS_CODES } from 'node:http';
import type { Refusal } from '../../errors.js';
import type { Exchange } from '../exchange.js';
import { escapeHtml, HTML, htmlPage, ICON, TEXT_STYLES } from './look.js';
import { allowStyles } from '../policy.js';

export function sendErrorPage(exchange: Exchange, { status, code, message }: Refusal): void {
  const title = `${status} ${STATUS_CODES[status] ?? ''}`;
  const body = `
    <main>
      <h1>${ICON} ${title}</h1>
      <p>${escapeHtml(message).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>
      <p>Programs get this as JSON, with the code <code>${code}</code>. <a href="/">Pages on this server</a></p>
      <p class="faint">Request ${escapeHtml(exchange.requestId)}</p>
    </main>`;
  allowStyles(exchange);
  exchange.response.appendHeader('Vary', 'Accept');
  exchange.send(status, HTML, htmlPage({ title, styles: TEXT_STYLES, body }));
}
