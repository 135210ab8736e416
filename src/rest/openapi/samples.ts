/**
 * The page can't send the examples as they are, because an email can be registered only once and the IDs don't exist.
 * So it sends new emails, and the IDs from the latest responses.
 */
import { ID_PREFIXES } from '../../market/rules/ids.js';
import { exampleId } from '../../market/rules/id-fields.js';

export const SAMPLES_DESCRIPTION = [
  '- **Try it out.** You can send the examples on this page as they are, except for link tokens, which you copy from',
  'emails. Each signup uses a new address at `example.com`, and each login uses the newest one. Example IDs are',
  'replaced with the IDs that the server returned most recently. The curl command below each call shows the request.',
  'To start, sign up, create a job, and',
  'publish it. To switch users, call Log in with the email address and password of the other user’s example, such as',
  '`carl@example.com`.',
].join(' ');

/** Functions for the page's script, which runs in a browser. */
export const SAMPLES_SCRIPT = `
  const PREFIXES = ${JSON.stringify(Object.values(ID_PREFIXES))};
  const EXAMPLE = '${exampleId('job').split('_')[1]}';
  const newest = {};
  const addresses = {};

  function noteIdentifiers(text) {
    for (const [id, prefix] of String(text).matchAll(/\\b([a-z]+)_[0-9A-Za-z]{27}\\b/g))
      if (PREFIXES.includes(prefix)) newest[prefix] = id;
  }

  function withNewest(text) {
    return text.replace(new RegExp('\\\\b([a-z]+)_' + EXAMPLE, 'g'), (id, prefix) => newest[prefix] ?? id);
  }

  function withAddress(text, isSignUp) {
    return text.replace(/"(\\w+)@example\\.com"/g, (whole, name) => {
      if (isSignUp) addresses[name] = '"' + name + '.' + Date.now().toString(36) + '@example.com"';
      return addresses[name] ?? whole;
    });
  }

  function fillIn(request) {
    request.url = withNewest(request.url);
    if (typeof request.body === 'string')
      request.body = withAddress(withNewest(request.body), request.url.includes('/auth/signup/'))
        .replace('https://app.example.com', location.origin);
  }
`;
