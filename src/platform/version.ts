/** The version of this build, as `/healthz` and the metrics show it. */
import { createRequire } from 'node:module';

/** The same file from `src/` and from `dist/`. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as { version: string };
