/**
 * GraphQL's own refusals, without the values that they quote. A log-in that lacks a field would else be answered, and by
 * many clients logged, with the password that it carried.
 */

/** `reason` is what a variable's value was refused for, which GraphQL puts behind the value. */
export function withoutValues(message: string, reason = ''): string {
  const variable = /^Variable "\$\w+"(?= got invalid value )/.exec(message)?.[0];
  if (message.startsWith('Maximum call stack')) return 'The query is nested too deeply.';
  if (variable === undefined) return sentence(withoutQuotes(message));
  const place = / at "([\w.[\]]+)"$/.exec(message.slice(0, -`; ${reason}`.length))?.[1];
  return sentence([`${variable} is not valid`, place && ` at ${place}`, reason && `: ${withoutQuotes(reason)}`].filter(Boolean).join(''));
}

const QUOTES: readonly RegExp[] = [
  /(?<= cannot represent [^:]*value): .*/s,
  /(?<=^Expected value of type "[^"]*"), found .*/s,
  /(?<=^Argument "\w+" has invalid value) .*/s,
  /(?<=^Syntax Error: .*\b(String|BlockString|Int|Float)) ".*/s,
];

function withoutQuotes(text: string): string {
  return QUOTES.reduce((shorter, quote) => shorter.replace(quote, ''), text);
}

function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}
