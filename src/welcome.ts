/** What a start prints for people at a terminal. */
import type { Config } from './config.js';

export function welcome(url: string, config: Config): void {
  const lines = [
    '',
    `  Job Marketplace is open at ${url}`,
    '',
    ...(config.playground
      ? [`    Playground      ${url}/graphql   (open it in a browser: the first tab signs you up)`]
      : []),
    `    GraphQL         ${url}/graphql`,
    `    REST            ${url}/v1        (reference at ${url}/v1/docs)`,
    `    Health          ${url}/healthz, ${url}/readyz`,
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
