/** Thrown if a plan wouldn't do what graphql-js does. graphql-js then executes the operation. */
export class NotPlanned extends Error {}
