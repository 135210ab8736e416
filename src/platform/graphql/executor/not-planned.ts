/** Thrown where a plan would not do what graphql-js does: graphql-js then executes the operation. */
export class NotPlanned extends Error {}
