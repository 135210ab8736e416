/**
 * The coordinates of ZIP codes, cities, and addresses, from an offline data set of US ZIP codes. The set is large, so
 * it is loaded at server startup, or on first use in a command.
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

type SentAddress = { readonly [Field in keyof Address]?: Address[Field] | undefined };

/** Loads the set, which takes about 0.7 s of CPU. During a request, everything else would wait for it. */
export async function loadPlaces(): Promise<void> {
  await places();
}

/** Loads the set if these fields need it. No transaction should be open meanwhile. */
export async function loadPlacesFor({ zipCode, city, state }: SentAddress): Promise<void> {
  if (zipCode ?? city ?? state) await places();
}

/** Large cities have ZIP codes up to 30 miles from their center. */
const MILES_APART_MAX = 50;

/** The places of the ZIP code and of the city. The two contradict each other if they are far apart. */
export async function placesOf({ zipCode, city, state }: Address) {
  const byZip = zipCode ? await postalPlace(zipCode) : undefined;
  const codes = city && state ? await codesOfCity(city, state) : [];
  const byCity = codes.length > 0 ? middleOf(codes) : undefined;
  const miles = byZip && byCity && !codes.includes(byZip) ? milesBetween(byZip, byCity) : 0;
  return { byZip, byCity, milesApart: miles > MILES_APART_MAX ? Math.round(miles) : null };
}

/**
 * Uses the ZIP code, or the city if there is no ZIP code or the two contradict each other. A place that isn't in the
 * data set has no coordinates.
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

/** A five-digit code, with or without its four-digit extension. */
export async function postalPlace(zipCode: string): Promise<ZipCode | undefined> {
  const digits = /^(\d{5})(-?\d{4})?$/.exec(zipCode.trim())?.[1];
  return digits === undefined ? undefined : real((await places()).lookup(digits));
}

/** The center of a city is the mean of its ZIP codes. */
export async function cityPlace(city: string, state: string): Promise<Point | undefined> {
  const codes = await codesOfCity(city, state);
  return codes.length > 0 ? middleOf(codes) : undefined;
}

async function codesOfCity(city: string, state: string): Promise<readonly ZipCode[]> {
  const cities = await citiesOf(state.toUpperCase());
  return cities.get(city.toUpperCase()) ?? cities.get(city.toUpperCase().replace(/^ST\.? /, 'SAINT ')) ?? [];
}

const citiesByState = new Map<string, Map<string, ZipCode[]>>();

/** The ZIP codes of each city in a state. `state` is uppercase, so it can't name a built-in property of objects. */
async function citiesOf(state: string): Promise<Map<string, ZipCode[]>> {
  const known = citiesByState.get(state);
  if (known) return known;
  const { lookupByState } = await places();
  const codes = lookupByState(state).filter((place) => real(place));
  const cities = groupBy(codes, ({ city }) => city.toUpperCase());
  // Caches only the names of states, not everything that users type.
  if (cities.size > 0) citiesByState.set(state, cities);
  return cities;
}

/** A service area with a known place: a ZIP code, or a town with its state, in lowercase. */
interface KnownArea {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
}

let areas: readonly KnownArea[] | undefined;

/** All of them, in the data set's order. They are created on first use, which takes a quarter of a second. */
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

/** Military ZIP codes and those of single companies have the coordinates 0, 0. */
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

/** Same formula as `milesAway` in `market/store/jobs/distance.ts`. */
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
