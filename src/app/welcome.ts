/** Messages at startup: progress and a welcome on a terminal, and log lines in production. */
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { mailboxLink } from './mail-settings.js';

/** Shows what a starting server is doing, so the terminal isn't empty while you wait. */
export function tellStep(step: string, config: Config, log: Logger): void {
  if (config.NODE_ENV === 'production') log.info(step);
  else process.stdout.write(`  ${step}…\n`);
}

export function welcome(url: string, config: Config, log: Logger): void {
  // Logged at every level, because an operator who starts a server waits for this line.
  if (config.NODE_ENV === 'production')
    return log
      .child({}, { level: 'info' })
      .info(`Job Marketplace is running at ${url} for GraphQL (/graphql) and REST (/v1)`);
  const mailbox = mailboxLink(url, config);
  const lines = [
    '',
    `  Job Marketplace is running at ${url}`,
    '',
    ...(config.playground
      ? [`    Playground      ${url}/graphql   (open it in a browser: the first tab signs you up)`]
      : []),
    `    GraphQL         ${url}/graphql`,
    `    REST            ${url}/v1        (reference at ${url}/v1/docs)`,
    ...(mailbox
      ? [`    Mailbox         ${mailbox}`, '                    (emails appear here because SMTP_URL is not set)']
      : []),
    `    Health          ${url}/healthz, ${url}/readyz`,
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
