/**
 * The coordinates of ZIP codes and cities, from a large offline data set. A server loads it at startup, and a command
 * loads it on first use.
 */
import type { ZipCode } from 'zipcodes';
import type { JobFields } from '../../rules/jobs/editing.js';
import { EARTH_RADIUS_MILES } from '../../store/jobs/distance.js';
import type { Places } from '../../store/jobs/jobs.js';

type Address = Pick<JobFields, 'zipCode' | 'city' | 'state'>;

let set: Promise<typeof import('zipcodes')> | undefined;

async function places() {
  set ??= import('zipcodes');
  return (await set).default;
}

/** Loading takes about 0.7 s of CPU time. If a request loaded the data, every other request would have to wait. */
export async function loadPlaces(): Promise<void> {
  await places();
}

/** In large cities, ZIP codes are up to 30 miles from the center. */
const MILES_APART_MAX = 50;

/** The ZIP code and the city contradict each other if they are far apart. */
export async function placesOf({ zipCode, city, state }: Address) {
  const byZip = zipCode ? await postalPlace(zipCode) : undefined;
  const codes = city && state ? await codesOfCity(city, state) : [];
  const byCity = codes.length > 0 ? middleOf(codes) : undefined;
  const miles = byZip && byCity && !codes.includes(byZip) ? milesBetween(byZip, byCity) : 0;
  return { byZip, byCity, milesApart: miles > MILES_APART_MAX ? Math.round(miles) : null };
}

/**
 * Uses the city if there is no ZIP code or the two contradict each other. The coordinates are null if the place is
 * unknown.
 */
export async function locate(address: Address): Promise<Places> {
  const { byZip, byCity, milesApart } = await placesOf(address);
  const here = milesApart === null ? (byZip ?? byCity) : byCity;
  return {
    latitude: here?.latitude ?? null,
    longitude: here?.longitude ?? null,
    town: byCity ? `(${byCity.longitude},${byCity.latitude})` : null,
  };
}

/** The ZIP code may have the four-digit extension. */
export async function postalPlace(zipCode: string): Promise<ZipCode | undefined> {
  const digits = /^(\d{5})(-?\d{4})?$/.exec(zipCode.trim())?.[1];
  return digits === undefined ? undefined : real((await places()).lookup(digits));
}

/** A city's center is the mean of its ZIP codes' coordinates. */
export async function cityPlace(city: string, state: string): Promise<Point | undefined> {
  const codes = await codesOfCity(city, state);
  return codes.length > 0 ? middleOf(codes) : undefined;
}

async function codesOfCity(city: string, state: string): Promise<readonly ZipCode[]> {
  const cities = await citiesOf(state.toUpperCase());
  return cities.get(city.toUpperCase()) ?? cities.get(city.toUpperCase().replace(/^ST\.? /, 'SAINT ')) ?? [];
}

const citiesByState = new Map<string, Map<string, ZipCode[]>>();

/** `state` is uppercase, so it can't match a built-in property of JavaScript objects. */
async function citiesOf(state: string): Promise<Map<string, ZipCode[]>> {
  const known = citiesByState.get(state);
  if (known) return known;
  const { lookupByState } = await places();
  const codes = lookupByState(state).filter((place) => real(place));
  const cities = groupBy(codes, ({ city }) => city.toUpperCase());
  // Only states that exist are cached. Otherwise, the cache would keep everything that users type.
  if (cities.size > 0) citiesByState.set(state, cities);
  return cities;
}

/** A service area whose place is known: a ZIP code, or a city and state, in lowercase. */
interface KnownArea {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
}

let areas: readonly KnownArea[] | undefined;

/** Creating the areas on first use takes a quarter of a second. The areas keep the data set's order. */
export async function knownAreas(): Promise<readonly KnownArea[]> {
  const { codes } = await places();
  return (areas ??= areasOf(Object.values(codes)));
}

function areasOf(places: readonly ZipCode[]): KnownArea[] {
  const known = places.filter((place) => place.country === 'US' && real(place));
  const towns = groupBy(known, ({ city, state }) => `${city}, ${state}`.toLowerCase());
  return [
    ...known.map(({ zip, latitude, longitude }) => ({ name: zip, latitude, longitude })),
    ...[...towns].flatMap(([town, inTown]) => spellingsOf(town).map((name) => ({ name, ...middleOf(inTown) }))),
  ];
}

function groupBy(places: readonly ZipCode[], nameOf: (place: ZipCode) => string): Map<string, ZipCode[]> {
  const groups = new Map<string, ZipCode[]>();
  for (const place of places) {
    const name = nameOf(place);
    const group = groups.get(name);
    if (group) group.push(place);
    else groups.set(name, [place]);
  }
  return groups;
}

function spellingsOf(town: string): string[] {
  return [town, ...(town.startsWith('saint ') ? ['st. ', 'st '].map((saint) => town.replace('saint ', saint)) : [])];
}

/** The data set has 0, 0 for military ZIP codes and for those of single companies. */
function real(place: ZipCode | undefined): ZipCode | undefined {
  return place && Number.isFinite(place.latitude) && place.latitude !== 0 && place.longitude !== 0 ? place : undefined;
}

function middleOf(places: readonly ZipCode[]) {
  return {
    latitude: mean(places.map((place) => place.latitude)),
    longitude: mean(places.map((place) => place.longitude)),
  };
}

type Point = Pick<ZipCode, 'latitude' | 'longitude'>;

/** The same formula as `milesAway` in `market/store/jobs/distance.ts`. */
export function milesBetween(one: Point, other: Point): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2;
  const chord =
    half(one.latitude, other.latitude) +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * half(one.longitude, other.longitude);
  return EARTH_RADIUS_MILES * 2 * Math.asin(Math.min(1, Math.sqrt(chord)));
}

function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 1e6) / 1e6;
}
