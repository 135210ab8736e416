/** Towns all over the map, for seeded markets and the demo. */
export interface Town {
  readonly city: string;
  readonly state: string;
  readonly zipCode: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly areaCode: string;
  /** Another town that the town's contractors also serve. */
  readonly neighbour: string;
}

export const TOWNS = {
  austin: town('Austin', 'TX', '78704', [30.2428, -97.7658], '512', 'San Marcos'),
  denver: town('Denver', 'CO', '80202', [39.7491, -104.9946], '303', 'Boulder'),
  portland: town('Portland', 'OR', '97205', [45.5207, -122.6888], '503', 'Salem'),
  chicago: town('Chicago', 'IL', '60601', [41.8858, -87.6181], '312', 'Evanston'),
  boston: town('Boston', 'MA', '02108', [42.3576, -71.0684], '617', 'Cambridge'),
  miami: town('Miami', 'FL', '33101', [25.7791, -80.1978], '305', 'Hialeah'),
  phoenix: town('Phoenix', 'AZ', '85001', [33.4484, -112.074], '602', 'Mesa'),
  seattle: town('Seattle', 'WA', '98101', [47.6114, -122.3305], '206', 'Tacoma'),
  nashville: town('Nashville', 'TN', '37201', [36.1657, -86.7781], '615', 'Franklin'),
  newYork: town('New York', 'NY', '10001', [40.7484, -73.9967], '212', 'Yonkers'),
  minneapolis: town('Minneapolis', 'MN', '55401', [44.9835, -93.2683], '612', 'Saint Paul'),
  losAngeles: town('Los Angeles', 'CA', '90012', [34.0614, -118.2385], '213', 'Pasadena'),
};

type Place = readonly [latitude: number, longitude: number];

function town(city: string, state: string, zipCode: string, place: Place, areaCode: string, neighbour: string): Town {
  const [latitude, longitude] = place;
  return { city, state, zipCode, latitude, longitude, areaCode, neighbour };
}

/** The towns are assigned in turn, by the person's number. */
export function joinTown(person: string, towns: readonly Town[]): string {
  const rows = towns.map(
    ({ city, state, zipCode, latitude, longitude, areaCode, neighbour }, at) =>
      `(${at}, '${city}', '${state}', '${zipCode}', ${latitude}, ${longitude}, '${areaCode}', '${neighbour}')`,
  );
  return `join (values ${rows.join()})
    town (town_at, city, town_state, zip_code, latitude, longitude, area_code, neighbour)
    on town_at = (${person}) / 2 % ${towns.length}`;
}
