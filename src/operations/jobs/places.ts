/**
 * Places of jobs, from an offline set of US postal codes: the coordinates of an address, and what is near a place. The
 * set is large: it is loaded when the server starts, or on first use where no server does. GraphQL names a place in one
 * object, and REST, whose queries are flat, in fields of their own.
 */
import { z } from 'zod';
import type { ZipCode } from 'zipcodes';
import type { JobFields } from '../../rules/editing.js';
import { TEXT } from '../../rules/limits.js';
import type { JobFilter } from '../../store/job-lists.js';
import type { Places } from '../../store/jobs.js';
import { optionalText } from '../shapes.js';
import { invalidField } from '../validation.js';

type Address = Pick<JobFields, 'zipCode' | 'city' | 'state'>;

let set: Promise<typeof import('zipcodes')> | undefined;

async function places() {
  set ??= import('zipcodes');
  return (await set).default;
}

type SentAddress = { readonly [Field in keyof Address]?: Address[Field] | undefined };

/** Loads the set, which takes some 0.7 s of the processor: a request would wait for it, and so would all others. */
export async function loadPlaces(): Promise<void> {
  await places();
}

/** Loads the set if these fields need it. No transaction should be open meanwhile. */
export async function loadPlacesFor({ zipCode, city, state }: SentAddress): Promise<void> {
  if (zipCode ?? city ?? state) await places();
}

/** Uses the postal code, or else the city. A place that is not in the set has no coordinates. */
export async function locate({ zipCode, city, state }: Address): Promise<Places> {
  const byCity = city && state ? await cityPlace(city, state) : undefined;
  const here = (zipCode ? await postalPlace(zipCode) : undefined) ?? byCity;
  return {
    latitude: here?.latitude ?? null,
    longitude: here?.longitude ?? null,
    town: byCity ? `(${byCity.longitude},${byCity.latitude})` : null,
  };
}

/** A five-digit code, with or without its four-digit extension. */
export async function postalPlace(zipCode: string): Promise<ZipCode | undefined> {
  const digits = /^(\d{5})(-?\d{4})?$/.exec(zipCode.trim())?.[1];
  return digits === undefined ? undefined : real((await places()).lookup(digits));
}

/** The centre of a city is the mean of its postal codes. */
export async function cityPlace(
  city: string,
  state: string,
): Promise<{ latitude: number; longitude: number } | undefined> {
  // The set looks states up in a plain object, which also has the properties of every object.
  if (state in Object.prototype) return undefined;
  const { lookupByName } = await places();
  for (const name of new Set([city, city.replace(/^St\.? /i, 'Saint ')])) {
    const places = lookupByName(name, state).filter((place) => real(place));
    if (places.length > 0)
      return {
        latitude: mean(places.map((place) => place.latitude)),
        longitude: mean(places.map((place) => place.longitude)),
      };
  }
  return undefined;
}

/** Postal codes of the military and of single firms have the coordinates 0, 0. */
function real(place: ZipCode | undefined): ZipCode | undefined {
  return place && Number.isFinite(place.latitude) && place.latitude !== 0 && place.longitude !== 0 ? place : undefined;
}

function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e6) / 1e6;
}

const zipCode = optionalText(TEXT.line);
const cityOrState = optionalText(TEXT.line);
const miles = z.number().min(1).max(500);

export const nearPlace = z.strictObject({
  zipCode: zipCode.describe('A US postal code.'),
  city: cityOrState.describe('A US city, in place of a postal code.'),
  state: cityOrState.describe('The city’s state, such as `TX`.'),
  withinMiles: miles.describe('How far away at most, in miles: 1 to 500.'),
});

/** The same for a flat query. */
export const nearFields = {
  nearZip: zipCode.describe('Jobs in towns near this US postal code; with `within_miles`.'),
  nearCity: cityOrState.describe('Jobs in towns near this US city; with `near_state` and `within_miles`.'),
  nearState: cityOrState.describe('The state of `near_city`, such as `TX`.'),
  withinMiles: miles.nullish().describe('How far away at most, in miles: 1 to 500.'),
};

interface Flat {
  readonly nearZip?: string | null | undefined;
  readonly nearCity?: string | null | undefined;
  readonly nearState?: string | null | undefined;
  readonly withinMiles?: number | null | undefined;
}

type Near = Partial<z.infer<typeof nearPlace>>;

interface NearInput extends Flat {
  readonly near?: Near | null | undefined;
}

/** The names of the fields in each API. */
const IN_OBJECT = { zipCode: 'near.zipCode', city: 'near.city', state: 'near.state', withinMiles: 'near.withinMiles' };
const IN_QUERY = { zipCode: 'nearZip', city: 'nearCity', state: 'nearState', withinMiles: 'withinMiles' };

function flatPlace({ nearZip, nearCity, nearState, withinMiles }: Flat): Near | undefined {
  const isNearGiven = [nearZip, nearCity, nearState, withinMiles].some((value) => value != null);
  return isNearGiven
    ? { zipCode: nearZip, city: nearCity, state: nearState, ...(withinMiles != null && { withinMiles }) }
    : undefined;
}

/** The problems of the place as a whole, in either form. */
export function contradictionsInPlace(near: Near | null | undefined, flat: Flat): Record<string, string> {
  const fromQuery = flatPlace(flat);
  return { ...(near && problemsOf(near, IN_OBJECT)), ...(fromQuery && problemsOf(fromQuery, IN_QUERY)) };
}

function problemsOf({ zipCode: zip, city, state, withinMiles }: Near, names: typeof IN_OBJECT): Record<string, string> {
  const problems: Record<string, string> = {};
  if (withinMiles == null) problems[names.withinMiles] = 'is required with a place';
  if (zip == null && city == null && state == null) problems[names.zipCode] = 'is required, or a city and its state';
  if (zip != null && (city != null || state != null))
    problems[names.zipCode] = 'cannot be sent together with a city or a state';
  if (city == null && state != null) problems[names.city] = 'is required with a state';
  if (city != null && state == null) problems[names.state] = 'is required with a city';
  return problems;
}

const MILES_PER_DEGREE = 69;

/** The bounding box for the index; the distance is then computed within it. Null where no place is given. */
export async function boxAround({ near, ...flat }: NearInput): Promise<JobFilter['near']> {
  const place = near ?? flatPlace(flat);
  if (!place) return null;
  const { latitude, longitude } = await centreOf(place, near ? IN_OBJECT : IN_QUERY);
  const { withinMiles = 1 } = place;
  const high = (withinMiles + 1) / MILES_PER_DEGREE;
  const wide = high / Math.max(0.05, Math.cos(((Math.abs(latitude) + high) * Math.PI) / 180));
  return {
    latitude,
    longitude,
    miles: withinMiles,
    box: `(${longitude + wide},${latitude + high}),(${longitude - wide},${latitude - high})`,
  };
}

async function centreOf({ zipCode: zip, city, state }: Near, names: typeof IN_OBJECT) {
  const place = zip == null ? await cityPlace(city ?? '', state ?? '') : await postalPlace(zip);
  if (place) return place;
  throw zip == null
    ? invalidField(names.city, 'is not a city of that state that we know')
    : invalidField(names.zipCode, 'is not a postal code that we know');
}
