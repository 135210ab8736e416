/**
 * Runs after an install. Fails without patch-package, a development package, because the driver would stay unpatched.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const PROGRAM = 'node_modules/patch-package/index.js';

if (existsSync(PROGRAM)) {
  process.exitCode = spawnSync(process.execPath, [PROGRAM, '--error-on-fail'], { stdio: 'inherit' }).status ?? 1;
} else {
  process.stderr.write(
    'The patches can’t be applied without patch-package, which is a development dependency. To install for ' +
      'production, run:\n\n    npm ci && npm run build && npm prune --omit=dev --omit=optional\n',
  );
  process.exitCode = 1;
}
