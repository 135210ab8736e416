/** Which form of JSON an answer takes. It is settled before anything runs: nothing of a refused call may be kept. */

/** In the order in which they are chosen where a client is as glad of one as of the other. */
const FORMS = ['application/json', 'application/graphql-response+json'] as const;

/** A media range of an Accept header. */
interface Range {
  /** Empty where it asks for what neither form has. */
  readonly type: string;
  readonly quality: number;
}

/** By RFC 9110, 12.5.1; undefined for a client that takes neither form. */
export function acceptedType(accept: string | undefined): string | undefined {
  const ranges = (accept || '*/*').toLowerCase().split(',').map(rangeIn);
  const [best] = FORMS.map((form) => ({ form, ...weightOf(form, ranges) }))
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality || other.precision - one.precision || one.at - other.at);
  return best && `${best.form}; charset=utf-8`;
}

/** The most precise of the ranges that it is within says how welcome a form is. */
function weightOf(form: string, ranges: readonly Range[]) {
  const within = ['*/*', 'application/*', form];
  return ranges.reduce(
    (best, { type, quality }, at) => {
      const precision = within.indexOf(type);
      return precision > best.precision ? { precision, quality, at } : best;
    },
    { precision: -1, quality: 0, at: 0 },
  );
}

function rangeIn(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const asksForMore = parameters.some(
    (parameter) => parameter !== quality && !/^(charset="?utf-8"?)?$/.test(parameter),
  );
  return { type: asksForMore ? '' : type, quality: quality === undefined ? 1 : Number(quality.slice('q='.length)) };
}
