/**
 * Finds the coordinates of a job in an offline set of US postal codes. The set is large, so that it is loaded on first
 * use.
 */
import type { ZipCode } from 'zipcodes';
import type { JobFields } from '../../rules/editing.js';
import type { Places } from '../../store/jobs.js';

type Address = Pick<JobFields, 'zipCode' | 'city' | 'state'>;

let set: Promise<typeof import('zipcodes')> | undefined;

async function places() {
  set ??= import('zipcodes');
  return (await set).default;
}

type Sent = { readonly [Field in keyof Address]?: Address[Field] | undefined };

/** Loads the set if these fields need it. The first load takes long: no transaction should be open meanwhile. */
export async function loadPlaces({ zipCode, city, state }: Sent): Promise<void> {
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
    const found = lookupByName(name, state).filter((place) => real(place));
    if (found.length > 0)
      return {
        latitude: mean(found.map((place) => place.latitude)),
        longitude: mean(found.map((place) => place.longitude)),
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
