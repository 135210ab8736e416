/** An already formatted error, in the class that graphql-ws and graphql-sse expect. */
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { PLATFORM_REFUSALS } from '../../errors.js';

export class SentError extends GraphQLError {
  constructor(readonly formattedError: GraphQLFormattedError) {
    super(formattedError.message);
  }
}

/** An error from other code reveals nothing about itself. */
export function formattedErrorOf(error: GraphQLError): GraphQLFormattedError {
  if (error instanceof SentError) return error.formattedError;
  const [status, message] = PLATFORM_REFUSALS.INTERNAL;
  return { message, extensions: { code: 'INTERNAL', status } };
}
