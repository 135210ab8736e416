/** This build's version, as `/healthz` and the metrics show it. */
import { createRequire } from 'node:module';

/** Reads the same package.json from `src/` and from `dist/`. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as { version: string };
