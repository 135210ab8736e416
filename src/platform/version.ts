/** This build's version, as `/healthz` and the metrics show it. */
import { createRequire } from 'node:module';

/** The same file, whether loaded from `src/` or `dist/`. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as { version: string };
