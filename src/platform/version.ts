import { createRequire } from 'node:module';

/** `src/` and `dist/` both find the same package.json. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as { version: string };
