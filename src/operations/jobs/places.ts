/** Where a job is, from an offline set of US postal codes. The set is large, so it is read when first asked for. */
import type { ZipCode } from 'zipcodes';
import type { JobFields } from '../../rules/job-fields.js';
import type { Places } from '../../store/jobs.js';

type Address = Pick<JobFields, 'zipCode' | 'city' | 'state'>;

let set: Promise<typeof import('zipcodes')> | undefined;

async function places() {
  set ??= import('zipcodes');
  return (await set).default;
}

type Sent = { readonly [Field in keyof Address]?: Address[Field] | undefined };

/** Loads the set if these fields will ask for it. It takes long once: no transaction should be open meanwhile. */
export async function loadPlaces({ zipCode, city, state }: Sent): Promise<void> {
  if (zipCode ?? city ?? state) await places();
}

/** The postal code says it best; else the city. Nothing is guessed: what is not in the set is nowhere. */
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

/** A city has many postal codes; the mean of them is its centre, whichever of them the job has. */
export async function cityPlace(
  city: string,
  state: string,
): Promise<{ latitude: number; longitude: number } | undefined> {
  // The set looks states up in a plain object, which also answers to the names that every object has.
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

/** Codes of the military and of single firms lie at 0, 0. */
function real(place: ZipCode | undefined): ZipCode | undefined {
  return place && Number.isFinite(place.latitude) && place.latitude !== 0 && place.longitude !== 0 ? place : undefined;
}

function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e6) / 1e6;
}
