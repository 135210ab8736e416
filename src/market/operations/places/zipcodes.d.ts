declare module 'zipcodes' {
  export interface ZipCode {
    zip: string;
    latitude: number;
    longitude: number;
    city: string;
    state: string;
    country: string;
  }
  interface ZipCodes {
    codes: Readonly<Record<string, ZipCode>>;
    lookup(zip: string): ZipCode | undefined;
    lookupByState(state: string): ZipCode[];
  }
  const zipcodes: ZipCodes;
  export default zipcodes;
}
