/** The `near` input of a list. GraphQL sends `near` as one object. REST queries are flat, so REST sends four fields. */
import { z } from 'zod';
import { NEAREST_MILES_MAX, TEXT } from '../../rules/market-limits.js';
import type { ContractorFilter } from '../../store/people/contractor-lists.js';
import type { JobFilter } from '../../store/jobs/job-filters.js';
import { cityPlace, knownAreas, milesBetween, postalPlace } from './places.js';
import { optionalText } from '../../../platform/fields/shapes.js';
import { invalidField } from '../../../platform/call/validation.js';

const zipCode = optionalText(TEXT.line);
const cityOrState = optionalText(TEXT.line);

/** `listed` names the items in the list, for the descriptions. `nearestMax` applies when they're sorted by distance. */
export function nearInputs(listed: string, milesMax: number, nearestMax = milesMax) {
  const miles = z.number().min(1).max(milesMax);
  const nearest = milesMax > nearestMax ? `, or 1 to ${nearestMax} when sorted nearest first` : '';
  const howFar = `The maximum distance in miles: 1 to ${milesMax}${nearest}.`;
  return {
    place: z.strictObject({
      zipCode: zipCode.describe('A US ZIP code.'),
      city: cityOrState.describe('A US city. Use it with `state` instead of a ZIP code.'),
      state: cityOrState.describe('The city’s state, such as `TX`.'),
      withinMiles: miles.describe(howFar),
    }),
    fields: {
      nearZip: zipCode.describe(`Only ${listed} near this US ZIP code. Requires \`within_miles\`.`),
      nearCity: cityOrState.describe(`Only ${listed} near this US city. Requires \`near_state\` and \`within_miles\`.`),
      nearState: cityOrState.describe('The state of `near_city`, such as `TX`.'),
      withinMiles: miles.nullish().describe(howFar),
    },
  };
}

interface Flat {
  readonly nearZip?: string | null | undefined;
  readonly nearCity?: string | null | undefined;
  readonly nearState?: string | null | undefined;
  readonly withinMiles?: number | null | undefined;
}

type Near = Partial<z.infer<ReturnType<typeof nearInputs>['place']>>;

export interface NearInput extends Flat {
  readonly near?: Near | null | undefined;
}

const IN_OBJECT = { zipCode: 'near.zipCode', city: 'near.city', state: 'near.state', withinMiles: 'near.withinMiles' };
const IN_QUERY = { zipCode: 'nearZip', city: 'nearCity', state: 'nearState', withinMiles: 'withinMiles' };

function flatPlace({ nearZip, nearCity, nearState, withinMiles }: Flat): Near | undefined {
  const hasPlace = [nearZip, nearCity, nearState, withinMiles].some((value) => value != null);
  return hasPlace
    ? { zipCode: nearZip, city: nearCity, state: nearState, ...(withinMiles != null && { withinMiles }) }
    : undefined;
}

/** Returns the place's fields that contradict each other or are missing. */
export function contradictionsInPlace(near: Near | null | undefined, flat: Flat): Record<string, string> {
  const fromQuery = flatPlace(flat);
  return { ...(near && problemsOf(near, IN_OBJECT)), ...(fromQuery && problemsOf(fromQuery, IN_QUERY)) };
}

export function assertCanBeNearest({ near }: NearInput, around: Pick<Around, 'miles'> | null | undefined): void {
  if (!around) throw invalidField('orderBy', 'requires a place and a distance in miles');
  if (around.miles <= NEAREST_MILES_MAX) return;
  const { withinMiles } = near ? IN_OBJECT : IN_QUERY;
  throw invalidField(withinMiles, `must be at most ${NEAREST_MILES_MAX} when you sort by distance`);
}

function problemsOf({ zipCode: zip, city, state, withinMiles }: Near, names: typeof IN_OBJECT): Record<string, string> {
  const problems: Record<string, string> = {};
  if (withinMiles == null) problems[names.withinMiles] = 'is required with a place';
  if (zip == null && city == null && state == null)
    problems[names.zipCode] = 'is required, unless you send a city and its state';
  if (zip != null && (city != null || state != null))
    problems[names.zipCode] = 'can’t be combined with a city or a state';
  if (city == null && state != null) problems[names.city] = 'is required with a state';
  if (city != null && state == null) problems[names.state] = 'is required with a city';
  return problems;
}

interface Around {
  readonly latitude: number;
  readonly longitude: number;
  readonly miles: number;
}

/** Null if no place was requested. Refuses an unknown place. The error has `inside` before the field's name. */
export async function placeAround({ near, ...flat }: NearInput, inside = ''): Promise<Around | null> {
  const place = near ?? flatPlace(flat);
  if (!place) return null;
  const { latitude, longitude } = await centreOf(place, near ? IN_OBJECT : IN_QUERY, inside);
  return { latitude, longitude, miles: place.withinMiles ?? 1 };
}

const MILES_PER_DEGREE = 69;

/** An index finds the rows in this box, and the query then computes their distances. */
export async function boxAround(input: NearInput): Promise<JobFilter['near']> {
  const around = await placeAround(input);
  if (!around) return null;
  const { latitude, longitude, miles } = around;
  const high = (miles + 1) / MILES_PER_DEGREE;
  const wide = high / Math.max(0.05, Math.cos(((Math.abs(latitude) + high) * Math.PI) / 180));
  return { ...around, box: `(${longitude + wide},${latitude + high}),(${longitude - wide},${latitude - high})` };
}

export async function areasAround({ latitude, longitude, miles }: Around): Promise<ContractorFilter['near']> {
  const names: string[] = [];
  const tenths: number[] = [];
  const high = (miles + 1) / MILES_PER_DEGREE;
  for (const area of await knownAreas()) {
    // This check excludes most areas without computing their distance.
    if (Math.abs(area.latitude - latitude) > high) continue;
    const distance = milesBetween(area, { latitude, longitude });
    if (distance > miles) continue;
    names.push(area.name);
    tenths.push(Math.round(distance * 10));
  }
  return { names, tenths };
}

async function centreOf({ zipCode: zip, city, state }: Near, names: typeof IN_OBJECT, inside: string) {
  const place = zip == null ? await cityPlace(city ?? '', state ?? '') : await postalPlace(zip);
  if (place) return place;
  throw zip == null
    ? invalidField(inside + names.city, 'isn’t a city we recognize in that state')
    : invalidField(inside + names.zipCode, 'isn’t a ZIP code we recognize');
}
