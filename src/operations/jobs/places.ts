/**
 * The coordinates of postal codes, cities and addresses, from an offline set of US postal codes. The set is large: it
 * is loaded when the server starts, or on first use where no server does.
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
    if (places.length > 0) return middleOf(places);
  }
  return undefined;
}

/** A service area whose place is known: a postal code, or a town with its state; in small letters. */
interface KnownArea {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
}

let areas: readonly KnownArea[] | undefined;

/** All of them, in the order of the set. They are made at the first use, which takes a quarter of a second. */
export async function knownAreas(): Promise<readonly KnownArea[]> {
  const { codes } = await places();
  return (areas ??= areasOf(Object.values(codes)));
}

function areasOf(places: readonly ZipCode[]): KnownArea[] {
  const known = places.filter((place) => place.country === 'US' && real(place));
  const towns = new Map<string, ZipCode[]>();
  for (const place of known) {
    const town = `${place.city}, ${place.state}`.toLowerCase();
    const inTown = towns.get(town);
    if (inTown) inTown.push(place);
    else towns.set(town, [place]);
  }
  return [
    ...known.map(({ zip, latitude, longitude }) => ({ name: zip, latitude, longitude })),
    ...[...towns].flatMap(([town, inTown]) => spellingsOf(town).map((name) => ({ name, ...middleOf(inTown) }))),
  ];
}

function spellingsOf(town: string): string[] {
  return [town, ...(town.startsWith('saint ') ? ['st. ', 'st '].map((saint) => town.replace('saint ', saint)) : [])];
}

/** Postal codes of the military and of single firms have the coordinates 0, 0. */
function real(place: ZipCode | undefined): ZipCode | undefined {
  return place && Number.isFinite(place.latitude) && place.latitude !== 0 && place.longitude !== 0 ? place : undefined;
}

function middleOf(places: readonly ZipCode[]) {
  return {
    latitude: mean(places.map((place) => place.latitude)),
    longitude: mean(places.map((place) => place.longitude)),
  };
}

function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e6) / 1e6;
}
