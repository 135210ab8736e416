/** Finds the route of a path and a method. Every path is served with the prefix `/v1` and without it. */
import { refuse } from '../rules/errors.js';
import type { Route } from './route.js';

/** The routes of one address, and the values of its path parameters. */
export interface Found {
  readonly routes: readonly Route[];
  readonly given: readonly string[];
}

export interface Chosen {
  readonly route: Route;
  readonly parameters: ReadonlyMap<string, string>;
}

export type Finder = (path: string) => Found | undefined;

const PARAMETER = /\{(\w+)\}/g;

/** There are few paths: those without parameters are looked up, the others are tried one after another. */
export function finderOf(routes: readonly Route[]): Finder {
  const exact = new Map<string, Found>();
  const patterns: { pattern: RegExp; routes: readonly Route[] }[] = [];
  for (const [address, those] of routesByAddress(routes)) {
    if (address.includes(ANYTHING)) patterns.push({ pattern: new RegExp(`^${address}$`), routes: those });
    else exact.set(address, { routes: those, given: [] });
  }
  return (fullPath) => {
    const path = fullPath.startsWith('/v1/') ? fullPath.slice(3) : fullPath;
    const found = exact.get(path);
    if (found) return found;
    for (const { pattern, routes } of patterns) {
      const match = pattern.exec(path);
      if (match) return { routes, given: match.slice(1) };
    }
    return undefined;
  };
}

const ANYTHING = '([^/]+)';

/** Routes of one path may name its parameters differently. */
export function routesByAddress(routes: readonly Route[]): Map<string, Route[]> {
  const byAddress = new Map<string, Route[]>();
  for (const route of routes) {
    const address = route.path.replaceAll(PARAMETER, ANYTHING);
    byAddress.set(address, [...(byAddress.get(address) ?? []), route]);
  }
  return byAddress;
}

export function parametersOf({ path }: Route): string[] {
  return [...path.matchAll(PARAMETER)].map(([, name]) => String(name));
}

/** HEAD is handled as GET. */
export function choose({ routes, given }: Found, method: string): Chosen {
  const route = routes.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (!route) throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: methodsOf(routes) } });
  return { route, parameters: new Map(parametersOf(route).map((name, at) => [name, given[at] ?? ''])) };
}

function methodsOf(routes: readonly Route[]): string[] {
  return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
