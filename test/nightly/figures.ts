/** Figures appear where a test prints them, and again in the summary of `npm run nightly`. */
import { appendFileSync } from 'node:fs';

export function printFigures(text: string): void {
  console.log(text);
  if (process.env.NIGHTLY_FIGURES) appendFileSync(process.env.NIGHTLY_FIGURES, `${text}\n`);
}
