/** What a plan would not do as graphql-js does it: the operation is left to graphql-js. */
export class NotPlanned extends Error {}
