/**
 * The page at /lifecycle: the state machine as a picture that is drawn from the table, and for somebody signed in where
 * their job stands in it. It asks through REST, which works with any settings.
 */
import { openPages, type Pages } from '../http/pages.js';
import { SESSION_SCRIPT } from '../http/session-script.js';
import { FOLDER, lifecyclePage } from './page.js';
import { startScript } from './script.js';

export function openLifecyclePage(hasPlayground: boolean): Pages {
  const page = { contentType: 'text/html; charset=utf-8', read: async () => lifecyclePage(hasPlayground) };
  return openPages({
    [FOLDER]: page,
    [`${FOLDER}/`]: page,
    [`${FOLDER}/start.js`]: { contentType: 'text/javascript; charset=utf-8', read: async () => startScript() },
    [`${FOLDER}/session.js`]: SESSION_SCRIPT,
  });
}
