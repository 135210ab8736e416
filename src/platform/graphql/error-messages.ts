/**
 * Removes the values that GraphQL quotes in its own errors. Otherwise, the response to a login without one of its
 * fields would contain the password, and many clients log responses.
 */
import { cut } from '../errors.js';
import { ERRORS } from '../caller-limits.js';

/** `reason` says why a variable's value was rejected. GraphQL appends it to the value. */
export function withoutValues(message: string, reason = ''): string {
  if (message.startsWith('Maximum call stack')) return 'The query is nested too deeply.';
  const name = /^Variable "\$(\w{1,100})" got invalid value /.exec(message.slice(0, 200))?.[1];
  if (name === undefined) return cut(sentence(withoutQuotes(message)));
  const end = message.length - `; ${reason}`.length;
  const place = / at "\w+([\w.[\]]*)"$/.exec(
    message.slice(Math.max(end - PLACE_CHARACTERS_MAX, 0), Math.max(end, 0)),
  )?.[1];
  return refusedVariable(name, place === undefined ? '' : `${name}${place}`, reason);
}

/** The error about one part of a variable's value. */
export function aboutVariable(name: string, path: readonly (string | number)[], reason: string): string {
  const steps = path.map((step) =>
    typeof step === 'number' ? `[${step}]` : `.${cut(step, ERRORS.nameCharactersMax)}`,
  );
  return refusedVariable(name, path.length === 0 ? '' : `${name}${steps.join('')}`, reason);
}

function refusedVariable(name: string, place: string, reason: string): string {
  const where = place && ` at ${cut(place, PLACE_CHARACTERS_MAX)}`;
  return cut(sentence(`Variable "$${name}" is not valid${where}${reason && `: ${withoutQuotes(reason)}`}`));
}

const PLACE_CHARACTERS_MAX = 300;

/** Longer messages are cut anyway, and searching all of a caller's text would take seconds. */
const SEARCHED_CHARACTERS_MAX = 2 * ERRORS.textCharactersMax;

const QUOTES: readonly RegExp[] = [
  /(?<= cannot represent [^:]*value): .*/s,
  /(?<=^Expected value of type "[^"]*"), found .*/s,
  /(?<=^Argument "\w+" has invalid value) .*/s,
  /(?<=^Syntax Error: .*\b(String|BlockString|Int|Float)) ".*/s,
];

function withoutQuotes(text: string): string {
  return QUOTES.reduce((shorter, quote) => shorter.replace(quote, ''), text.slice(0, SEARCHED_CHARACTERS_MAX));
}

function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}
