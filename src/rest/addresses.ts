/** Finds the route for a path and a method. Every path is served with the prefix `/v1` and without it. */
import { refuse } from '../market/rules/errors.js';
import { parametersOf, PATH_PARAMETER, type Route } from '../platform/openapi/route.js';

/** The routes of one address, and its path parameters' values. */
export interface AddressMatch {
  readonly routes: readonly Route[];
  readonly parameterValues: readonly string[];
}

export interface RouteMatch {
  readonly route: Route;
  readonly parameters: ReadonlyMap<string, string>;
}

export type Finder = (path: string) => AddressMatch | undefined;

/** There are few paths. Those without parameters are looked up, and the others are tried one after another. */
export function finderOf(routes: readonly Route[]): Finder {
  const exact = new Map<string, AddressMatch>();
  const patterns: { pattern: RegExp; routes: readonly Route[] }[] = [];
  for (const [address, routesThere] of routesByAddress(routes)) {
    if (address.includes(ANYTHING)) patterns.push({ pattern: new RegExp(`^${address}$`), routes: routesThere });
    else exact.set(address, { routes: routesThere, parameterValues: [] });
  }
  return (fullPath) => {
    const path = fullPath.startsWith('/v1/') ? fullPath.slice(3) : fullPath;
    const exactMatch = exact.get(path);
    if (exactMatch) return exactMatch;
    for (const { pattern, routes } of patterns) {
      const match = pattern.exec(path);
      if (match) return { routes, parameterValues: match.slice(1) };
    }
    return undefined;
  };
}

const ANYTHING = '([^/]+)';

/** Routes on the same path may name its parameters differently. */
export function routesByAddress(routes: readonly Route[]): Map<string, Route[]> {
  const byAddress = new Map<string, Route[]>();
  for (const route of routes) {
    const address = route.path.replaceAll(PATH_PARAMETER, ANYTHING);
    byAddress.set(address, [...(byAddress.get(address) ?? []), route]);
  }
  return byAddress;
}

/** HEAD is handled as GET. */
export function chooseRoute({ routes, parameterValues }: AddressMatch, method: string): RouteMatch {
  const route = routes.find((one) => one.method === (method === 'HEAD' ? 'GET' : method));
  if (!route) throw refuse('METHOD_NOT_ALLOWED', { details: { allowedMethods: methodsOf(routes) } });
  return { route, parameters: new Map(parametersOf(route).map((name, at) => [name, parameterValues[at] ?? ''])) };
}

function methodsOf(routes: readonly Route[]): string[] {
  return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
